"""Soft labels from Snorkel's label model, ready to select from::

    from lops_adapters.integrations.snorkel import label_model

    selection = select(texts, soft_labels=label_model(votes, classes))

Texts on which all labelling functions abstain are neither kept nor judged. Tested with Snorkel
0.10.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.encoders.torch_tools import import_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

ABSTAINED = -1  # a vote for no class, as Snorkel writes it
_TIE = 1e-5  # probabilities nearer to each other are equal to Snorkel


def label_model(
    votes: Any, classes: Sequence[Hashable], *, model: Any = None, epochs: int = 500, seed: int = 0
) -> Any:
    """Train Snorkel's label model on votes and return its probabilities.

    The global random generators keep their states.

    Args:
        votes: (n, m) int votes of m labelling functions, at least 3: codes 0..k-1, -1 abstains.
        classes: k class names, in the order of the codes.
        model: a trained ``LabelModel``, or a voter of Snorkel, to use instead.
        epochs, seed: of its training.

    Returns:
        A pandas DataFrame of n rows with a column of probabilities per class, as ``select`` takes
        for ``soft_labels``. A row is all zero if every function abstains, or if its most probable
        classes tie.

    Raises:
        LopsError: Snorkel is not installed, no matrix of votes, votes for other classes, or fewer
            than 3 functions.

    """
    matrix = np.asarray(votes)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iu" or not matrix.size:
        raise LopsError(
            f"votes are of type {matrix.dtype} and shape {matrix.shape}; wanted a matrix of class "
            "codes, a row per text and a column per labelling function"
        )
    if matrix.min() < ABSTAINED or matrix.max() >= len(classes):
        raise LopsError(
            f"votes run from {matrix.min()} to {matrix.max()}; wanted 0 to {len(classes) - 1}, or "
            f"{ABSTAINED} where a function abstains"
        )
    if model is None and matrix.shape[1] < 3:
        raise LopsError(
            f"found {matrix.shape[1]} labelling functions; Snorkel's label model needs at least 3: "
            "pass model=MajorityLabelVoter(cardinality=...), or more functions"
        )
    with _generators_kept():  # the import of Snorkel draws a number, too
        library = extras.load("snorkel.labeling.model", "The label model")
        if model is None:
            model = library.LabelModel(cardinality=len(classes), verbose=False)
            model.fit(matrix, n_epochs=epochs, seed=seed, progress_bar=False)
    found = np.array(model.predict_proba(matrix), dtype=np.float64)
    second, first = np.sort(found, axis=1)[:, -2:].T
    found[(matrix == ABSTAINED).all(axis=1) | (first - second <= _TIE)] = 0
    return extras.load("pandas", "A table of soft labels").DataFrame(found, columns=list(classes))


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
