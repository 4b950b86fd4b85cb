"""Standard: keep everything, the baseline without a selection."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from lops_adapters.core import ClassReport, LopsError, Selection
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector, values


def keep_all(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
    """Keep everything: the Standard arm.

    >>> keep_all(["a", "b"], ["x", "y"]).kept.tolist()
    [0, 1]
    """
    n = len(samples)
    if n != len(pseudo_labels):
        raise LopsError(
            f"found {n} samples and {len(pseudo_labels)} pseudo-labels; wanted one per sample"
        )
    counts: dict[Hashable, int] = {}
    for label in values(pseudo_labels):
        counts[label] = counts.get(label, 0) + 1
    reports = {
        label: ClassReport(count, count, 0, count, None, "everything is kept")
        for label, count in counts.items()
    }
    mask, never = np.ones(n, dtype=bool), np.full(n, np.inf)
    return Selection(mask, never, np.zeros(n), reports, "keep-all", "no probe was trained")


def make(request: Request) -> Selector:
    """Return the selector of ``standard``."""
    return keep_all
