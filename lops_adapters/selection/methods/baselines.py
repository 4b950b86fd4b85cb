"""Baselines, which keep everything or random samples, and the upper bound by gold labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.labels.labelled import Labelled, codes_among
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.method import Method
from lops_adapters.selection.methods.ranked import best, keep_best
from lops_adapters.selection.outcome import Outcome
from lops_adapters.selection.selectors import Corrected, Labels, values

_UNTRAINED = "no probe was trained"


def keep_all(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
    """Keep everything: the Standard arm.

    >>> keep_all(["a", "b"], ["x", "y"]).kept.tolist()
    [0, 1]
    """
    if len(samples) != len(pseudo_labels):
        raise LopsError(
            f"found {len(samples)} samples and {len(pseudo_labels)} pseudo-labels; wanted one per "
            "sample"
        )
    labels = values(pseudo_labels)
    classes = list(dict.fromkeys(labels))
    return _whole(codes_among(labels, classes), len(classes)).selection(classes)


def _whole(codes: np.ndarray, n_classes: int) -> Outcome:
    n = len(codes)
    return Outcome.of(
        np.ones(n, dtype=bool), np.zeros(n), codes, n_classes,
        rule="standard", stopped=_UNTRAINED, why="everything is kept",
    )  # fmt: skip


class Standard(Method):
    """Keeps everything: the Standard arm."""

    needs_probe, takes_n, takes_keep, alone, keeps_all = False, False, False, True, True

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        return _whole(labelled.codes, len(labelled.classes))


class Random(Method):
    """Keeps random samples; it is the control of other methods."""

    needs_probe, control = False, True

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        return keep_best(labelled, choice, _drawn(len(labelled), choice.seed), _UNTRAINED)


def _drawn(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(n)


def random_like(other: Selection, name: str, labelled: Labelled, seed: int = 0) -> Outcome:
    """Keep as many random samples per class as another selection.

    It is the control of that selection, made by the arm of this name. A class with fewer samples
    than that is kept whole, and the other classes give the rest.
    """
    scores, codes = _drawn(len(labelled), seed), labelled.codes
    reports = (other.per_class.get(label) for label in labelled.classes)
    n_kept = np.array([0 if report is None else report.kept for report in reports])
    mask = best(scores, codes, n_kept, seed)
    rest = int(n_kept.sum() - mask.sum())
    mask |= best(np.where(mask, -np.inf, scores), codes, rest, seed)
    return Outcome.of(
        mask, scores, codes, len(labelled.classes),
        rule="random", stopped=_UNTRAINED, why=f"random, as many as {name} keeps",
    )  # fmt: skip


def relabelled_like(other: Selection, name: str, labelled: Labelled, seed: int = 0) -> Outcome:
    """Keep everything, and change as many labels from one class to another as a correction does.

    It is the control of that correction, a :class:`~lops_adapters.selection.Corrected`, made by the
    arm of this name: what it changes each class into is the same, and which samples is random. So
    class sizes stay those of the correction. Where a class has fewer samples than that, all change.
    """
    assert isinstance(other, Corrected)
    k, labels = len(labelled.classes), (other.before.tolist(), other.labels.tolist())
    classes = list(dict.fromkeys(chain(labelled.classes, *labels)))
    before, after = (codes_among(each, classes) for each in labels)
    scores, codes = _drawn(len(labelled), seed), labelled.codes.copy()
    for code in range(k):
        new = np.sort(after[(before == code) & (after != code) & (after < k)])
        rows = np.flatnonzero(labelled.codes == code)
        rows = rows[np.argsort(scores[rows], kind="stable")][: len(new)]
        codes[rows] = new[: len(rows)]
    return Outcome.of(
        np.ones(len(codes), dtype=bool), scores, codes, k,
        rule="random", stopped=_UNTRAINED, why=f"relabelled at random, as many as {name} does",
    )  # fmt: skip


@dataclass(frozen=True)
class Optimal(Method):
    """The paper's OptimalFilter, the only method that sees gold labels.

    It keeps every sample whose pseudo-label is its gold label; the confidence is 1 or 0.

    Attributes:
        gold: one gold label per sample; None: of no sample yet.
    """

    gold: Labels | None = None

    needs_probe, takes_n, takes_keep, alone = False, False, False, True
    takes = ("gold",)

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        """Select; a LopsError: another number of gold labels than of samples."""
        gold, n = self.gold, len(labelled)
        if gold is None or len(gold) != n:
            raise LopsError(
                f"found {0 if gold is None else len(gold)} gold labels and {n} samples; "
                "wanted one gold label per sample, in order"
            )
        pairs = zip(labelled.labels, values(gold), strict=True)
        right = np.array([label == truth for label, truth in pairs], dtype=bool)
        return Outcome.of(
            right, right.astype(np.float64), labelled.codes, len(labelled.classes),
            rule=self.name, stopped="compared with gold labels",
            why="pseudo-label is the gold label",
        )  # fmt: skip
