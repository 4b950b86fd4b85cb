"""Wrong labels that people, rules, word lists and a language model really gave.

    python -m benchmarks.real_noise --data-dir DIR
    python -m benchmarks.real_noise --data-dir DIR --tables crowd-news,agnews-clean

Per table and seed: how well wrong labels are ranked and found, and macro-F1 on held-out texts of a
classifier that is trained on what is left. ``lops select`` is compared with cleanlab, on TF-IDF and
on the same vectors. Gold labels only measure. The classifier is a logistic regression on TF-IDF and
frozen MiniLM vectors; ``balanced`` weighs its classes equally.

DIR holds ``real-noise/*.csv`` (columns text, label, gold), ``agnews_test.csv`` and the archive of
20 Newsgroups. A table with a result file for the same seeds is skipped.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real_tables import TABLES, Table, load_table
from benchmarks.record import RESULTS, command_line, write_result
from lops_adapters import select
from lops_adapters.datasets import Corpus
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.texts.result import TextSelection

Scores = tuple[
    np.ndarray, np.ndarray
]  # (n,) higher is more trusted, and the (n,) mask of kept rows


def measured(scores: np.ndarray, mask: np.ndarray, table: Table) -> dict[str, float | None]:
    """Return what a ranking and a choice are worth; None without wrong labels.

    ``smallest_lost`` is the share of right labels lost of the class with fewest of them, among
    classes with at least ten.
    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    wrong = table.labels != table.gold
    classes, counts = np.unique(table.labels[~wrong], return_counts=True)
    smallest = classes[counts >= 10][counts[counts >= 10].argmin()]
    own = ~wrong & (table.labels == smallest)
    some = bool(wrong.any())
    return {
        "auroc": float(roc_auc_score(wrong, -scores)) if some else None,
        "average_precision": float(average_precision_score(wrong, -scores)) if some else None,
        "right_lost": float((~mask & ~wrong).sum() / (~wrong).sum()),
        "smallest_lost": float((~mask & own).sum() / own.sum()),
        "wrong_found": float((~mask & wrong).sum() / wrong.sum()) if some else None,
        "kept": float(mask.mean()),
        "noise_kept": float(wrong[mask].mean()),
    }


def cleanlab(rows: Any, table: Table, seed: int) -> Scores:
    """Return cleanlab's label quality and what it does not flag, with 5-fold cross-validation."""
    quality, kept, _ = cleanlab_corrected(rows, table, seed)
    return quality, kept


def cleanlab_corrected(
    rows: Any, table: Table, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same, and labels: the most probable ones where it flags the given ones."""
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
        from sklearn.dummy import DummyClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import f1_score

        names, codes = np.unique(labels[rows].astype(str), return_inverse=True)
        own = np.ones(len(codes)) if weights is None else weights[rows]
        totals = np.bincount(codes, weights=own)
        even = own * (own.sum() / len(names) / np.maximum(totals, 1e-9))[codes]
        found = {}
        for name, each in (("plain", own), ("balanced", even)):
            model: Any = LogisticRegression(C=3, max_iter=100, tol=1e-3)
            model = model if len(names) > 1 else DummyClassifier()  # which predicts that class
            model.fit(self._train[rows], codes, sample_weight=each)
            said = names[model.predict(self._test)]
            score = f1_score(self._gold, said, average="macro", labels=np.unique(self._gold))
            found[name] = 100 * float(score)
        return found


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _select(table: Table, encoder: Any, seed: int) -> tuple[TextSelection, float]:
    return _timed(lambda: select(table.texts, table.labels.tolist(), encoder=encoder, seed=seed))


def one_seed(
    table: Table, classifier: Classifier, encoder: EmbeddingProbe, seed: int
) -> dict[str, Any]:
    """Return the measures of all ways with one seed; vectors are encoded before the time starts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = encoder.vectors(table.texts)
    selection, seconds = _select(table, encoder, seed)
    without, seconds_without = _select(table, None, seed)
    words, counting = _timed(lambda: TfidfVectorizer().fit_transform(table.texts))
    by_words, seconds_words = _timed(lambda: cleanlab(words, table, seed))
    by_vectors, seconds_vectors = _timed(lambda: cleanlab(vectors, table, seed))
    found = {
        "select": (selection.confidence, selection.mask, seconds),
        "select without encoder": (without.confidence, without.mask, seconds_without),
        "cleanlab, TF-IDF": (*by_words, counting + seconds_words),
        "cleanlab, MiniLM": (*by_vectors, seconds_vectors),
    }
    ways = {
        name: {**measured(scores, mask, table), "processor_seconds": spent}
        for name, (scores, mask, spent) in found.items()
    }
    for name, own in (("select", selection), ("select without encoder", without)):
        ways[name]["estimate"] = None if own.noise is None else own.noise.rate
    if selection.noise is not None:
        rates = 1 - np.diag(selection.noise.true_given_label)
        ways["select"]["estimate_per_class"] = dict(
            zip(map(str, selection.per_class), rates.tolist(), strict=True)
        )
    rng, n = np.random.default_rng(seed), len(table.labels)
    random = np.zeros(n, dtype=bool)
    random[rng.permutation(n)[: int(selection.mask.sum())]] = True
    every = np.ones(n, dtype=bool)
    arms = {
        "random": (table.labels, random, None),
        "kept": (table.labels, selection.mask, None),
        "kept without encoder": (table.labels, without.mask, None),
        "kept by cleanlab, MiniLM": (table.labels, by_vectors[1], None),
        "weighted": (table.labels, every, np.asarray(selection.sample_weight) + 1e-3),
        "suggested": (selection.suggested, every, None),
    }
    return {"ways": ways, "macro_f1": {name: classifier(*arm) for name, arm in arms.items()}}


def run(table: Table, seeds: int) -> dict[str, Any]:
    """Measure a table with all seeds; what does not depend on the seed is measured once."""
    encoder = EmbeddingProbe("minilm")
    classifier = Classifier(table, encoder)
    every, wrong = np.ones(len(table.labels), dtype=bool), table.labels != table.gold
    classes, counts = np.unique(table.labels.astype(str), return_counts=True)
    return {
        "n": len(table.labels),
        "noise": float(wrong.mean()),
        "noise_per_class": {
            label: float(wrong[table.labels.astype(str) == label].mean()) for label in classes
        },
        "classes": dict(zip(classes.tolist(), counts.tolist(), strict=True)),
        "n_test": len(table.test_texts),
        "macro_f1": {
            "all": classifier(table.labels, every),
            "only right": classifier(table.labels, ~wrong),
        },
        "seeds": seeds,
        "runs": [one_seed(table, classifier, encoder, seed) for seed in range(seeds)],
    }


def main() -> None:
    """Measure the tables that have no result yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--tables", default=",".join(TABLES), help="default: all")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds (default: 3)")
    options = parser.parse_args()
    for name in options.tables.split(","):
        path = RESULTS / "real-noise" / f"{name}.json"
        if path.exists():
            done = json.loads(path.read_text(encoding="utf-8"))["result"]
            if done["seeds"] == options.seeds:
                continue
        start = time.perf_counter()
        table = load_table(name, options.data_dir)
        result = run(table, options.seeds)
        first = result["runs"][0]
        shown = {
            key: first["ways"]["select"][key] for key in ("auroc", "right_lost", "wrong_found")
        }
        print(name, shown, f"{time.perf_counter() - start:.0f} s", flush=True)
        ids = tuple(map(str, range(len(table.texts))))
        corpus = Corpus(name, ids, tuple(table.texts), tuple(result["classes"]))
        write_result(f"real-noise/{name}", result, corpus, command=command_line("real_noise"))


if __name__ == "__main__":
    main()
