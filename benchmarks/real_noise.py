"""Wrong labels that people, rules, word lists and language models really gave.

    python -m benchmarks.real_noise --data-dir DIR
    python -m benchmarks.real_noise --data-dir DIR --tables crowd-news,agnews-clean

Per table, by ``lops select`` with its defaults: how well wrong labels are ranked and found, what
correction does to the labels, and macro-F1 on held-out texts, where the table has some, of a
classifier on what is left. What other tables teach comes from all other families. Gold labels only
measure; rows without one count for the committee alone. Rivals have results of their own:
:mod:`benchmarks.real_noise_cleanlab` and :mod:`benchmarks.real_noise_dqc`.

The classifier is a logistic regression on TF-IDF and the static vectors; ``balanced`` weighs its
classes equally. DIR holds ``real-noise``, ``fresh-noise``, ``agnews_test.csv`` and the archive of
20 Newsgroups. A table with a result file is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import committed, final
from benchmarks.calibration_tables import Item
from benchmarks.real_tables import TABLES, Table, load_table
from benchmarks.record import measure_tables
from lops_adapters import select
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.committee import calibration


def measured(scores: np.ndarray, mask: np.ndarray, table: Table) -> dict[str, float | None]:
    """Return what a ranking and a choice of n rows are worth; None without wrong labels.

    Rows without a gold label do not count. ``smallest_lost`` is the share of right labels lost of
    the class with fewest of them, among classes with at least ten; None without such a class.
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    known = table.gold != ""
    scores, mask, labels = scores[known], mask[known], table.labels[known]
    wrong = labels != table.gold[known]
    classes, counts = np.unique(labels[~wrong].astype(str), return_counts=True)
    classes, counts = classes[counts >= 10], counts[counts >= 10]
    own = ~wrong & (labels.astype(str) == (classes[counts.argmin()] if len(counts) else ""))
    some = bool(wrong.any())
    return {
        "auroc": float(roc_auc_score(wrong, -scores)) if some else None,
        "average_precision": float(average_precision_score(wrong, -scores)) if some else None,
        "right_lost": float((~mask & ~wrong).sum() / (~wrong).sum()),
        "smallest_lost": float((~mask & own).sum() / own.sum()) if own.any() else None,
        "wrong_found": float((~mask & wrong).sum() / wrong.sum()) if some else None,
    }


class Classifier:
    """Macro-F1 in percent on a table's held-out texts, by what it is trained on."""

    def __init__(self, table: Table, encoder: EmbeddingProbe) -> None:
        from scipy import sparse
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(table.texts)

        def features(texts: Sequence[str]) -> Any:
            vectors = sparse.csr_matrix(encoder.vectors(texts))
            return sparse.hstack([words.transform(texts), vectors]).tocsr()

        self._train, self._test = features(table.texts), features(table.test_texts)
        self._gold = table.test_gold

    def __call__(
        self, labels: np.ndarray, rows: np.ndarray, weights: np.ndarray | None = None
    ) -> dict[str, float]:
        """Train on the labels of the (n,) bool rows, plain and with balanced classes."""
        from sklearn.metrics import f1_score

        found = {}
        for name in ("plain", "balanced"):
            said = self.predict(labels, rows, weights, balanced=name == "balanced")
            score = f1_score(self._gold, said, average="macro", labels=np.unique(self._gold))
            found[name] = 100 * float(score)
        return found

    def predict(
        self,
        labels: np.ndarray,
        rows: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        balanced: bool = False,
    ) -> np.ndarray:
        """Train in the same way and return labels of the held-out texts."""
        from sklearn.dummy import DummyClassifier
        from sklearn.linear_model import LogisticRegression

        names, codes = np.unique(labels[rows].astype(str), return_inverse=True)
        own = np.ones(len(codes)) if weights is None else weights[rows]
        totals = np.bincount(codes, weights=own)
        even = own * (own.sum() / len(names) / np.maximum(totals, 1e-9))[codes]
        model: Any = LogisticRegression(C=3, max_iter=100, tol=1e-3)
        model = model if len(names) > 1 else DummyClassifier()  # which predicts that class
        model.fit(self._train[rows], codes, sample_weight=even if balanced else own)
        return np.asarray(names[model.predict(self._test)])


def coefficients(table: str) -> dict[str, Any]:
    """Return the contents of ``calibration.json`` without the family of a table."""
    return _without(Item(table).family)


@cache
def _without(family: str) -> dict[str, Any]:
    tables, shifts = (
        {name: one for name, one in committed(part).items() if one["family"] != family}
        for part in ("tables", "shifts")
    )
    return final(tables, shifts)


def gained(labels: np.ndarray, table: Table) -> float:
    """Return the share of right labels minus that of the table's, of rows with a gold label."""
    known = table.gold != ""
    return float((labels == table.gold)[known].mean() - (table.labels == table.gold)[known].mean())


def trained(table: Table, selection: Any, classifier: Classifier) -> dict[str, dict[str, float]]:
    """Return macro-F1 of the classifier by what it is trained on."""
    n, right = len(table.labels), np.asarray(selection.sample_weight)
    every, random = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
    random[np.random.default_rng(0).permutation(n)[: int(selection.mask.sum())]] = True
    known, labels, corrected = table.gold != "", table.labels, selection.corrected
    arms = {
        "all": (labels, every, None),
        "random": (labels, random, None),
        "kept": (labels, selection.mask, None),
        **{f"--sure {sure}": (labels, right >= sure, None) for sure in (0.7, 0.8)},
        "weighted": (labels, every, right + 1e-3),
        "corrected": (corrected, every, None),
        "train.csv": (corrected, every, selection.weights + 1e-3),
        "only right": (labels, known & (labels == table.gold), None),
    }
    return {name: classifier(*arm) for name, arm in arms.items() if arm[1].any()}


def has_classifiers(name: str) -> bool:
    """Return whether classifiers are trained: of 20 Newsgroups, each takes minutes."""
    return name == "20news-coarse-seeds" or not name.startswith("20news")


def run(table: Table) -> dict[str, Any]:
    """Measure a table."""
    encoder, learnt = EmbeddingProbe("static"), coefficients(table.name)
    classes, counts = np.unique(table.labels.astype(str), return_counts=True)
    known = table.gold != ""
    with patch.object(calibration, "coefficients", lambda: learnt):
        selection = select(table.texts, table.labels.tolist())
    own, noise = measured(selection.confidence, selection.mask, table), selection.noise
    own["labels_gained"] = gained(selection.corrected, table)
    if noise is not None:
        own |= {"estimate": noise.rate, "low": noise.low, "high": noise.high}
    result: dict[str, Any] = {
        "n": len(known),
        "noise": float((table.labels != table.gold)[known].mean()),
        "classes": dict(zip(classes.tolist(), counts.tolist(), strict=True)),
        "n_test": len(table.test_texts),
        "ways": {"select": own},
    }
    if table.test_texts and has_classifiers(table.name):
        result["macro_f1"] = trained(table, selection, Classifier(table, encoder))
    return result


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("real_noise", __doc__, TABLES, load_table, run)


if __name__ == "__main__":
    main()
