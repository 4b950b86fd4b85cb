"""The tables of :mod:`benchmarks.sources`: texts with votes of rules, people, language models."""

from __future__ import annotations

import string
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.real_tables import CORPORA, MOST_TESTED, UNEQUAL, read_rows
from lops_adapters.core import LopsWarning
from lops_adapters.datasets import Dataset, load_dataset
from lops_adapters.pseudo_labels import string_match

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
N_ANNOTATED = 4000  # texts of simulated annotators


class VotedTable(NamedTuple):
    """Texts with the votes of m sources for k classes.

    Attributes:
        texts: n of them.
        votes: (n, m) int codes of classes, -1 for abstentions.
        gold: (n,) int codes.
        classes, sources: k and m names.
        test_texts: held-out texts, or texts without a vote.
        test_gold: their (t,) int codes.

    """

    texts: list[str]
    votes: np.ndarray
    gold: np.ndarray
    classes: tuple[str, ...]
    sources: tuple[str, ...]
    test_texts: list[str]
    test_gold: np.ndarray

    def with_votes(self) -> VotedTable:
        """Return the rows with a vote."""
        rows = np.flatnonzero(self.voted)
        texts = [self.texts[row] for row in rows.tolist()]
        return self._replace(texts=texts, votes=self.votes[rows], gold=self.gold[rows])

    @property
    def voted(self) -> np.ndarray:
        """Whether a row has a vote, (n,) bool."""
        return np.asarray((self.votes >= 0).any(axis=1))

    def named(self, codes: np.ndarray) -> np.ndarray:
        """Return class names for codes of any shape, object; None for -1."""
        return np.array([*self.classes, None], dtype=object)[codes]

    def coded(self, labels: Iterable[Any]) -> np.ndarray:
        """Return the codes of class names, int; -1 for others."""
        code_of = {label: code for code, label in enumerate(self.classes)}
        return np.array([code_of.get(label, -1) for label in labels])


def load_voted(name: str, data_dir: Path) -> VotedTable:
    """Return one of ``TABLES``."""
    return TABLES[name](data_dir)


def _voted(name: str, data_dir: Path) -> VotedTable:
    """Return a table of ``real-noise`` or ``fresh-noise``, whose other columns are sources.

    It is tested on the file beside it, or on its rows without a vote.
    """
    paths = (data_dir / f"real-noise/{name}.csv", data_dir / f"fresh-noise/{name}.csv.gz")
    path = next(one for one in paths if one.exists())
    rows = read_rows(path)
    columns = tuple(column for column in rows[0] if column not in ("text", "label", "gold"))
    classes = tuple(sorted({row[name] for row in rows for name in ("gold", *columns)} - {""}))
    code_of = {"": -1, **{label: code for code, label in enumerate(classes)}}
    votes = np.array([[code_of[row[column]] for column in columns] for row in rows])
    gold = np.array([code_of[row["gold"]] for row in rows])
    table = VotedTable([row["text"] for row in rows], votes, gold, classes, columns, [], gold[:0])
    suffix = path.name.partition(".")[2]
    beside = (path.with_name(f"{one}-test.{suffix}") for one in (name, name.partition("-")[0]))
    tested = next((one for one in beside if one.exists()), None)
    if tested is None:
        return _tested_without_votes(table)
    others = read_rows(tested)
    label = "gold" if "gold" in others[0] else "label"
    codes = np.array([code_of[row[label]] for row in others])
    return table._replace(test_texts=[row["text"] for row in others], test_gold=codes)


def _tested_without_votes(table: VotedTable) -> VotedTable:
    chosen = np.random.default_rng(0).permutation(np.flatnonzero(~table.voted))[:MOST_TESTED]
    texts = [table.texts[row] for row in chosen]
    return table._replace(test_texts=texts, test_gold=table.gold[chosen])


def _coded(name: str, data_dir: Path) -> tuple[Dataset, np.ndarray]:
    """Return a corpus and the codes of its gold labels."""
    headers = "strip" if name.startswith("20news") else "keep"
    dataset = load_dataset(name, data_dir=str(data_dir), quiet=True, headers=headers)
    assert dataset.gold is not None
    code_of = {label: code for code, label in enumerate(dataset.corpus.classes)}
    return dataset, np.array([code_of[label] for label in dataset.gold.labels])


def _seed_words(name: str, data_dir: Path) -> VotedTable:
    """Return a corpus of which every seed word is a source."""
    dataset, gold = _coded(name, data_dir)
    texts, classes = list(dataset.corpus.texts), tuple(dataset.corpus.classes)
    columns = {}
    plain = [text.lower().translate(_NO_PUNCTUATION) for text in texts]
    for label, words in dataset.corpus.seeds.items():
        for word in words:
            # Few texts are left to match, which takes seconds rather than minutes.
            rows = np.array([row for row, text in enumerate(plain) if word in text], dtype=int)
            column = np.full(len(texts), -1)
            if len(rows):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", LopsWarning)  # held by other words only
                    matched = string_match([texts[row] for row in rows], {label: [word]})
                column[rows[matched.positions]] = classes.index(label)
            columns[f"{label}: {word}"] = column
    votes = np.column_stack(list(columns.values()))
    table = VotedTable(texts, votes, gold, classes, tuple(columns), [], gold[:0])
    return _tested_without_votes(table)


def simulated(
    gold: np.ndarray,
    n_classes: int,
    accuracies: Sequence[float],
    coverage: float,
    copies: int = 0,
    seed: int = 0,
) -> np.ndarray:
    """Return the votes of independent annotators, and of copies of the first, (n, m + copies) int.

    Wrong votes are for any other class.

    >>> simulated(np.array([0, 1, 2]), 3, [1, 0], coverage=1)[:, 0].tolist()
    [0, 1, 2]
    """
    rng, n = np.random.default_rng(seed), len(gold)
    columns = []
    for accuracy in accuracies:
        wrong = (gold + rng.integers(1, n_classes, n)) % n_classes
        said = np.where(rng.random(n) < accuracy, gold, wrong)
        columns.append(np.where(rng.random(n) < coverage, said, -1))
    return np.column_stack([*columns, *columns[:1] * copies])


def _annotated(
    data_dir: Path,
    *,
    accuracies: Sequence[float],
    coverage: float,
    copies: int = 0,
    unequal: bool = False,
) -> VotedTable:
    """Return texts of AG News with simulated annotators; tested on its other texts."""
    dataset, gold = _coded("agnews", data_dir)
    classes, rng = tuple(dataset.corpus.classes), np.random.default_rng(0)
    if unequal:
        parts = [
            rng.permutation(np.flatnonzero(gold == code))[:count]
            for code, count in enumerate(UNEQUAL["agnews"])
        ]
        rows = rng.permutation(np.concatenate(parts))
    else:
        rows = rng.permutation(len(gold))[:N_ANNOTATED]
    votes = simulated(gold[rows], len(classes), accuracies, coverage, copies)
    others = rng.permutation(np.setdiff1d(np.arange(len(gold)), rows))[:MOST_TESTED]
    names = [f"annotator {number}" for number in range(1, len(accuracies) + 1)]
    names += [f"copy {number} of annotator 1" for number in range(1, copies + 1)]
    texts = dataset.corpus.texts
    return VotedTable(
        [texts[row] for row in rows],
        votes,
        gold[rows],
        classes,
        tuple(names),
        [texts[row] for row in others],
        gold[others],
    )


def _spread(low: float, high: float, count: int) -> list[float]:
    """Return accuracies of annotators."""
    spread: list[float] = np.linspace(low, high, count).tolist()
    return spread


# Tables of one family share a task, a crowd or a construction: a choice that was made on one of
# them is confirmed on other families only.
FAMILIES = {
    "youtube-rules": "youtube-rules",
    "questions-rules": "questions-rules",
    "sms-rules": "sms-rules",
    "yelp-rules": "yelp-rules",
    "chemprot-rules": "chemprot-rules",
    "newsbias-llm": "newsbias-llm",
    "medialean-llms": "llms",
    "stance-llms": "llms",
    "emotion-llms": "llms",
    "politeness-llms": "llms",
    "emoji-people-llm": "emoji-people-llm",
    "books-crowd": "books-crowd",
    "entailment-crowd": "entailment-crowd",
    "hate-portuguese": "hate-portuguese",
    "centralbank-llms": "centralbank-llms",
    "hinglish-lexicons": "hinglish-lexicons",
    "indonesian-lexicon": "indonesian-lexicon",
    "waimai-lexicons": "waimai-lexicons",
    **{f"{name}-seeds": "seed words" for name in CORPORA},
    "annotators": "simulated",
    "annotators-copied": "simulated",
    "annotators-few-votes": "simulated",
    "annotators-unequal": "simulated",
}
REAL = tuple(name for name in FAMILIES if not name.startswith("annotators"))
GIVEN = tuple(name for name in REAL if not name.endswith("-seeds"))  # votes as they were given
TABLES: dict[str, Callable[[Path], VotedTable]] = {
    **{name: partial(_voted, name) for name in GIVEN},
    **{f"{name}-seeds": partial(_seed_words, name) for name in CORPORA},
    "annotators": partial(_annotated, accuracies=_spread(0.35, 0.9, 10), coverage=0.4),
    "annotators-copied": partial(
        _annotated, accuracies=_spread(0.35, 0.9, 10), coverage=0.4, copies=4
    ),
    "annotators-few-votes": partial(_annotated, accuracies=_spread(0.3, 0.7, 20), coverage=0.15),
    "annotators-unequal": partial(
        _annotated, accuracies=_spread(0.5, 0.9, 8), coverage=0.4, unequal=True
    ),
}
