"""Several confidences from one watched training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe
from lops_adapters.selection.confidences.base import Confidence
from lops_adapters.selection.confidences.learning_order import LearningOrderScore
from lops_adapters.selection.confidences.margin import Margin
from lops_adapters.selection.confidences.probability import Probability
from lops_adapters.selection.confidences.stability import Stability
from lops_adapters.selection.suggestions import Seen

CONFIDENCES: dict[str, type[Confidence]] = {
    "learning-order": LearningOrderScore,
    "probability": Probability,
    "stability": Stability,
    "margin": Margin,
}


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
        probe: trained afresh, to the end.
        samples, codes, n_classes, seed, every, online: as for
            :meth:`lops_adapters.probes.Probe.watch`.
        confidences: names from :data:`CONFIDENCES`.

    Returns:
        Name -> (n,) float64 scores, higher is more trusted.

    Raises:
        LopsError: an unknown name, ``every`` beyond the training, and what the probe raises.

    """
    unknown = [name for name in confidences if name not in CONFIDENCES]
    if unknown:
        raise LopsError(f"confidence is {unknown[0]!r}; wanted some of {', '.join(CONFIDENCES)}")
    watching = {name: CONFIDENCES[name](np.asarray(codes), n_classes) for name in confidences}
    watch(
        probe,
        samples,
        codes,
        n_classes,
        list(watching.values()),
        seed=seed,
        every=every,
        online=online,
    )
    return {name: confidence.scores() for name, confidence in watching.items()}


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
    """Train a probe to the end and show every snapshot to all confidences, and ``seen``; returns
    the number of checkpoints.

    Raises:
        LopsError: ``every`` beyond the training, a prediction that is no number, and what the probe
            raises.

    """
    checkpoints = 0
    for snapshot in probe.watch(samples, codes, n_classes, seed=seed, every=every, online=online):
        if np.isnan(snapshot.probabilities).any():
            raise LopsError(
                f"the probe predicts NaN at time {snapshot.time}: its training has diverged; lower its learning rate"
            )
        for confidence in confidences:
            confidence.observe(snapshot)
        if seen is not None:
            seen(snapshot.probabilities, snapshot.positions)
        checkpoints += 1
    if not checkpoints:
        raise LopsError(
            f"every is {every}, and the probe's training has fewer updates than that; wanted a smaller number or None"
        )
    return checkpoints
