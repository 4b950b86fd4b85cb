"""Confidences at work: one watched training, shown to one or several of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Probe
from lops_adapters.selection.confidences import CONFIDENCES, Confidence
from lops_adapters.selection.ranked import Scored
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Select
from lops_adapters.selection.suggestions import Listener


def watch(
    probe: Probe,
    samples: Sequence[Any],
    codes: Sequence[int] | np.ndarray,
    n_classes: int,
    confidences: Sequence[Confidence],
    *,
    seed: int,
    every: int | None,
    online: bool = False,
    seen: Listener | None = None,
) -> int:
    """Train a probe to the end, show every snapshot to all; return the number of checkpoints.

    Raises:
        LopsError: ``every`` beyond the training, a prediction of NaN, a confidence that compares
            checkpoints of a probe with a single one, and what the probe raises.
    """
    if any(confidence.needs_checkpoints for confidence in confidences):
        probe.check_checkpoints()
    checkpoints = 0
    for snapshot in probe.watch(samples, codes, n_classes, seed=seed, every=every, online=online):
        if np.isnan(snapshot.probabilities).any():
            raise LopsError(
                f"the probe predicts NaN at time {snapshot.time}: its training has diverged; "
                "lower its learning rate"
            )
        for confidence in confidences:
            confidence.observe(snapshot)
        if seen is not None:
            seen(snapshot.probabilities, snapshot.positions)
        checkpoints += 1
    if not checkpoints:
        raise no_checkpoint(every)
    return checkpoints


def no_checkpoint(every: int | None) -> LopsError:
    """Return the error of a training that ends before its first checkpoint."""
    return LopsError(
        f"{typed('every')} is {every}, and the probe's training has fewer updates than that; "
        "wanted a smaller number"
    )


def score(
    probe: Probe,
    samples: Sequence[Any],
    codes: Sequence[int] | np.ndarray,
    n_classes: int,
    confidences: Sequence[str],
    *,
    seed: int = 0,
    every: int | None = None,
    online: bool = False,
) -> dict[str, np.ndarray]:
    """Train a probe once and score all samples by several confidences.

    Args:
        probe, samples, codes, n_classes, seed, every, online: as for
            :meth:`lops_adapters.probes.Probe.watch`.
        confidences: names from :data:`CONFIDENCES`.

    Returns:
        Name -> (n,) float64 scores, higher is more trusted.

    Raises:
        LopsError: an unknown name, and what :func:`watch` raises.
    """
    unknown = [name for name in confidences if name not in CONFIDENCES]
    if unknown:
        raise LopsError(f"confidence is {unknown[0]!r}; wanted some of {', '.join(CONFIDENCES)}")
    scores = {name: CONFIDENCES[name](np.asarray(codes), n_classes) for name in confidences}
    watched = list(scores.values())
    watch(probe, samples, codes, n_classes, watched, seed=seed, every=every, online=online)
    return {name: confidence.scores() for name, confidence in scores.items()}


def make(request: Request, online: bool = False) -> Select:
    """Return what ranks by the confidence of this name, after one watched training."""
    probe, confidence = request.probe, CONFIDENCES[request.method]
    asked: dict[str, Any] = {"seed": request.seed, "every": request.every, "online": online}
    if confidence.needs_checkpoints:
        probe.check_checkpoints()

    def scorer(labelled: Labelled, listener: Listener | None) -> Scored:
        codes, k = labelled.codes, len(labelled.classes)
        scores = confidence(codes, k)
        checkpoints = watch(probe, labelled.samples, codes, k, [scores], seen=listener, **asked)
        stopped = f"trained to the end, {checkpoints} checkpoints"
        return Scored(scores.scores(), scores.learnt_at(), stopped)

    return request.ranked(scorer)
