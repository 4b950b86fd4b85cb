"""What labels made of votes are worth: accuracy, ranking, sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.label_models import Combined, largest, majority
from benchmarks.source_tables import VotedTable

LEAST_VOTES = 5  # of a source whose accuracy is ranked


class JoinedLabels(NamedTuple):
    """What one way makes of the votes.

    Attributes:
        combined: probabilities, and accuracies of the sources.
        kept: (n,) bool, rows whose label it keeps; None: it keeps all.
        ranges: (m, 2) float64, the ranges of the accuracies; None: it has none.
        seconds: of the processor.
        checked: number of checked rows -> (n,) int codes of the labels with them, and of those
            without where only these rows are corrected; None: not measured.

    """

    combined: Combined
    kept: np.ndarray | None = None
    ranges: np.ndarray | None = None
    seconds: float = 0.0
    checked: Mapping[int, tuple[np.ndarray, np.ndarray]] | None = None


def measured(labelled: JoinedLabels, table: VotedTable) -> dict[str, Any]:
    """Return what labels and probabilities are worth.

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
    for count, ways in (labelled.checked or {}).items():
        after, corrected = ((codes == table.gold)[voted].mean() for codes in ways)
        found |= {f"after_{count}": float(after), f"corrected_{count}": float(corrected)}
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
    scores = np.random.default_rng(0).random(tops.shape) * (tops > 0)
    return np.asarray(scores.argmax(axis=1))


def mean(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the means of the measures of several seeds; None where one is missing.

    >>> mean([{"a": 1, "b": [1, None]}, {"a": 2, "b": [2, 3]}])
    {'a': 1.5, 'b': [1.5, None]}
    """

    def of(values: Sequence[Any]) -> Any:
        if isinstance(values[0], dict):
            return mean(values)
        if isinstance(values[0], list):
            return [of(same) for same in zip(*values, strict=True)]
        return None if None in values else sum(values) / len(values)

    return {key: of([one[key] for one in runs]) for key in runs[0]}
