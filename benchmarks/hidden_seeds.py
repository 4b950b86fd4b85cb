"""Members of the committee that do not see the seed words which labelled the texts.

Part of :mod:`benchmarks.pseudo_labels`. Texts are labelled by String-Match; the committee knows the
words (``lops select --words``). Further members read texts without any seed word. The control reads
texts without as many words, drawn at random. Gold labels only measure.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.real_noise import Classifier, coefficients, measured
from benchmarks.real_tables import MOST_TESTED, Table, load_table, read_rows
from lops_adapters.datasets import load_dataset
from lops_adapters.encoders.word_counts import count_words
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes import probe_class
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.pseudo_labels import string_match
from lops_adapters.scripts import UNSPACED
from lops_adapters.selection import Choice
from lops_adapters.selection.building import decide
from lops_adapters.selection.committee import calibration, committee
from lops_adapters.selection.committee.folds import Folded
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.member_table import Inputs, members_of
from lops_adapters.selection.committee.members import Learnt

SEEDS, MOST, DRAWS, LEFT = 3, 2000, 4, 0.1
# Written before gold labels were looked at.
WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "german-news-seeds": {
        "Etat": ("orf", "medien", "fernsehen", "sender", "zeitung"),
        "Inland": ("fpö", "övp", "spö", "nationalrat"),
        "International": ("syrien", "türkei", "außenminister", "israel", "ukraine"),
        "Kultur": ("theater", "film", "ausstellung", "musik", "künstler"),
        "Panorama": ("polizei", "unfall", "verletzt", "prozess", "feuerwehr"),
        "Sport": ("trainer", "tor", "spiel", "liga", "saison"),
        "Web": ("google", "facebook", "apple", "smartphone", "internet"),
        "Wirtschaft": ("unternehmen", "bank", "konzern", "umsatz", "aktien"),
        "Wissenschaft": ("forscher", "studie", "universität", "wissenschafter", "forschung"),
    },
    "yelp-rules": {
        "positive": ("great", "delicious", "friendly", "love", "amazing"),
        "negative": ("terrible", "worst", "rude", "bad", "horrible"),
    },
    "questions-rules": {
        "abbreviation": ("stand", "abbreviation"),
        "description": ("why", "definition", "origin"),
        "entity": ("animal", "color", "disease", "food"),
        "human": ("who", "president", "actor"),
        "location": ("where", "city", "country", "state"),
        "number": ("many", "when", "year"),
    },
    "waimai-lexicons": {"positive": ("好吃", "不错", "很快"), "negative": ("难吃", "太慢", "很差")},
}
CHOSEN_ON = ("agnews", "20news-coarse")
TABLES = (*CHOSEN_ON, "20news-fine", *WORDS, "intents-150-names", "crowd-news")
CLASSIFIED = ("members", "hidden-all", "hidden-instead", "random-instead")
SLOW = ("20news-coarse", "20news-fine", "intents-150-names")  # classifiers


class Seeded(NamedTuple):
    """Texts that seed words labelled, and the words: class to words."""

    table: Table
    words: Mapping[str, Sequence[str]]


def load(name: str, data_dir: Path) -> Seeded:
    """Return a table, at most ``MOST`` rows of it."""
    if name in ("agnews", "20news-coarse", "20news-fine"):
        seeds = load_dataset(name, data_dir=str(data_dir), quiet=True).corpus.seeds
        return Seeded(_cut(load_table(f"{name}-seeds", data_dir)), seeds)
    table = load_table(name, data_dir)
    if name == "crowd-news":
        seeds = load_dataset("agnews", data_dir=str(data_dir), quiet=True).corpus.seeds
        words = {label.replace("politics", "world"): seeds[label] for label in seeds}
    elif name in WORDS:
        words = WORDS[name]
    else:
        words = {label: tuple(label.split("_")) for label in sorted(set(table.gold))}
        return Seeded(_cut(table), words)  # labelled by these words, by their stems
    (path,) = data_dir.glob(f"*-noise/{name}.csv*")
    rows = [row for row in read_rows(path) if row["gold"]]
    found = string_match([row["text"] for row in rows], words, quiet=True)
    texts = [rows[i]["text"] for i in found.positions.tolist()]
    gold = np.array([rows[i]["gold"] for i in found.positions.tolist()], dtype=object)
    labels = np.array(list(found.labels), dtype=object)
    tested = table.test_texts, table.test_gold
    if not table.test_texts:  # the texts that no word labels
        others = np.setdiff1d(np.arange(len(rows)), found.positions)[:MOST_TESTED].tolist()
        test_gold = np.array([rows[i]["gold"] for i in others], dtype=object)
        tested = [rows[i]["text"] for i in others], test_gold
    return Seeded(_cut(Table(texts, labels, gold, *tested, name)), words)


def _cut(table: Table) -> Table:
    rows = np.random.default_rng(0).permutation(len(table.texts))[:MOST]
    texts = [table.texts[i] for i in rows.tolist()]
    return table._replace(texts=texts, labels=table.labels[rows], gold=table.gold[rows])


class Deletion:
    """Deletes the seed words of texts, or as many words at random."""

    def __init__(self, words: Mapping[str, Sequence[str]], stems: bool = False) -> None:
        every = {word.lower() for of_class in words.values() for word in of_class}
        spaced = sorted(filter(lambda word: not UNSPACED.search(word), every), key=len)
        within = sorted(every - set(spaced), key=len, reverse=True)
        joined = ["|".join(map(re.escape, some)) or "(?!)" for some in (spaced[::-1], within)]
        ending = r"(?:s|es|ed|ing|ion|ions)?" if stems else ""
        rest = rf"{UNSPACED.pattern[:-1]}|[^\W{UNSPACED.pattern[1:-2]}]+"
        self._words = re.compile(
            rf"(?P<seed>(?<!\w)(?:{joined[0]}){ending}(?!\w)|{joined[1]})|{rest}", re.IGNORECASE
        )

    def __call__(self, text: str, draw: int, *, random: bool, left: float = 1.0) -> str:
        """Delete; of the other words, a share ``left`` stays, drawn by text and ``draw``."""
        found = list(self._words.finditer(text))
        seed = np.array([one["seed"] is not None for one in found], dtype=bool)
        rng = np.random.default_rng([draw, zlib.crc32(text.encode("utf-8", "replace"))])
        gone = seed
        if random:
            gone = np.zeros(len(found), dtype=bool)
            gone[rng.permutation(len(found))[: seed.sum()]] = True
        gone = gone | (rng.random(len(found)) >= left)
        parts, start = list[str](), 0
        for at in np.flatnonzero(gone).tolist():
            parts.append(text[start : found[at].start()])
            start = found[at].end()
        return " ".join([*parts, text[start:]])


class Kept(Member):
    """A member whose scores are computed once, also if several committees have it."""

    def __init__(self, member: Member) -> None:
        self.name, self.weight, self._member = member.name, member.weight, member

    def score(self, labelled: Folded) -> np.ndarray:
        """Return what the member says."""
        if not hasattr(self, "_scores"):
            self._scores = self._member.score(labelled)
        return self._scores

    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        """Not needed here."""
        raise NotImplementedError


class Sparse(Member):
    """The probe on a tenth of the words; the mean of four draws."""

    name = "TF-IDF, 90 % deleted"

    def __init__(self, read: Callable[[str, int], str]) -> None:
        self._read = read

    def score(self, labelled: Folded) -> np.ndarray:
        """Return the mean of the draws."""
        total = np.zeros((len(labelled.codes), len(labelled.classes)))
        for draw in range(DRAWS):
            counts = count_words([self._read(text, draw) for text in labelled.samples])
            total += Learnt("", probe_class("linear")(quiet=True), read=counts).score(labelled)
        return total / DRAWS

    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        """Not needed here."""
        raise NotImplementedError


class Members:
    """Which members a committee has, per way; each is built once per samples."""

    def __init__(self, deletion: Deletion, seed: int) -> None:
        self._deletion, self._seed = deletion, seed
        self._built: dict[str, list[Member]] = {}

    def __call__(self, way: str, inputs: Inputs) -> list[Member]:
        """Return the members of a way: ``members``, ``hidden-…`` or ``random-…``."""
        own = self._of(f"own {len(inputs.kinds)}", lambda: members_of(inputs))
        kind, _, how = way.partition("-")
        if not how:
            return own
        random = kind == "random"
        if how == "sparse":
            return [*own, *self._of(way, lambda: [Sparse(self._reader(random, LEFT))])]
        other = self._of(kind, lambda: self._deleted(inputs, random))
        return {
            "one": [*own, *other[:1]],
            "all": [*own, *other],
            "instead": [*other, *own[len(other) :]],
        }[how]

    def _reader(self, random: bool, left: float = 1.0) -> Callable[[str, int], str]:
        first = 100 * self._seed
        return lambda text, draw: self._deletion(text, first + draw, random=random, left=left)

    def _deleted(self, inputs: Inputs, random: bool) -> list[Member]:
        read = self._reader(random)
        texts = [read(text, 0) for text in inputs.samples]
        return members_of(Inputs(texts, None, inputs.encoder, None, inputs.seed))

    def _of(self, name: str, make: Callable[[], Sequence[Member]]) -> list[Member]:
        if name not in self._built:
            self._built[name] = [Kept(member) for member in make()]
        return self._built[name]


@contextmanager
def committee_of(members: Members, way: str) -> Iterator[None]:
    """Let every committee have these members."""
    with patch.object(committee, "members_of", lambda inputs: members(way, inputs)):
        yield


def ways(name: str, seed: int) -> list[str]:
    """Return what is measured; sparse members where ways are chosen, with the first seed."""
    how = ["one", "all", "instead", *(["sparse"] if name in CHOSEN_ON and not seed else [])]
    return ["members", *(f"{kind}-{each}" for each in how for kind in ("hidden", "random"))]


def run(name: str, seeded: Seeded) -> dict[str, Any]:
    """Measure a table with all seeds."""
    table, words = seeded
    learnt = coefficients(table.name)
    classifier = None if name in SLOW else Classifier(table, EmbeddingProbe("static"))
    labelled = Labelled.of(table.texts, table.labels.tolist())
    wrong, names = table.labels != table.gold, np.array(labelled.classes, dtype=object)
    every, runs = np.ones(len(wrong), dtype=bool), []
    deletion = Deletion(words, stems=name == "intents-150-names")
    for seed in range(SEEDS):
        members, found = Members(deletion, seed), dict[str, Any]()
        for way in ("members without words", *ways(name, seed)):
            known = None if way.endswith("words") else words
            choice = Choice("committee", encoder="static", words=known, seed=seed)
            with (
                committee_of(members, way.split()[0]),
                patch.object(calibration, "coefficients", lambda: learnt),
            ):
                outcome = decide(labelled, choice)
            corrected = names[outcome.corrected(has_checks=False)]
            found[way] = {
                **measured(outcome.confidence, outcome.mask, table),
                "kept_noise": float(wrong[outcome.mask].mean()),
                "labels_gained": float((corrected == table.gold).mean() - (~wrong).mean()),
            }
            if classifier and way in CLASSIFIED and not seed:
                found[way]["macro_f1"] = {
                    "kept": classifier(table.labels, outcome.mask)["plain"],
                    "corrected": classifier(corrected, every)["plain"],
                }
        runs.append(found)
    return {
        "n": len(wrong),
        "noise": float(wrong.mean()),
        "seeds": SEEDS,
        "macro_f1": classifier(table.labels, every)["plain"] if classifier else None,
        "runs": runs,
    }
