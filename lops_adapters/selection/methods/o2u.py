"""O2U-Net: samples whose loss stays high while the learning rate goes up and down."""

from dataclasses import dataclass, replace

import numpy as np

from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Stage, steady
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.method import Method, check_variant, option
from lops_adapters.selection.methods.ranked import keep_best
from lops_adapters.selection.outcome import Outcome, Predicted

VARIANTS = ("paper", "released")
CYCLES, CYCLE_EPOCHS, LOWEST_RATE = 2, 3, 0.01  # variant paper; the paper gives no numbers
RELEASED_EPOCHS = (1, 3)


def cyclic(done: int, per_epoch: int) -> float:
    """Return the rate of variant ``paper``: it falls per epoch to ``LOWEST_RATE``, then restarts.

    >>> [round(cyclic(epoch * 10 + 5, 10), 2) for epoch in range(6)]
    [0.67, 0.34, 0.01, 0.67, 0.34, 0.01]
    """
    through = (1 + done // per_epoch % CYCLE_EPOCHS) / CYCLE_EPOCHS
    return (1 - through) + through * LOWEST_RATE


class Losses:
    """Averages, over epochs of n samples, each sample's loss minus the mean loss of that epoch."""

    def __init__(self, codes: np.ndarray) -> None:
        self._codes = codes
        self._sums, self._epoch = np.zeros(len(codes)), np.zeros(len(codes))
        self._noted, self._epochs = 0, 0

    def note(self, positions: np.ndarray, probabilities: np.ndarray) -> None:
        """Record the (b, k) probabilities of a batch; the loss is the cross-entropy."""
        label_probability = probabilities[np.arange(len(positions)), self._codes[positions]]
        self._epoch[positions] = -np.log(np.maximum(label_probability, 1e-12))
        self._noted += len(positions)
        if self._noted == len(self._sums):
            self._sums += self._epoch - self._epoch.mean()
            self._noted, self._epochs = 0, self._epochs + 1

    def mean(self) -> np.ndarray:
        """Return the means over all whole epochs, (n,) float64."""
        return self._sums / self._epochs


def stages_of(variant: str, losses: Losses, own_epochs: int) -> list[Stage]:
    """Return two stages; the second has a fresh optimizer, half the batch and records the losses.

    ``paper``: the probe's own number of epochs at its learning rate, then cycles (:func:`cyclic`).
    ``released``: one epoch, then three; in each stage the rate falls linearly to zero.
    """
    if variant == "paper":
        return [Stage(own_epochs, steady), Stage(CYCLES * CYCLE_EPOCHS, cyclic, 0.5, losses.note)]
    first, second = RELEASED_EPOCHS
    return [
        Stage(first, lambda done, per_epoch: 1.0 - done / (first * per_epoch)),
        Stage(second, lambda done, per_epoch: 1.0 - done / (second * per_epoch), 0.5, losses.note),
    ]


@dataclass(frozen=True)
class O2UNet(Method):
    """Ranks by minus the mean loss of the second stage; the predictions are that stage's outputs.

    The loss is normalised as in O2U-Net, by the mean of its epoch. Every sample occurs once per
    epoch, so this shifts all scores alike and never changes the selection.
    """

    variant: str = option(VARIANTS[0])

    def check(self, choice: Choice) -> None:
        check_variant(self.variant, VARIANTS)

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        codes, probe = labelled.codes, choice.classifier
        losses, predicted = Losses(codes), Predicted(len(codes))
        stages = stages_of(self.variant, losses, probe.max_epochs)

        def note(where: np.ndarray, probabilities: np.ndarray) -> None:
            losses.note(where, probabilities)
            predicted.note(probabilities, where)

        stages[-1] = replace(stages[-1], heard=note)
        probe.fit(labelled.samples, codes, len(labelled.classes), seed=choice.seed, stages=stages)
        epochs = sum(stage.epochs for stage in stages)
        stopped = f"{epochs} epochs, losses of the last {stages[-1].epochs}"
        return keep_best(labelled, choice, -losses.mean(), stopped, predicted=predicted)
