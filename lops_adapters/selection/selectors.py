"""Selectors: the only thing a framework sees, ``selector(samples, pseudo_labels) -> Selection``."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from lops_adapters.core import ClassReport, LearningOrder, LopsError, LopsWarning, Selection
from lops_adapters.probes.base import Probe, check_counts
from lops_adapters.selection.suggestions import Seen

log = logging.getLogger(__name__)
Labels = Any  # a sequence or array of hashable class names; numpy's arrays are no typing.Sequence


class Selector(Protocol):
    """Chooses which pseudo-labelled samples to train on; gold labels never reach it."""

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Return positions into ``samples``, in the caller's order."""


def keep_all(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
    """Keep everything: the Standard arm.

    >>> keep_all(["a", "b"], ["x", "y"]).kept.tolist()
    [0, 1]
    """
    if len(samples) != len(pseudo_labels):
        raise LopsError(
            f"found {len(samples)} samples and {len(pseudo_labels)} pseudo-labels; wanted one a sample"
        )
    counts: dict[Hashable, int] = {}
    for label in values(pseudo_labels):
        counts[label] = counts.get(label, 0) + 1
    reports = {
        label: ClassReport(count, count, 0, count, None, "everything is kept")
        for label, count in counts.items()
    }
    n = len(samples)
    return Selection(
        np.ones(n, dtype=bool),
        np.full(n, np.inf),
        np.zeros(n),
        reports,
        "keep-all",
        "nothing was watched",
    )


@dataclass
class Lops:
    """Learning-order-based selection: trains ``probe`` afresh on all samples and keeps those it
    learns first.

    Args:
        probe: any probe; each call starts it anew.
        tau: fraction of each class, see :class:`lops_adapters.core.LearningOrder`.
        rule: one of :data:`lops_adapters.core.RULES`.
        every: look after every so many updates instead of after every epoch.
        seed: of the probe and of ties.
        strict: raise where nothing was learnt in a class.
        skip_decided: predict only the samples whose answer can still matter; the selection is the
            same.
        online: watch the training pass itself, see :meth:`lops_adapters.probes.Probe.watch`; costs
            next to nothing, ranks worse.
        seen: told every snapshot, see :class:`lops_adapters.selection.Suggestions`.

    """

    probe: Probe
    tau: float = 0.5
    rule: str = "released"
    every: int | None = None
    seed: int = 0
    strict: bool = False
    skip_decided: bool = True
    classes: Sequence[Hashable] | None = field(default=None)
    online: bool = False
    seen: Seen | None = None

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Watch the probe until the rule has seen enough, and select.

        Raises:
            LopsError: as :class:`lops_adapters.core.LearningOrder` and the probe do; fewer than two
                classes among the pseudo-labels.

        """
        check_counts(self.seed, self.every)
        horizon = float(self.probe.max_epochs)
        per_epoch = 1
        if self.every is not None:
            per_epoch = len(samples) // self.every + 1  # more checkpoints than any batch size gives
        order = LearningOrder(
            pseudo_labels,
            tau=self.tau,
            rule=self.rule,
            max_checkpoints=self.probe.max_epochs * per_epoch,
            classes=self.classes,
            horizon=horizon,
            seed=self.seed,
            strict=self.strict,
        )
        codes = encode(pseudo_labels, order.classes)
        watched = self.probe.watch(
            samples,
            codes,
            len(order.classes),
            seed=self.seed,
            every=self.every,
            undecided=(lambda: order.undecided) if self.skip_decided and not self.online else None,
            online=self.online,
        )
        for snapshot in watched:
            order.observe(
                snapshot.probabilities, time=snapshot.time, positions=snapshot.positions, close=True
            )
            if self.seen is not None:
                self.seen(snapshot.probabilities, snapshot.positions)
            if order.done:
                break
        if not order.times:
            raise LopsError(
                f"every is {self.every}, and the probe's training has fewer updates than that; wanted a smaller number, or None for once "
                "an epoch"
            )
        selection = order.select()
        log.info("%s", selection)
        return selection


def trusted_positions(selection: Selection, pseudo_labels: Labels) -> np.ndarray:
    """Return the (m,) int64 positions to train on: the kept ones, or all where too few classes are
    left to train a classifier.

    >>> trusted_positions(keep_all(["a", "b"], ["x", "y"]), ["x", "y"]).tolist()
    [0, 1]
    """
    kept, labels = selection.kept, values(pseudo_labels)
    if len({labels[i] for i in kept.tolist()}) < 2:
        message = f"the selection keeps {len(kept)} samples of fewer than two classes; this training takes all {len(labels)}"
        warnings.warn(message, LopsWarning, stacklevel=2)
        return np.arange(len(labels))
    return kept


def encode(labels: Labels, classes: Sequence[Hashable]) -> np.ndarray:
    """Codes 0..k-1 of labels, (n,) int64, by their place among the classes."""
    lookup = {label: code for code, label in enumerate(classes)}
    return np.fromiter(
        (lookup[label] for label in values(labels)), dtype=np.int64, count=len(labels)
    )


def values(labels: Sequence[Hashable]) -> Sequence[Hashable]:
    """Labels as plain Python values, from a list, array, tensor or pandas column."""
    return labels.tolist() if hasattr(labels, "tolist") else labels
