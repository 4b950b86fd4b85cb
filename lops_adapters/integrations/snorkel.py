"""Labels from a Snorkel label model, or from any class probabilities, ready to select from::

    from lops_adapters.integrations.snorkel import label_model

    weak = label_model(matrix, classes)              # (n, m) votes of m labelling functions
    selection = select(weak.of(texts), weak.labels)
    weak.positions[selection.kept]                   # rows to train on, of all n

Rows without a label are left out. Tested with Snorkel 0.10.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.probes.torch_tools import import_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSTAINED = -1  # a vote for no class, as Snorkel writes it
_TIE = 1e-5  # probabilities nearer to each other are rounding; Snorkel's own bound


@dataclass(frozen=True)
class WeakLabels:
    """The rows that have a label, and their labels.

    Attributes:
        positions: (m,) int64, sorted, of the n rows.
        labels: list of m class names.
        probabilities: (m, k) float64, rows sum to 1.

    """

    positions: np.ndarray
    labels: list[Hashable]
    probabilities: np.ndarray

    def of(self, rows: Sequence[Any]) -> list[Any]:
        """Return the labelled ones of all n rows, such as their texts."""
        found = rows.tolist() if hasattr(rows, "tolist") else rows
        return [found[position] for position in self.positions.tolist()]


def weak_labels(probabilities: Any, classes: Sequence[Hashable]) -> WeakLabels:
    """Return the most probable class of each row, without rows that have none.

    Args:
        probabilities: (n, k) class probabilities or votes, at least 0; a row of zeros or NaN and a
            row whose largest numbers are equal have no label.
        classes: k class names, in the order of the columns.

    Raises:
        LopsError: no such matrix, negative numbers, or no row with a label.

    >>> weak = weak_labels([[0.9, 0.1], [0.5, 0.5], [0, 0], [1, 3]], ["sports", "money"])
    >>> weak.positions.tolist(), weak.labels
    ([0, 3], ['sports', 'money'])

    """
    names = list(classes)
    found = np.asarray(probabilities, dtype=np.float64)
    if found.ndim != 2 or found.shape[1] != len(names) or len(names) < 2:
        raise LopsError(
            f"found probabilities of shape {found.shape} and {len(names)} classes; wanted a row "
            "per sample and a column per class, of at least 2 classes"
        )
    if (found < 0).any() or np.isinf(found).any():
        raise LopsError("probabilities hold negative or infinite numbers; wanted at least 0")
    total = found.sum(axis=1)
    shares = found / np.where(total > 0, total, 1)[:, None]
    second, first = np.sort(np.nan_to_num(shares), axis=1)[:, -2:].T
    positions = np.flatnonzero((total > 0) & (first - second > _TIE))
    if not len(positions):
        raise LopsError(
            f"none of {len(found)} rows has a most probable class; wanted rows with a label"
        )
    codes = shares[positions].argmax(axis=1)
    return WeakLabels(positions, [names[code] for code in codes], shares[positions])


def label_model(
    matrix: Any, classes: Sequence[Hashable], *, model: Any = None, epochs: int = 500, seed: int = 0
) -> WeakLabels:
    """Train Snorkel's label model on votes and return its labels.

    Rows on which all functions abstain have no label, nor rows whose most probable classes tie. The
    global random generators keep their states.

    Args:
        matrix: (n, m) int votes of m labelling functions, at least 3: codes 0..k-1, -1 abstains.
        classes: k class names, in the order of the codes.
        model: a trained ``LabelModel`` to use instead.
        epochs, seed: of its training.

    Raises:
        LopsError: Snorkel is not installed, votes for other classes, fewer than 3 functions, and
            what :func:`weak_labels` raises.

    """
    votes = np.asarray(matrix)
    if votes.ndim != 2 or votes.dtype.kind not in "iu" or not votes.size:
        raise LopsError(
            f"votes are of type {votes.dtype} and shape {votes.shape}; wanted a matrix of class "
            "codes, a row per sample and a column per labelling function"
        )
    if votes.min() < ABSTAINED or votes.max() >= len(classes):
        raise LopsError(
            f"votes run from {votes.min()} to {votes.max()}; wanted 0 to {len(classes) - 1}, or "
            f"{ABSTAINED} where a function abstains"
        )
    with _generators_kept():  # its import draws a number, too
        library = extras.load("snorkel.labeling.model", "The label model")
    if model is None:
        if votes.shape[1] < 3:
            raise LopsError(
                f"found {votes.shape[1]} labelling functions; Snorkel's label model needs at least "
                "3: give their votes to weak_labels instead, counted per class"
            )
        with _generators_kept():
            model = library.LabelModel(cardinality=len(classes), verbose=False)
            model.fit(votes, n_epochs=epochs, seed=seed, progress_bar=False)
    probabilities = np.array(model.predict_proba(votes), dtype=np.float64)
    probabilities[(votes == ABSTAINED).all(axis=1)] = 0
    return weak_labels(probabilities, classes)


@contextmanager
def _generators_kept() -> Iterator[None]:
    """Restore the global generators, which Snorkel seeds."""
    torch = import_torch()
    plain, numpys, torchs = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(plain)
        np.random.set_state(numpys)
        torch.set_rng_state(torchs)
