"""Rows without a label: how often the label that ``lops select`` suggests is right.

    python -m benchmarks.unlabelled --data-dir DIR
    python -m benchmarks.unlabelled --data-dir DIR --tables sms-rules,agnews-seeds

Tables where rules or seed words label a part of the rows, and, as ``NAME-half``, tables that lost
half of their labels at random. ``NAME-few`` has a label for nearly all rows: of a table in part, a
part of the others is left out; of a whole one, few labels are lost at random. Per table and three
seeds: accuracy on these rows, and macro-F1 on held-out texts of the classifier of
:mod:`benchmarks.real_noise` trained on labels as given, on ``train.csv`` without these rows, and on
``train.csv``. Gold labels only measure. DIR as for :mod:`benchmarks.real_noise`; a table with a
result file is skipped.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.real_noise import Classifier, coefficients
from benchmarks.real_tables import MOST_TESTED, Table, load_table, read_rows
from benchmarks.record import measure_tables
from lops_adapters import select
from lops_adapters.datasets import load_dataset
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.pseudo_labels import string_match
from lops_adapters.selection.committee import calibration
from lops_adapters.texts import rest

RULES = ("youtube", "sms", "yelp", "questions", "chemprot")
SEED_WORDS = ("agnews", "20news-coarse", "20news-fine")
HALVED = (
    "crowd-news", "relations-llm", "yoruba-news", "newsbias-llm", "hate-portuguese",
    "movies-crowd", "economy-crowd", "arabic-sentiment-relabelled", "emoji-people-llm",
)  # fmt: skip
IN_PART = (
    *(f"{name}-rules" for name in RULES),
    "entailment-crowd",
    *(f"{name}-seeds" for name in SEED_WORDS),
)
NAMES = (
    *IN_PART,
    *(f"{name}-half" for name in HALVED),
    *(f"{name}-few" for name in (*IN_PART, *HALVED) if name != "entailment-crowd"),
)
DOCUMENTS, SEEDS = 4000, 3  # of a corpus; of a table
FEW = 0.04  # of the rows with a label


def load(name: str, data_dir: Path) -> Table:
    """Return a table in which rows without a label have the label ``""``."""
    if name.endswith("-few"):
        return _few(name, data_dir)
    table_name = name.removesuffix("-half")
    if name.endswith("-seeds"):
        return _seeds(name, data_dir)
    table = load_table(table_name, data_dir)
    if name != table_name:
        gone = np.random.default_rng(0).random(len(table.labels)) < 0.5
        return table._replace(labels=np.where(gone, "", table.labels))
    (path,) = data_dir.glob(f"*-noise/{name}.csv*")
    rows = read_rows(path)
    labels, gold = (np.array([row[key] for row in rows], dtype=object) for key in ("label", "gold"))
    texts = [row["text"] for row in rows]
    if set(table.test_texts) <= set(texts):  # of youtube-rules, the rows without a label
        table = table._replace(test_texts=[], test_gold=np.array([], dtype=object))
    return Table(texts, labels, gold, table.test_texts, table.test_gold, name)


def _few(name: str, data_dir: Path) -> Table:
    """Return a table in which few rows have no label."""
    rng, of_part = np.random.default_rng(0), name.removesuffix("-few")
    if of_part not in IN_PART:
        table = load_table(of_part, data_dir)
        gone = rng.random(len(table.labels)) < FEW
        return table._replace(labels=np.where(gone, "", table.labels))
    table = load(of_part, data_dir)
    known, others = (np.flatnonzero((table.labels == "") == gone) for gone in (False, True))
    pool = rng.permutation(others)[: int(FEW * len(known))]
    rows = np.sort(np.concatenate([known, pool]))
    texts = [table.texts[i] for i in rows.tolist()]
    return table._replace(texts=texts, labels=table.labels[rows], gold=table.gold[rows])


def _seeds(name: str, data_dir: Path) -> Table:
    """Return a sample of a corpus, of which seed words label a part."""
    corpus = name.removesuffix("-seeds")
    headers = "strip" if corpus.startswith("20news") else "keep"
    dataset = load_dataset(corpus, data_dir=str(data_dir), quiet=True, headers=headers)
    assert dataset.gold is not None
    gold = np.array(dataset.gold.labels, dtype=object)
    order = np.random.default_rng(0).permutation(len(gold))
    own, test = np.sort(order[:DOCUMENTS]), order[DOCUMENTS:][:MOST_TESTED]
    texts, tested = ([dataset.corpus.texts[i] for i in at] for at in (own, test))
    found = string_match(texts, dataset.corpus.seeds, quiet=True)
    labels = np.full(len(texts), "", dtype=object)
    labels[found.positions] = found.labels
    return Table(texts, labels, gold[own], tested, gold[test], name)


def one_seed(table: Table, classifier: Classifier | None, seed: int) -> dict[str, Any]:
    """Return the measures with one seed."""
    labels = [label or None for label in table.labels.tolist()]
    start = time.process_time()
    selection = select(table.texts, labels, seed=seed, score_unseen=True)
    seconds = time.process_time() - start
    pool = np.flatnonzero((table.labels == "") & (table.gold != ""))
    texts = [table.texts[i] for i in pool.tolist()]
    committee = selection.outcome.fitted
    assert committee is not None
    names = np.array(committee.classes, dtype=object)
    ways = {"committee": names[committee.probabilities(texts).argmax(axis=1)]}
    if any(selection.suggested[pool]):  # not if members cannot tell
        ways["select"] = selection.suggested[pool]
    with patch.multiple(rest, _TRAININGS=1, SHARE=1.0, _FEW=0):
        known = np.flatnonzero(table.labels != "")
        read = [table.texts[i] for i in known.tolist()]
        codes = selection.outcome.corrected(has_checks=False)
        label = rest.rest_of(committee, read, codes, texts, seed=seed)
        ways["at once"] = np.array(label.classes, dtype=object)[label(texts)[0]]
    result: dict[str, Any] = {
        "accuracy": {name: float((said == table.gold[pool]).mean()) for name, said in ways.items()},
        "probability": float(np.nan_to_num(selection.suggested_probability[pool]).mean()),
        "processor_seconds": seconds,
    }
    if classifier is not None:
        said, weights = selection.corrected, selection.weights + 1e-3
        of_class = np.array([label is not None for label in said])
        of_label = of_class & (table.labels != "")
        result["macro_f1"] = {
            "train.csv without them": classifier(said, of_label, weights)["plain"],
            "train.csv": classifier(said, of_class, weights)["plain"],
        }
    return result


def run(table: Table) -> dict[str, Any]:
    """Measure a table with all seeds; what does not depend on the seed is measured once."""
    encoder, learnt = EmbeddingProbe("static"), coefficients(table.name)
    known, pool = table.labels != "", np.flatnonzero((table.labels == "") & (table.gold != ""))
    both = known & (table.gold != "")
    result: dict[str, Any] = {
        "n": len(known),
        "labelled": int(known.sum()),
        "noise": float((table.labels != table.gold)[both].mean()),
        "seeds": SEEDS,
    }
    asked = [table.texts[i] for i in pool.tolist()]
    given = Classifier(table._replace(test_texts=asked, test_gold=table.gold[pool]), encoder)
    said = given.predict(table.labels, known)
    result["accuracy"] = {"labels as given": float((said == table.gold[pool]).mean())}
    classifier = Classifier(table, encoder) if table.test_texts else None
    if classifier is not None:
        result["macro_f1"] = {"labels as given": classifier(table.labels, known)["plain"]}
    with patch.object(calibration, "coefficients", lambda: learnt):
        result["runs"] = [*map(partial(one_seed, table, classifier), range(SEEDS))]
    return result


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("unlabelled", __doc__, NAMES, load, run)


if __name__ == "__main__":
    main()
