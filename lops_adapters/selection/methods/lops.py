"""Learning order by a rule of the core, checked after every epoch or every few updates."""

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lops_adapters.core import LearningOrder, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Probe, check_counts
from lops_adapters.selection.committee.likelihoods import class_shares, likelihoods
from lops_adapters.selection.methods.confidences import no_checkpoint
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Select, encode
from lops_adapters.selection.suggestions import Listener

log = logging.getLogger(__name__)


@dataclass
class Lops:
    """Trains ``probe`` on all samples and keeps those it learns first.

    It predicts only the samples that can still change the selection.

    Args:
        probe: any probe; each call trains it from scratch.
        keep: fraction of each class, or class -> fraction: tau of
            :class:`lops_adapters.core.LearningOrder`.
        method: one of :data:`lops_adapters.core.RULES`.
        classes: in the order of their codes; default: the sorted distinct pseudo-labels.
        every, seed, strict, seen: see :func:`lops_adapters.selection.build`.
        corrected: predictions count after division by the classes' shares of the pseudo-labels, see
            :func:`~.likelihoods.likelihoods`; the paper does not divide.
        online: use the outputs of the training pass, see
            :meth:`lops_adapters.probes.Probe.watch`; costs next to nothing, ranks worse.
    """

    probe: Probe
    keep: float | Mapping[Any, float] = 0.5
    method: str = "released"
    every: int | None = None
    seed: int = 0
    strict: bool = False
    corrected: bool = False
    online: bool = False
    seen: Listener | None = None
    classes: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        self.probe.check_checkpoints()

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Train the probe until the rule is decided, and select.

        Raises what :class:`lops_adapters.core.LearningOrder` and the probe raise.
        """
        check_counts(self.seed, self.every)
        # More checkpoints than any batch size gives.
        per_epoch = 1 if self.every is None else len(samples) // self.every + 1
        order = LearningOrder(
            pseudo_labels,
            tau=self.keep,
            rule=self.method,
            classes=self.classes,
            max_checkpoints=self.probe.max_epochs * per_epoch,
            horizon=float(self.probe.max_epochs),
            seed=self.seed,
            strict=self.strict,
        )
        codes, k = encode(pseudo_labels, order.classes), len(order.classes)
        snapshots = self.probe.watch(
            samples,
            codes,
            k,
            seed=self.seed,
            every=self.every,
            undecided=None if self.online else lambda: order.undecided,
            online=self.online,
        )
        of_labels = class_shares(codes, k)
        for time, predicted, positions in snapshots:
            probabilities = likelihoods(predicted, of_labels) if self.corrected else predicted
            order.observe(probabilities, time=time, positions=positions, close=True)
            if self.seen is not None:
                self.seen(probabilities, positions)
            if order.done:
                break
        if not order.times:
            raise no_checkpoint(self.every)
        selection = order.select()
        kept, rule = len(selection.kept), selection.rule
        log.info("kept %d of %d (rule %s): %s", kept, len(codes), rule, selection.stopped)
        return selection


def make(request: Request, online: bool = False) -> Select:
    """Return the method of a rule."""
    rule = Lops(
        request.probe,
        keep=request.keep,
        method=request.method,
        every=request.every,
        seed=request.seed,
        strict=request.strict,
        corrected=isinstance(request.keep, Mapping),
        online=online,
    )

    def select(labelled: Labelled, listener: Listener | None = None) -> Selection:
        watched = replace(rule, seen=listener, classes=labelled.classes)
        return watched(labelled.samples, labelled.labels)

    return select
