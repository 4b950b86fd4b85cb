"""F1 of single-label predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lops_adapters.core import LopsError
from lops_adapters.evaluation._labels import Label, Labels, check_aligned, codes, comparable


@dataclass(frozen=True)
class F1:
    """F1 scores, all in [0, 1].

    Attributes:
        micro: micro-F1; for single-label predictions the share of correct ones (accuracy).
        macro: unweighted mean of `per_class`.
        per_class: F1 of each class that occurs in gold or predicted, in the caller's order of
            classes.
    """

    micro: float
    macro: float
    per_class: Mapping[Label, float]


def f1_scores(gold: Labels, predicted: Labels, classes: Sequence[Label]) -> F1:
    """Score predictions against gold labels.

    A class that occurs in gold or predicted but has no true positive scores 0 and counts in the
    macro average. A class that occurs in neither is left out, since its F1 is 0/0. scikit-learn's
    `f1_score` does the same if no labels are given.

    Args:
        gold, predicted: (n,) str or int; aligned; both names or both numbers.
        classes: all classes that may occur.

    Raises:
        LopsError: lengths differ, there is no sample, a label is not among the classes, a class is
            named twice, or names are mixed with numbers.

    Source: micro- and macro-F1 over all documents as reported in the LOPS paper, there in percent.

    >>> scores = f1_scores(["a", "a", "b", "b"], ["a", "b", "b", "b"], classes=["a", "b", "c"])
    >>> scores.micro, round(scores.macro, 3)
    (0.75, 0.733)
    >>> {name: round(value, 3) for name, value in scores.per_class.items()}
    {'a': 0.667, 'b': 0.8}
    """
    matrix = confusion_matrix(gold, predicted, classes)
    if not matrix.sum():
        raise LopsError("there is no sample; F1 needs at least one")
    correct = np.diagonal(matrix)
    occurrences = matrix.sum(axis=0) + matrix.sum(axis=1)
    per_class = {
        label: float(2.0 * correct[i] / occurrences[i])
        for i, label in enumerate(classes)
        if occurrences[i] > 0
    }
    return F1(
        micro=float(correct.sum() / matrix.sum()),
        macro=float(np.mean(list(per_class.values()))),
        per_class=per_class,
    )


def confusion_matrix(
    gold: Labels, predicted: Labels, classes: Sequence[Label]
) -> NDArray[np.int64]:
    """Count how often each class is predicted as each class.

    Args:
        gold, predicted: (n,) str or int; aligned; both names or both numbers.
        classes: all classes that may occur; row and column order.

    Returns:
        (n_classes, n_classes) int64; entry (i, j) counts the samples of gold class i that are
        predicted as class j.

    Raises:
        LopsError: lengths differ, a label is not among the classes, a class is named twice, or
            names are mixed with numbers.

    >>> confusion_matrix([0, 0, 1], [0, 1, 1], classes=[0, 1]).tolist()
    [[1, 1], [0, 1]]
    """
    truth, guess, names = comparable(gold=gold, predicted=predicted, classes=classes)
    check_aligned(gold=truth, predicted=guess)
    if len(set(names.tolist())) != len(names):
        raise LopsError(f"classes is {names.tolist()}; name every class once")
    k = len(names)
    cells = codes("gold", truth, names) * k + codes("predicted", guess, names)
    return np.bincount(cells, minlength=k * k).reshape(k, k).astype(np.int64)
