"""``tau="auto"``: the share of all pseudo-labels that held-out probes agree with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lops_adapters.core import Selection
from lops_adapters.selection.selectors import Labels, Selector

AUTO = "auto"
FOLDS = 3  # of the cross-validation


@dataclass
class AutoTau:
    """Finds tau by cross-validation and selects by a method with this tau.

    The method decides which samples are kept. A method that keeps the same share per class spreads
    it evenly. Fewer samples than folds cannot be judged: tau is 1.

    Args:
        share: selector whose kept share becomes tau, usually
            :class:`~lops_adapters.selection.automatic.Automatic`.
        make: (tau) -> selector.

    """

    share: Selector
    make: Callable[[float], Selector]

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Find tau and select.

        Raises:
            LopsError: what share and method raise.

        """
        tau, why = 1.0, "too few samples"
        if len(samples) >= FOLDS:
            agreed = self.share(samples, pseudo_labels)
            tau, why = max(1, len(agreed.kept)) / len(agreed.mask), agreed.stopped
        selection = self.make(tau)(samples, pseudo_labels)
        selection.stopped = f"tau {tau:.3f} by {why}; {selection.stopped}"
        return selection
