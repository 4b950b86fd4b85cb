"""Votes of rules, seed words and annotators, combined by ``select``, Snorkel and Dawid-Skene.

    pip install --constraint constraints.txt ".[label-models,offline,transformers]"  # Python 3.11
    python -m benchmarks.sources --data-dir DIR
    python -m benchmarks.sources --data-dir DIR --tables youtube-rules,annotators

Per table of :mod:`benchmarks.source_tables`, seed 0: how accurate the combined labels are, how well
wrong majority labels and the accuracies of the sources are ranked, and macro-F1 of a classifier
that is trained on the labels. Gold labels only measure. Above 8,000 rows MiniLM is left out. A
table with a result file is skipped.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks.label_models import Combined, dawid_skene, largest, majority, snorkel
from benchmarks.real_noise import Classifier
from benchmarks.real_tables import Table
from benchmarks.record import measure_tables
from benchmarks.source_tables import TABLES, VotedTable, load_voted
from lops_adapters import select
from lops_adapters.probes.embedding import EmbeddingProbe

SEED = 0
MINILM_ROWS = 8000  # at most, since encoding long texts takes hours without a GPU
LIBRARIES = {"snorkel": "snorkel", "crowdkit": "crowd-kit"}  # module -> distribution
LEAST_VOTES = 5  # of a source whose accuracy is ranked


class JoinedLabels(NamedTuple):
    """What one way makes of the votes.

    Attributes:
        combined: probabilities, and accuracies of the sources.
        kept: (n,) bool, rows whose label it keeps; None: it keeps all.
        suggested: (n,) int codes for all rows, also those without a vote; None: it has none.
        ranges: (m, 2) float64, the ranges of the accuracies; None: it has none.

    """

    combined: Combined
    kept: np.ndarray | None = None
    suggested: np.ndarray | None = None
    ranges: np.ndarray | None = None


Way = Callable[[VotedTable], JoinedLabels]


def by_votes(combine: Callable[[np.ndarray, int], Combined], table: VotedTable) -> JoinedLabels:
    """Combine votes without the texts."""
    return JoinedLabels(combine(table.votes, len(table.classes)))


def by_select(encoder: str, table: VotedTable) -> JoinedLabels:
    """Combine votes together with the texts.

    The probability that the label does not have is spread evenly over the other classes.
    """
    selection = select(table.texts, table.named(table.votes).tolist(), encoder=encoder, seed=SEED)
    k, codes = len(table.classes), _codes(table, selection.labels)
    right = np.nan_to_num(np.asarray(selection.confidence))
    probabilities = np.repeat((1 - right)[:, None] / (k - 1), k, axis=1)
    labelled = np.flatnonzero(codes >= 0)
    probabilities[labelled, codes[labelled]] = right[labelled]
    return JoinedLabels(
        Combined(probabilities, np.array([source.accuracy for source in selection.sources])),
        selection.mask,
        _codes(table, selection.suggested),
        np.array([(source.low, source.high) for source in selection.sources]).reshape(-1, 2),
    )


def _codes(table: VotedTable, labels: Iterable[Any]) -> np.ndarray:
    code_of = {label: code for code, label in enumerate(table.classes)}
    return np.array([code_of.get(label, -1) for label in labels])


def by_one_label(encoder: str, table: VotedTable) -> JoinedLabels:
    """Correct majority labels with the texts; the votes are not passed on."""
    combined = majority(table.votes, len(table.classes))
    given = np.where(table.voted, drawn(combined.probabilities), -1)
    selection = select(table.texts, table.named(given).tolist(), encoder=encoder, seed=SEED)
    right = np.nan_to_num(np.asarray(selection.confidence))
    suggested = np.nan_to_num(np.asarray(selection.suggested_probability))
    probabilities = np.zeros((len(table.texts), len(table.classes)))
    rows, codes = np.flatnonzero(table.voted), _codes(table, selection.suggested)
    probabilities[rows, given[rows]] = right[rows]
    probabilities[rows, codes[rows]] = suggested[rows]
    return JoinedLabels(Combined(probabilities, combined.accuracies))


WAYS: Mapping[str, Way] = {
    "majority": partial(by_votes, majority),
    "snorkel": partial(by_votes, partial(snorkel, seed=SEED)),
    "dawid-skene": partial(by_votes, dawid_skene),
    "one label, static": partial(by_one_label, "static"),
    "select, static": partial(by_select, "static"),
    "select, minilm": partial(by_select, "minilm"),
}


def measured(labelled: JoinedLabels, table: VotedTable) -> dict[str, Any]:
    """Return what labels and probabilities are worth, without a classifier.

    ``auroc_majority``: rows with one majority label, ranked by the probability of that label.
    ``auroc_own``: rows with a vote, ranked by the probability of the label that the way gives.
    ``spearman``: sources with at least 5 votes. ``in_range``: the share of these whose accuracy on
    the table lies in the range.
    """
    probabilities, each = labelled.combined.probabilities, np.arange(len(table.gold))
    right, voted = largest(probabilities)[each, table.gold], table.voted
    tops = largest(majority(table.votes, len(table.classes)).probabilities)
    clear = voted & (tops.max(axis=1) == 1)
    label = tops.argmax(axis=1)
    found = {
        "accuracy": float(right[voted].mean()),
        "auroc_majority": _auroc((label != table.gold)[clear], probabilities[each, label][clear]),
        "auroc_own": _auroc(right[voted] < 1, probabilities.max(axis=1)[voted]),
        "spearman": _spearman(labelled.combined.accuracies, table),
        "accuracies": [float(one) for one in np.nan_to_num(labelled.combined.accuracies, nan=-1)],
    }
    if labelled.kept is not None:
        kept = labelled.kept & voted
        found |= {
            "kept": float(kept.sum() / voted.sum()),
            "accuracy_kept": float(right[kept].mean()),
        }
    if labelled.suggested is not None:
        found["accuracy_all"] = float((labelled.suggested == table.gold).mean())
    if labelled.ranges is not None:
        some, accuracies = counted(table)
        low, high = labelled.ranges[some].T
        found["in_range"] = float(((low <= accuracies) & (accuracies <= high)).mean())
    return found


def counted(table: VotedTable) -> tuple[np.ndarray, np.ndarray]:
    """Return which sources have at least 5 votes, and the shares of their votes that are right."""
    votes = (table.votes >= 0).sum(axis=0)
    right = (table.votes == table.gold[:, None]).sum(axis=0)
    some = np.flatnonzero(votes >= LEAST_VOTES)
    return some, right[some] / votes[some]


def _auroc(wrong: np.ndarray, probability: np.ndarray) -> float | None:
    """Return how well low probabilities find wrong rows; None if all are right, or all wrong."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(wrong, -probability)) if len(set(wrong.tolist())) > 1 else None


def _spearman(estimates: np.ndarray, table: VotedTable) -> float:
    from scipy.stats import spearmanr

    some, accuracies = counted(table)
    return float(spearmanr(accuracies, estimates[some]).statistic)


def drawn(probabilities: np.ndarray) -> np.ndarray:
    """Return the most probable code of each row, (n,) int; of equal ones, one at random."""
    tops = largest(probabilities)
    scores = np.random.default_rng(SEED).random(tops.shape) * (tops > 0)
    return np.asarray(scores.argmax(axis=1))


def classified(
    labelled: JoinedLabels, table: VotedTable, classifier: Classifier
) -> dict[str, dict[str, float]]:
    """Return macro-F1 of a classifier that is trained on all labels, and on the kept ones."""
    labels = table.named(drawn(labelled.combined.probabilities))
    found = {"all": classifier(labels, table.voted)}
    if labelled.kept is not None:
        found["kept"] = classifier(labels, labelled.kept & table.voted)
    return found


def run(table: VotedTable, ways: Mapping[str, Way] = WAYS) -> dict[str, Any]:
    """Measure the ways on a table; those with MiniLM only if it is small enough."""
    tested = table.named(table.test_gold)
    given = Table(table.texts, tested[:0], tested[:0], table.test_texts, tested)
    classifier = Classifier(given, EmbeddingProbe("static"))
    result: dict[str, Any] = {}
    for name, way in ways.items():
        if "minilm" in name and len(table.texts) > MINILM_ROWS:
            continue
        start = time.process_time()
        labelled = way(table)
        seconds = time.process_time() - start
        result[name] = {
            **measured(labelled, table),
            "processor_seconds": seconds,
            "macro_f1": classified(labelled, table, classifier),
        }
        print(" ", name, {key: result[name][key] for key in ("accuracy", "auroc_majority")})
    tops = largest(majority(table.votes, len(table.classes)).probabilities)
    votes = (table.votes >= 0).sum(axis=0).tolist()
    right = (table.votes == table.gold[:, None]).sum(axis=0).tolist()
    return {
        "n": len(table.texts),
        "n_sources": len(table.sources),
        "classes": list(table.classes),
        "voted": float(table.voted.mean()),
        "ties": float((tops[table.voted].max(axis=1) < 1).mean()),
        "n_test": len(table.test_texts),
        "encoder": "static",  # of the classifier
        "macro_f1": classifier(table.named(table.gold), table.voted),
        "sources": [
            {"name": name, "votes": voted, "right": true}
            for name, voted, true in zip(table.sources, votes, right, strict=True)
        ],
        "ways": result,
    }


def run_with_versions(table: VotedTable) -> dict[str, Any]:
    """Measure a table, and note the versions of the libraries; exit if one is not installed."""
    if missing := [name for name in LIBRARIES if find_spec(name) is None]:
        sys.exit(f"not installed: {', '.join(missing)}; run: pip install '.[label-models]'")
    return {**run(table), "versions": {name: version(name) for name in LIBRARIES.values()}}


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("sources", __doc__, TABLES, load_voted, run_with_versions)


if __name__ == "__main__":
    main()
