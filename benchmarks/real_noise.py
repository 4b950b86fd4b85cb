"""Wrong labels that people, rules, word lists and language models really gave.

    python -m benchmarks.real_noise --data-dir DIR
    python -m benchmarks.real_noise --data-dir DIR --tables crowd-news,agnews-clean

Per table and three seeds: how well wrong labels are ranked and found, what correction does to the
labels, and macro-F1 on held-out texts, where the table has some, of a classifier on what is left.
``lops select`` with the default encoder is compared with cleanlab, on the same vectors and on
TF-IDF. The calibration is what all other families of tables give. Gold labels only
measure; rows without one count for the committee alone.

The classifier is a logistic regression on TF-IDF and the static vectors; ``balanced`` weighs its
classes equally. DIR holds ``real-noise``, ``fresh-noise``, ``agnews_test.csv`` and the archive of
20 Newsgroups. A table with a result file is skipped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import Item, final
from benchmarks.real_tables import TABLES, Table, load_table
from benchmarks.record import RESULTS, measure_tables
from lops_adapters import select
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.committee import calibration

SEEDS = 3


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
        "kept": float(mask.mean()),
        "noise_kept": float(wrong[mask].mean()),
    }


def cleanlab_corrected(
    rows: Any, table: Table, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return cleanlab's label quality, what it does not flag, and labels, (n,) each.

    With 5-fold cross-validation of a logistic regression on the n rows; flagged labels are replaced
    by the most probable ones.
    """
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    names, codes = np.unique(table.labels.astype(str), return_inverse=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    model = LogisticRegression(max_iter=1000)
    probabilities = cross_val_predict(model, rows, codes, cv=folds, method="predict_proba")
    kept = ~find_label_issues(codes, probabilities, n_jobs=1)
    said = np.where(kept, table.labels, names[probabilities.argmax(axis=1)])
    return get_label_quality_scores(codes, probabilities), kept, said.astype(object)


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
    path = RESULTS / "calibration/tables.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["result"]
    family = Item(table).family
    return final({name: one for name, one in tables.items() if one["family"] != family})


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def one_seed(
    table: Table, vectors: Any, classifier: Classifier | None, seed: int
) -> dict[str, Any]:
    """Return the measures of all ways with one seed."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = table.texts, table.labels.tolist()
    selection, seconds = _timed(lambda: select(texts, labels, seed=seed))
    words, counting = _timed(lambda: TfidfVectorizer().fit_transform(texts))
    by_words, seconds_words = _timed(lambda: cleanlab_corrected(words, table, seed))
    by_vectors, seconds_vectors = _timed(lambda: cleanlab_corrected(vectors, table, seed))
    ways: dict[str, Any] = {}
    for name, (scores, kept, corrected), spent in (
        ("select", (selection.confidence, selection.mask, selection.corrected), seconds),
        ("cleanlab, static", by_vectors, seconds_vectors),
        ("cleanlab, TF-IDF", by_words, counting + seconds_words),
    ):
        ways[name] = {**measured(scores, kept, table), "processor_seconds": spent}
        known = table.gold != ""
        right = (corrected == table.gold)[known].mean() - (table.labels == table.gold)[known].mean()
        ways[name]["labels_gained"] = float(right)
    if selection.noise is not None:
        noise = selection.noise
        ways["select"] |= {"estimate": noise.rate, "low": noise.low, "high": noise.high}
    result: dict[str, Any] = {"ways": ways}
    if classifier is not None:
        n = len(labels)
        every, random = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        random[np.random.default_rng(seed).permutation(n)[: int(selection.mask.sum())]] = True
        arms = {
            "random": (table.labels, random, None),
            "kept": (table.labels, selection.mask, None),
            "kept by cleanlab, static": (table.labels, by_vectors[1], None),
            "weighted": (table.labels, every, np.asarray(selection.sample_weight) + 1e-3),
            "corrected": (selection.corrected, every, None),
            "train.csv": (selection.corrected, every, selection.weights + 1e-3),
        }
        result["macro_f1"] = {name: classifier(*arm) for name, arm in arms.items()}
    return result


def run(table: Table) -> dict[str, Any]:
    """Measure a table with all seeds; what does not depend on the seed is measured once."""
    encoder, learnt = EmbeddingProbe("static"), coefficients(table.name)
    classifier = Classifier(table, encoder) if table.test_texts else None
    known = table.gold != ""
    wrong = known & (table.labels != table.gold)
    classes, counts = np.unique(table.labels.astype(str), return_counts=True)
    result: dict[str, Any] = {
        "n": len(known),
        "noise": float(wrong[known].mean()),
        "classes": dict(zip(classes.tolist(), counts.tolist(), strict=True)),
        "n_test": len(table.test_texts),
        "seeds": SEEDS,
    }
    if classifier is not None:
        result["macro_f1"] = {
            "all": classifier(table.labels, np.ones(len(known), dtype=bool)),
            "only right": classifier(table.labels, known & ~wrong),
        }
    vectors = encoder.vectors(table.texts)
    with patch.object(calibration, "coefficients", lambda: learnt):
        seeds = range(SEEDS)
        result["runs"] = [one_seed(table, vectors, classifier, seed) for seed in seeds]
    return result


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("real_noise", __doc__, TABLES, load_table, run)


if __name__ == "__main__":
    main()
