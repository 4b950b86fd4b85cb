"""Learning order by a rule of the core, checked after every epoch or every few updates."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lops_adapters.core import LearningOrder, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Probe, check_counts
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.committee.likelihoods import class_shares, likelihoods
from lops_adapters.selection.method import Method
from lops_adapters.selection.methods.confidences import no_checkpoint
from lops_adapters.selection.outcome import Outcome, Predicted
from lops_adapters.selection.selectors import Labels

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
        every, seed, strict: see :func:`lops_adapters.selection.build`.
        corrected: predictions count after division by the classes' shares of the pseudo-labels, see
            :func:`~.likelihoods.likelihoods`; the paper does not divide.
    """

    probe: Probe
    keep: float | Mapping[Any, float] = 0.5
    method: str = "released"
    every: int | None = None
    seed: int = 0
    strict: bool = False
    corrected: bool = False

    def __post_init__(self) -> None:
        self.probe.check_checkpoints()

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        labelled = Labelled.of(samples, pseudo_labels)
        return self.outcome(labelled).selection(labelled.classes)

    def outcome(self, labelled: Labelled) -> Outcome:
        """Select among samples whose labels are read; raises as a call."""
        check_counts(self.seed, self.every)
        samples, codes, k = labelled.samples, labelled.codes, len(labelled.classes)
        # More checkpoints than any batch size gives.
        per_epoch = 1 if self.every is None else len(samples) // self.every + 1
        order = LearningOrder(
            labelled.labels,
            tau=self.keep,
            rule=self.method,
            classes=labelled.classes,
            max_checkpoints=self.probe.max_epochs * per_epoch,
            horizon=float(self.probe.max_epochs),
            seed=self.seed,
            strict=self.strict,
        )
        snapshots = self.probe.watch(
            samples, codes, k, seed=self.seed, every=self.every, undecided=lambda: order.undecided
        )
        of_labels, last = class_shares(codes, k), Predicted(len(codes))
        for time, predicted, positions in snapshots:
            probabilities = likelihoods(predicted, of_labels) if self.corrected else predicted
            order.observe(probabilities, time=time, positions=positions, close=True)
            last.note(probabilities, positions)
            if order.done:
                break
        if not order.times:
            raise no_checkpoint(self.every)
        one = order.select()
        log.info("kept %d of %d (rule %s): %s", len(one.kept), len(codes), one.rule, one.stopped)
        return Outcome.of_order(one, codes, last)


class Rule(Method):
    """A rule of learning order."""

    takes_n, checkpoints, timed, warns = False, True, True, True

    def check_probe(self, choice: Choice) -> None:
        super().check_probe(choice)
        choice.classifier.check_checkpoints()

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        rule = Lops(
            choice.classifier,
            keep=choice.keep,
            method=self.name,
            every=choice.every,
            seed=choice.seed,
            strict=choice.strict,
            corrected=isinstance(choice.keep, Mapping),
        )
        return rule.outcome(labelled)
