"""Random: as many as another method keeps, whichever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.selection.ranked import Scored, Scorer


def random_scorer(seed: int) -> Scorer:
    """Return a scorer whose scores are uniform random numbers in [0, 1)."""

    def scorer(samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> Scored:
        return Scored(np.random.default_rng(seed).random(len(codes)), None, "nothing was watched")

    return scorer
