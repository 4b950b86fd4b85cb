"""Selectors: the only thing a framework sees, ``selector(samples, pseudo_labels) -> Selection``."""

import warnings
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from lops_adapters.core import LopsWarning, Selection

Labels = Any  # a sequence or array of hashable class names; numpy's arrays are no typing.Sequence


class Selector(Protocol):
    """Chooses which pseudo-labelled samples to train on; gold labels never reach it."""

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Return positions into ``samples``, in the caller's order."""


class Corrected(Selection):
    """A selection that also corrects labels; its counts per class are of these.

    Attributes:
        labels: (n,) object, corrected.
        before: (n,) object, as they were.
    """

    labels: np.ndarray
    before: np.ndarray

    def __init__(self, selection: Selection, labels: np.ndarray, before: np.ndarray) -> None:
        super().__init__(
            selection.mask,
            selection.learnt_at,
            selection.confidence,
            selection.per_class,
            selection.rule,
            selection.stopped,
        )
        self.labels, self.before = labels, before


def corrected(selection: Selection, pseudo_labels: Labels) -> np.ndarray:
    """Return the (n,) object labels after the selection: its own, if it corrects them."""
    return selection.labels if isinstance(selection, Corrected) else objects(pseudo_labels)


def trusted_positions(selection: Selection, pseudo_labels: Labels) -> np.ndarray:
    """Return the (m,) int64 positions to train on: the kept ones, or all if under two classes.

    A LopsWarning names classes of which nothing is kept.

    >>> from lops_adapters.selection import keep_all
    >>> trusted_positions(keep_all(["a", "b"], ["x", "y"]), ["x", "y"]).tolist()
    [0, 1]
    """
    kept, labels = selection.kept, corrected(selection, pseudo_labels)
    present = {labels[i] for i in kept.tolist()}
    if len(present) < 2:
        message = (
            f"the selection keeps {len(kept)} samples of fewer than two classes; "
            f"this training takes all {len(labels)}"
        )
        warnings.warn(message, LopsWarning, stacklevel=2)
        return np.arange(len(labels))
    lost = [str(label) for label in dict.fromkeys(values(pseudo_labels)) if label not in present]
    if lost:
        message = (
            f"the selection keeps {len(kept)} of {len(labels)} samples, and no sample of "
            f"{', '.join(sorted(lost))}; the classifier cannot learn what it does not see"
        )
        warnings.warn(message, LopsWarning, stacklevel=2)
    return kept


def objects(labels: Labels) -> np.ndarray:
    """Return n labels as an (n,) object array, also if they are tuples."""
    array = np.empty(len(labels), dtype=object)
    array[:] = values(labels)
    return array


def values(labels: Sequence[Hashable]) -> Sequence[Hashable]:
    """Return labels as plain Python values, from a list, array, tensor or pandas column."""
    return labels.tolist() if hasattr(labels, "tolist") else labels
