"""cleanlab on the tables of :mod:`benchmarks.real_noise`.

    python -m benchmarks.real_noise_cleanlab --data-dir DIR

5-fold cross-validation of a logistic regression, on the vectors of the default encoder and on
TF-IDF; flagged labels are replaced by the most probable ones. Tables with a result file are
skipped: these numbers do not change with ``lops select``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.real_noise import Classifier, gained, has_classifiers, measured
from benchmarks.real_tables import TABLES, Table, load_table
from benchmarks.record import measure_tables
from lops_adapters.probes.embedding import EmbeddingProbe


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


def run(table: Table) -> dict[str, Any]:
    """Measure a table."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    encoder = EmbeddingProbe("static")
    words = TfidfVectorizer().fit_transform(table.texts)
    ways, kept = {}, {}
    for name, rows in (("static", encoder.vectors(table.texts)), ("TF-IDF", words)):
        scores, kept[name], labels = cleanlab_corrected(rows, table, 0)
        of_way = measured(scores, kept[name], table)
        ways[f"cleanlab, {name}"] = {**of_way, "labels_gained": gained(labels, table)}
    if not (table.test_texts and has_classifiers(table.name)):
        return {"ways": ways}
    trained = Classifier(table, encoder)(table.labels, kept["static"])
    return {"ways": ways, "macro_f1": {"kept by cleanlab, static": trained}}


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("real_noise_cleanlab", __doc__, TABLES, load_table, run)


if __name__ == "__main__":
    main()
