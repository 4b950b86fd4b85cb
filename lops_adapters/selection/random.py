"""Random: a random choice of the size that another method keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.selection.ranked import Scored, Scorer
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Selector


def random_scorer(seed: int) -> Scorer:
    """Return a scorer whose scores are uniform random numbers in [0, 1)."""

    def scorer(samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> Scored:
        scores = np.random.default_rng(seed).random(len(codes))
        return Scored(scores, None, "no probe was trained")

    return scorer


def make(request: Request) -> Selector:
    """Return the selector of ``random``."""
    return request.ranked(random_scorer(request.seed))
