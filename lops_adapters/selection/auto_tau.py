"""``tau="auto"``: the share of all pseudo-labels that held-out probes agree with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lops_adapters.core import Selection
from lops_adapters.selection.selectors import Labels, Selector

AUTO = "auto"


@dataclass
class AutoTau:
    """Finds tau by cross-validation and selects by a method with this tau.

    The method decides which samples are kept. A method that keeps the same share per class spreads
    it evenly.

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
            LopsError: fewer samples than folds, and what the method raises.

        """
        agreed = self.share(samples, pseudo_labels)
        tau = max(1, len(agreed.kept)) / len(agreed.mask)
        selection = self.make(tau)(samples, pseudo_labels)
        selection.stopped = f"tau {tau:.3f} by {agreed.stopped}; {selection.stopped}"
        return selection
