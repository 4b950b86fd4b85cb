"""Standard: keep everything, the baseline without a selection."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.selection.ranked import Scored, selection_of
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Select, encode, values


def keep_all(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
    """Keep everything: the Standard arm.

    >>> keep_all(["a", "b"], ["x", "y"]).kept.tolist()
    [0, 1]
    """
    if len(samples) != len(pseudo_labels):
        raise LopsError(
            f"found {len(samples)} samples and {len(pseudo_labels)} pseudo-labels; wanted one per "
            "sample"
        )
    labels = values(pseudo_labels)
    classes, scores = list(dict.fromkeys(labels)), np.zeros(len(samples))
    scored = Scored(scores, None, "no probe was trained")
    codes, why = encode(labels, classes), "everything is kept"
    return selection_of(scores == 0, scored, classes, codes, "standard", why)


def make(request: Request) -> Select:
    """Return the method ``standard``."""
    return lambda labelled, listener=None: keep_all(labelled.samples, labelled.labels)
