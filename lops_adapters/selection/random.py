"""Random: a random choice of the size that another method keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.selection.ranked import Scored, Scorer, best, read_labels, selection_of
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector


def random_scorer(seed: int) -> Scorer:
    """Return a scorer whose scores are uniform random numbers in [0, 1)."""

    def scorer(samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> Scored:
        scores = np.random.default_rng(seed).random(len(codes))
        return Scored(scores, None, "no probe was trained")

    return scorer


def make(request: Request) -> Selector:
    """Return the selector of ``random``."""
    return request.ranked(random_scorer(request.seed))


def random_like(other: Selection, name: str, seed: int = 0) -> Selector:
    """Return a selector that keeps as many random samples per class as another selection.

    It is the control of that selection, made by the arm of this name. A class with fewer samples
    than that is kept whole, and the other classes give the rest.
    """

    def selector(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        classes, codes = read_labels(samples, pseudo_labels)
        scored = random_scorer(seed)(samples, codes, len(classes))
        reports = (other.per_class.get(label) for label in classes)
        wanted = np.array([0 if report is None else report.kept for report in reports])
        mask = best(scored.scores, codes, wanted, seed)
        rest = int(wanted.sum() - mask.sum())
        mask |= best(np.where(mask, -np.inf, scored.scores), codes, rest, seed)
        why = f"random, as many as {name} keeps"
        return selection_of(mask, scored, classes, codes, "random", why)

    return selector
