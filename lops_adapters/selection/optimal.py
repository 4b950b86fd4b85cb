"""Optimal: keep what the gold labels confirm, the upper bound for all other methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.selection.ranked import Scored, read_labels, selection_of
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector, values


def make(request: Request) -> Selector:
    """Return the selector of ``optimal`` (the paper's OptimalFilter); no other sees gold labels.

    It keeps every sample whose pseudo-label is its gold label; the confidence is 1 or 0. When
    selecting, another number of gold labels than of samples is a LopsError.
    """
    gold: Labels = request.gold

    def selector(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        classes, codes = read_labels(samples, pseudo_labels)
        if len(gold) != len(codes):
            raise LopsError(
                f"found {len(gold)} gold labels and {len(codes)} samples; "
                "wanted one gold label per sample, in order"
            )
        pairs = zip(values(pseudo_labels), values(gold), strict=True)
        right = np.array([label == truth for label, truth in pairs], dtype=bool)
        scored = Scored(right.astype(np.float64), None, "compared with gold labels")
        why = "pseudo-label is the gold label"
        return selection_of(right, scored, classes, codes, "optimal", why)

    return selector
