"""Held-out predictions of a probe, at several checkpoints of its training."""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters.probes.base import Probe, Steady, cut
from lops_adapters.selection.folds import Folded
from lops_adapters.selection.likelihoods import class_shares, likelihoods, preferred

EARLY_LOOKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # in epochs; then 1, 2, 4, ... and the last one
LEAST_UPDATES = 1000  # 500 rank worse where one label is applied to most samples


def best_checkpoint(looks: Mapping[float, np.ndarray], codes: np.ndarray) -> float:
    """Return the checkpoint at which most pseudo-labels are preferred, the later of ties.

    Before it the probe has learnt too little, after it the probe memorises wrong labels. Small
    tables have ties, and early probabilities are nearly even. ``looks`` are of :func:`held_out`.
    """

    def agreed(time: float) -> int:
        likely = likelihoods(looks[time], class_shares(codes, looks[time].shape[1]))
        return int(preferred(likely, codes).sum())

    return max(looks, key=lambda time: (agreed(time), time))


def long_enough(probe: Probe, n: int) -> Probe:
    """Return a probe that makes at least ``LEAST_UPDATES`` updates on n samples.

    With the default four epochs, a linear classifier of a small data set predicts little more than
    how often each label occurs. Other probes are returned as they are.
    """
    if not isinstance(probe, Steady):
        return probe
    longer = copy.copy(probe)  # shares the encoder and its vectors
    longer.epochs = max(probe.epochs, math.ceil(LEAST_UPDATES / -(-n // probe.batch_size)))
    return longer


def held_out(
    probe: Probe, labelled: Folded, times: Sequence[float] = (), read: Any = None
) -> dict[float, np.ndarray]:
    """Predict every sample by a probe that trains on the other folds, at several checkpoints.

    If the probe stops early, its last predictions serve for the later times. ``times`` of the
    checkpoints are in epochs, ascending; default: 1, 2, 4, ... and the last one, and some within
    the first epoch if the probe has them. ``read`` are the samples as another member reads them, if
    the probe takes that. Returned are time -> (n, k) float32 probabilities.
    """
    early, last = EARLY_LOOKS if probe.has_checkpoints else (), probe.max_epochs
    times = times or [*early, *(2.0**i for i in range((last - 1).bit_length())), float(last)]
    codes, k, seed = labelled.codes, len(labelled.classes), labelled.seed
    looks = {time: np.zeros((len(codes), k), dtype=np.float32) for time in times}
    read = probe.read(labelled.samples if read is None else read)
    for rest, here in labelled.splits():
        prepared = probe.prepare(cut(read, rest), fit=True)
        asked = probe.prepare(cut(read, here))
        for time in _reached(probe, prepared, codes[rest], k, seed, times):
            looks[time][here] = probe.predict_prepared(asked)
    return looks


def trained_until(
    probe: Probe, read: Any, codes: np.ndarray, n_classes: int, seed: int, time: float
) -> Probe:
    """Return a copy of a probe as it was at a time of :func:`held_out`, in epochs.

    It is trained again on the samples as it reads them, which takes less memory than a copy per
    checkpoint.
    """
    next(_reached(probe, probe.prepare(read, fit=True), codes, n_classes, seed, [time]))
    return copy.deepcopy(probe)


def _reached(
    probe: Probe,
    prepared: Any,
    codes: np.ndarray,
    n_classes: int,
    seed: int,
    times: Sequence[float],
) -> Iterator[float]:
    """Train a probe and yield each of the times, ascending, when the training has reached it."""
    waiting = list(times)
    for update in probe.updates(prepared, codes, n_classes, seed):
        while waiting and update.done >= max(1, round(waiting[0] * update.per_epoch)):
            yield waiting.pop(0)
    yield from waiting
