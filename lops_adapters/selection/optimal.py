"""Optimal: keep what the gold labels confirm, the upper bound for all other methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.selection.ranked import Scored, read_labels, selection_of
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector, values


@dataclass
class Optimal:
    """Keeps every sample whose pseudo-label is its gold label (the paper's OptimalFilter).

    No other selector sees gold labels.

    Args:
        gold: one gold label per sample, in the order of the samples.

    """

    gold: Labels

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Compare and select; the confidence is 1 where right, 0 where wrong.

        Raises:
            LopsError: another number of gold labels than of samples.

        """
        classes, codes = read_labels(samples, pseudo_labels)
        if len(self.gold) != len(codes):
            raise LopsError(
                f"found {len(self.gold)} gold labels and {len(codes)} samples; "
                "wanted one gold label per sample, in order"
            )
        pairs = zip(values(pseudo_labels), values(self.gold), strict=True)
        right = np.array([given == truth for given, truth in pairs], dtype=bool)
        scored = Scored(right.astype(np.float64), None, "compared with gold labels")
        why = "pseudo-label is the gold label"
        return selection_of(right, scored, classes, codes, "optimal", why)


def make(request: Request) -> Selector:
    """Return the selector of ``optimal``."""
    return Optimal(request.gold)
