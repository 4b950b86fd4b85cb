"""Optimal: keep what the gold labels confirm, the upper bound for all other methods."""

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.ranked import Scored, selection_of
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Select, values
from lops_adapters.selection.suggestions import Listener


def make(request: Request) -> Select:
    """Return the method ``optimal`` (the paper's OptimalFilter); no other sees gold labels.

    It keeps every sample whose pseudo-label is its gold label; the confidence is 1 or 0. When
    selecting, another number of gold labels than of samples is a LopsError.
    """
    gold: Labels = request.gold

    def select(labelled: Labelled, _: Listener | None = None) -> Selection:
        classes, codes = labelled.classes, labelled.codes
        if len(gold) != len(codes):
            raise LopsError(
                f"found {len(gold)} gold labels and {len(codes)} samples; "
                "wanted one gold label per sample, in order"
            )
        pairs = zip(labelled.labels, values(gold), strict=True)
        right = np.array([label == truth for label, truth in pairs], dtype=bool)
        scored = Scored(right.astype(np.float64), None, "compared with gold labels")
        why = "pseudo-label is the gold label"
        return selection_of(right, scored, classes, codes, "optimal", why)

    return select
