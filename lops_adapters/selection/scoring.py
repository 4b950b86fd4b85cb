"""Confidences at work: one watched training, shown to one or several of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe
from lops_adapters.selection.confidences import Confidence
from lops_adapters.selection.ranked import Scored
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Selector
from lops_adapters.selection.suggestions import Seen


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
    seen: Seen | None = None,
) -> int:
    """Train a probe to the end and show every snapshot to all confidences, and to ``seen``.

    It returns the number of checkpoints.

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
        raise LopsError(
            f"{typed('every')} is {every}, and the probe's training has fewer updates than "
            "that; wanted a smaller number"
        )
    return checkpoints


def make(request: Request, confidence: type[Confidence], online: bool = False) -> Selector:
    """Return the selector that ranks by a confidence after one watched training."""
    probe = request.probe
    if confidence.needs_checkpoints:
        probe.check_checkpoints()

    def scorer(samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> Scored:
        scores = confidence(codes, n_classes)
        checkpoints = watch(
            probe,
            samples,
            codes,
            n_classes,
            [scores],
            seed=request.seed,
            every=request.every,
            online=online,
            seen=request.seen,
        )
        stopped = f"trained to the end, {checkpoints} checkpoints"
        return Scored(scores.scores(), scores.learnt_at(), stopped)

    return request.ranked(scorer)
