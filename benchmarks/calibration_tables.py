"""Tables that teach the calibration: what members say of them; see :mod:`benchmarks.calibration`.

Tables of :mod:`benchmarks.real_tables` with wrong labels, their gold labels as further, clean
tables, gold labels that are corrupted, smaller samples, and other encoders. Of each it keeps the
diagnostics, and per step of the score and size of a class how many labels have them and how many of
these are wrong. A table that is in the folder of measured rows is skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.real_tables import FRESH, LATER, REAL, TABLES, Table, load_table
from benchmarks.record import command_line, write_result
from lops_adapters.datasets import Corpus
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.committee.calibration import Diagnostics, diagnose, scores
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.member_table import VECTORS, Inputs, members_of
from lops_adapters.selection.committee.posterior import label_distribution, posterior_given
from lops_adapters.selection.committee.scores import score as score_by

EDGES = np.arange(-9.25, 9.26, 0.5)  # steps of the score
SIZES = (1000, 300, 100)
ENCODERS = ("none", "minilm", VECTORS)  # vectors: of MiniLM, in place of texts


class Item(NamedTuple):
    """A table to measure: of ``TABLES``, corrupted or sampled, by an encoder and a seed."""

    table: str
    corruption: str = ""
    size: int = 0
    encoder: str = "static"
    seed: int = 0

    @property
    def name(self) -> str:
        """Such as ``yelp-rules, 300 rows``."""
        parts = [self.table, self.corruption, f"{self.size} rows" if self.size else ""]
        parts += [self.encoder if self.encoder != "static" else ""]
        parts += [f"seed {self.seed}" if self.seed else ""]
        return ", ".join(filter(None, parts))

    @property
    def kind(self) -> str:
        """One of ``WEIGHTS`` of :mod:`benchmarks.calibration`."""
        if self.corruption:
            return "corrupted"
        return "clean" if self.table.endswith(("-gold", "-clean")) else "noisy"

    @property
    def family(self) -> str:
        """The texts: tables that share a corpus are left out together."""
        if self.table.startswith(("agnews", "crowd-news")):
            return "agnews"
        return "20news" if self.table.startswith("20news") else self.table.removesuffix("-gold")


def plan() -> Iterator[Item]:
    """Yield all tables to measure."""
    for name in TABLES:
        yield Item(name)
    for name in (*FRESH, *LATER, *REAL[1:]):
        for corruption in ("random", "one direction"):
            yield Item(f"{name}-gold", corruption)
    for size in SIZES:
        for name in TABLES:
            yield Item(name, size=size)
    for name in TABLES:
        if Item(name).kind == "noisy":
            yield from (Item(name, seed=seed) for seed in (1, 2))
    for encoder in ENCODERS:
        for name in TABLES:
            # MiniLM reads about 100 texts per second: a sample, and no variants of 20 Newsgroups.
            slow = encoder != "none"
            if not slow or not name.startswith("20news") or name.endswith(("seeds", "clean")):
                yield Item(name, size=2500 if slow else 0, encoder=encoder)


def prepared(item: Item, data_dir: Path) -> Table | None:
    """Return the table of an item; None if it is hardly larger than the sample."""
    table, rng = load_table(item.table, data_dir), np.random.default_rng(1)
    if item.corruption:
        table = table._replace(labels=_corrupted(table.gold, item.corruption))
    if item.size:
        if item.encoder == "static" and len(table.texts) < 1.5 * item.size:
            return None
        rows = rng.permutation(len(table.texts))[: item.size]
        texts = [table.texts[i] for i in rows]
        table = table._replace(texts=texts, labels=table.labels[rows], gold=table.gold[rows])
    return table


def _corrupted(gold: np.ndarray, corruption: str) -> np.ndarray:
    """Replace 20 % of the labels by others, or 25 % of the others by the largest class."""
    rng, labels = np.random.default_rng(0), gold.copy()
    classes = sorted(set(gold))
    if corruption == "random":
        for i in np.flatnonzero(rng.random(len(labels)) < 0.2):
            labels[i] = str(rng.choice([label for label in classes if label != labels[i]]))
        return labels
    largest = Counter(gold.tolist()).most_common(1)[0][0]
    labels[(labels != largest) & (rng.random(len(labels)) < 0.25)] = largest
    return labels


def measured(item: Item, table: Table) -> dict[str, np.ndarray]:
    """Return the diagnostics of a table, NaN with one member, and of every row with a gold label:

    its score, how many rows have its label, and whether the label is wrong.
    """
    names, codes = np.unique(table.labels.astype(str), return_inverse=True)
    order = content_order(table.texts, codes, item.seed)
    texts, codes = [table.texts[i] for i in order.tolist()], codes[order]
    samples: Any = texts
    if item.encoder == VECTORS:
        samples = EmbeddingProbe("minilm").vectors(texts)
        members = members_of(Inputs(samples))
    else:
        encoder = None if item.encoder == "none" else EmbeddingProbe(item.encoder)
        members = members_of(Inputs(texts, encoder=encoder, seed=item.seed))
    labelled = Folded(samples, codes, names.tolist(), FOLDS, item.seed)
    said = score_by(members, labelled)
    given = label_distribution(said.likely, codes, FOLDS)
    true = posterior_given(said.likely, codes, given)
    gold = table.gold[order].astype(str)
    checked = (gold != "") & ~said.mean.small[codes]
    return {
        "diagnostics": np.array(diagnose(said.choices, said.likely, codes)),
        "score": scores(true, codes)[checked],
        "of_class": np.bincount(codes, minlength=len(names))[codes][checked],
        "wrong": (names[codes] != gold)[checked],
    }


def measure(data_dir: Path, work: Path) -> None:
    """Measure the tables that are not measured yet."""
    work.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    for item in plan():
        path = work / f"{item.name}.npz"
        if not path.exists():
            table = prepared(item, data_dir)
            if table is None:
                continue
            rows = measured(item, table)
            np.savez_compressed(path, **rows)  # type: ignore[arg-type]
            print(
                f"{item.name}: {len(rows['score'])} rows, {rows['wrong'].mean():.1%} wrong",
                flush=True,
            )
        rows = np.load(path)
        if np.isfinite(rows["diagnostics"]).all():  # one member alone is not calibrated
            found[item.name] = _summed(item, rows)
    corpus = Corpus("calibration", tuple(found), tuple(found), ("right", "wrong"))
    write_result("calibration/tables", found, corpus, command=command_line("calibration"))


def _summed(item: Item, rows: Any) -> dict[str, Any]:
    """Return what is committed of a table: its diagnostics, and its labels in steps.

    A step is a range of the score and a size of a class: the mean score, the number of labels, how
    many of these are wrong, and the rows of the class. Classes above the mean count as alike.
    """
    per_class = np.exp(Diagnostics(*rows["diagnostics"]).rows)
    sizes = np.minimum(rows["of_class"], np.ceil(per_class)).astype(int)
    steps = np.searchsorted(EDGES, rows["score"])
    parts = [
        (rows["score"][chosen], rows["wrong"][chosen], int(size))
        for step, size in np.unique(np.stack([steps, sizes]), axis=1).T
        for chosen in [(steps == step) & (sizes == size)]
    ]
    return {
        "family": item.family,
        "kind": item.kind,
        "rows": len(steps),
        "wrong": int(rows["wrong"].sum()),
        "diagnostics": [round(number, 6) for number in rows["diagnostics"].tolist()],
        "steps": [[round(float(s.mean()), 4), len(s), int(w.sum()), r] for s, w, r in parts],
    }
