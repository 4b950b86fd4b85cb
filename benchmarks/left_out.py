"""Real label noise with coefficients that have not seen the table: ranking, labels, classifiers.

    python -m benchmarks.left_out --data-dir DIR
    python -m benchmarks.left_out --data-dir DIR --tables yelp-rules,stance-llms

Per real table of :mod:`benchmarks.real_tables`, three seeds, the default encoder: ``lops select``
with the calibration that all other families of tables give, next to cleanlab on the same vectors.
Macro-F1 on held-out texts, where the table has some, is of a logistic regression with balanced
classes on TF-IDF and these vectors. A table with a result file is skipped.
"""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import Item, final, left_out
from benchmarks.real_noise import Classifier, cleanlab_corrected, measured
from benchmarks.real_tables import FRESH, REAL, Table, load_table
from benchmarks.record import RESULTS, measure_tables
from lops_adapters import select
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection import calibration

NAMES = (*REAL, *FRESH)
SEEDS = 3


def coefficients(table: str) -> dict[str, Any]:
    """Return the contents of ``calibration.json`` without the family of a table."""
    path = RESULTS / "calibration/tables.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["result"]
    family = Item(table).family
    others = {name: one for name, one in tables.items() if one["family"] != family}
    return {**final(others), **left_out(tables)[family]}


def one_seed(
    table: Table, vectors: Any, classifier: Classifier | None, seed: int
) -> dict[str, Any]:
    """Return the measures of both ways with one seed."""
    found = select(table.texts, table.labels.tolist(), seed=seed)
    quality, unflagged, said = cleanlab_corrected(vectors, table, seed)
    known = table.gold != ""
    scored = table._replace(labels=table.labels[known], gold=table.gold[known])
    ways: dict[str, Any] = {}
    for name, scores, kept, labels in (
        ("select", found.confidence, found.mask, found.corrected),
        ("cleanlab", quality, unflagged, said),
    ):
        right = (labels == table.gold)[known].mean() - (table.labels == table.gold)[known].mean()
        of_known = measured(scores[known], kept[known], scored)
        ways[name] = {**of_known, "labels_gained": float(right)}
    assert found.noise is not None
    noise = found.noise
    ways["select"] |= {"estimate": noise.rate, "low": noise.low, "high": noise.high}
    result: dict[str, Any] = {"ways": ways}
    if classifier is not None:
        every, random = np.ones(len(known), dtype=bool), np.zeros(len(known), dtype=bool)
        rng = np.random.default_rng(seed)
        random[rng.permutation(len(known))[: int(found.mask.sum())]] = True
        arms = {
            "random": (table.labels, random, None),
            "kept": (table.labels, found.mask, None),
            "weighted": (table.labels, every, np.asarray(found.sample_weight) + 1e-3),
            "corrected": (found.corrected, every, None),
            "train.csv": (found.corrected, every, found.weights + 1e-3),
            "kept by cleanlab": (table.labels, unflagged, None),
        }
        result["macro_f1"] = {name: classifier(*arm)["balanced"] for name, arm in arms.items()}
    return result


def run(table: Table, name: str) -> dict[str, Any]:
    """Measure a table with all seeds."""
    encoder = EmbeddingProbe("static")
    classifier = Classifier(table, encoder) if table.test_texts else None
    known, learnt = table.gold != "", coefficients(name)
    wrong = known & (table.labels != table.gold)
    result: dict[str, Any] = {"n": len(known), "noise": float(wrong[known].mean()), "seeds": SEEDS}
    if classifier is not None:
        every = np.ones(len(known), dtype=bool)
        result["macro_f1"] = {
            "all": classifier(table.labels, every)["balanced"],
            "only right": classifier(table.labels, known & ~wrong)["balanced"],
        }
    vectors = encoder.vectors(table.texts)
    with patch.object(calibration, "coefficients", lambda: learnt):
        seeds = range(SEEDS)
        result["runs"] = [one_seed(table, vectors, classifier, seed) for seed in seeds]
    return result


def main() -> None:
    """Measure the tables that have no result yet."""
    names: list[str] = []

    def load(name: str, data_dir: Any) -> Table:
        names.append(name)
        return load_table(name, data_dir)

    measure_tables("left_out", __doc__, NAMES, load, lambda table: run(table, names[-1]))


if __name__ == "__main__":
    main()
