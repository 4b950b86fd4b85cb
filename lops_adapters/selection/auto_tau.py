"""``tau="auto"``: the share of all pseudo-labels that held-out probes agree with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lops_adapters.core import Selection
from lops_adapters.probes.base import Probe
from lops_adapters.selection.automatic import Automatic
from lops_adapters.selection.selectors import Labels, Selector

AUTO = "auto"


@dataclass
class AutoTau:
    """Finds tau by cross-validation and selects by a method with this tau.

    The share is that of :class:`~lops_adapters.selection.automatic.Automatic`; the method decides
    which samples are kept. A method that keeps the same share per class spreads it evenly.

    Args:
        probe: trained from scratch once per fold.
        make: (tau) -> selector.
        seed: of folds and trainings.
        quiet: no progress bar.

    """

    probe: Probe
    make: Callable[[float], Selector]
    seed: int = 0
    quiet: bool = True

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Find tau and select.

        Raises:
            LopsError: fewer samples than folds, and what the method raises.

        """
        agreed = Automatic(self.probe, self.seed, self.quiet)(samples, pseudo_labels)
        tau = max(1, len(agreed.kept)) / len(agreed.mask)
        selection = self.make(tau)(samples, pseudo_labels)
        selection.stopped = f"tau {tau:.3f} by {agreed.stopped}; {selection.stopped}"
        return selection
