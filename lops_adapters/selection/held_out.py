"""Held-out predictions of a probe, at several checkpoints of its training."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lops_adapters.probes.base import Probe, Steady, cut
from lops_adapters.selection.folds import splits
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
    probe: Probe,
    samples: Sequence[Any],
    codes: np.ndarray,
    n_classes: int,
    *,
    seed: int,
    times: Sequence[float] = (),
    **cutting: Any,
) -> dict[float, np.ndarray]:
    """Predict every sample by a probe that trains on the other folds, at several checkpoints.

    If the probe stops early, its last predictions serve for the later times.

    Args:
        probe: trained from scratch once per fold.
        samples, codes, n_classes, seed, cutting: as for
            :func:`~lops_adapters.selection.folds.splits`.
        times: of the checkpoints, in epochs, ascending. Default: 1, 2, 4, ... and the last one, and
            some within the first epoch if the probe has them.

    Returns:
        Time in epochs -> (n, k) float32 probabilities.

    Raises:
        LopsError: what :func:`lops_adapters.selection.folds.splits` and the probe raise.

    """
    early, last = EARLY_LOOKS if probe.has_checkpoints else (), probe.max_epochs
    times = times or [*early, *(2.0**i for i in range((last - 1).bit_length())), float(last)]
    looks = {time: np.zeros((len(codes), n_classes), dtype=np.float32) for time in times}
    read = probe.read(samples)
    for rest, here in splits(samples, codes, n_classes, seed=seed, **cutting):
        texts = cut(read, rest), cut(read, here)
        predicted = _looks(probe, *texts, codes[rest], n_classes, seed, times)
        for time, probabilities in zip(times, predicted, strict=True):
            looks[time][here] = probabilities
    return looks


def trained_until(
    probe: Probe, read: Any, codes: np.ndarray, n_classes: int, seed: int, time: float
) -> Probe:
    """Return a copy of a probe as it was at a time of :func:`held_out`, in epochs.

    It is trained again on the samples as it reads them, which takes less memory than a copy per
    checkpoint.
    """
    prepared = probe.prepare(read, fit=True)
    for update in probe.updates(prepared, codes, n_classes, seed):
        if update.done >= max(1, round(time * update.per_epoch)):
            break
    return copy.deepcopy(probe)


def _looks(
    probe: Probe,
    rest: Any,
    here: Any,
    codes: np.ndarray,
    n_classes: int,
    seed: int,
    times: Sequence[float],
) -> Iterator[np.ndarray]:
    """Train on ``rest`` and yield the predictions for ``here`` at each of the times, ascending."""
    prepared = probe.prepare(rest, fit=True)
    asked, waiting = probe.prepare(here), list(times)
    for update in probe.updates(prepared, codes, n_classes, seed):
        while waiting and update.done >= max(1, round(waiting[0] * update.per_epoch)):
            yield probe.predict_prepared(asked)
            waiting.pop(0)
    for _ in waiting:
        yield probe.predict_prepared(asked)
