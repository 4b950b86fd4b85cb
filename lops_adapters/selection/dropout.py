"""MC-Dropout and Entropy: how unsure a trained probe is in several passes with dropout left on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe
from lops_adapters.selection.ranked import Scored, Scorer
from lops_adapters.selection.suggestions import Seen

PASSES = 5  # as in the authors' released code
VARIANTS = ("paper", "released")


def mc_dropout(passes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Uncertainty of (passes, n, k) probabilities: the population variance of the pseudo-label's
    probability, (n,) float64, 0 to 1/4.
    """
    return np.asarray(passes[:, np.arange(len(codes)), codes].astype(np.float64).var(axis=0))


def entropy(passes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Uncertainty of (passes, n, k) probabilities: the entropy of their mean in units of log k,
    (n,) float64, 0 to 1.
    """
    mean = passes.mean(axis=0, dtype=np.float64)
    nats = -(mean * np.log(np.maximum(mean, np.finfo(np.float64).tiny))).sum(axis=1)
    return np.asarray(nats / np.log(mean.shape[1]))


def certainty(
    passes: np.ndarray, codes: np.ndarray, uncertainty: np.ndarray, variant: str
) -> np.ndarray:
    """Turn an uncertainty in [0, 1] into scores, (n,) float64, higher is more trusted.

    Args:
        passes: (passes, n, k) probabilities.
        codes: (n,) int, the pseudo-labels.
        uncertainty: (n,) float64.
        variant: ``released`` trusts the certain ones, also those that are certain of another class
            than the pseudo-label. ``paper`` has only the certainty about the pseudo-label count:
            where the mean of the passes predicts it, minus the uncertainty; elsewhere the
            uncertainty minus 2, so that whoever is certain of another class comes last. (In the
            work that the paper cites, the pseudo-label is the model's own prediction and the two
            are one.)

    """
    if variant == "released":
        return -uncertainty
    agree = passes.mean(axis=0).argmax(axis=1) == codes
    return np.where(agree, -uncertainty, uncertainty - 2.0)


def dropout_scorer(
    name: str, probe: Probe, seed: int, variant: str = "paper", seen: Seen | None = None
) -> Scorer:
    """Return a scorer by ``mc-dropout`` or ``entropy``: trains the probe to the end, then predicts
    five times with dropout on.

    ``seen`` is told the mean of the five.

    Raises:
        LopsError: an unknown variant, or a probe without dropout.

    """
    if variant not in VARIANTS:
        raise LopsError(f"variant is {variant!r}; wanted one of {', '.join(VARIANTS)}")
    if not probe.has_dropout:
        raise LopsError(
            f"{name} needs a probe with dropout, and this {probe.kind} probe has none; take a transformer, or another method"
        )

    def scorer(samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> Scored:
        passes = probe.fit(samples, codes, n_classes, seed=seed).predict_with_dropout(
            samples, PASSES, seed=seed
        )
        if seen is not None:
            seen(passes.mean(axis=0), None)
        uncertainty = (mc_dropout if name == "mc-dropout" else entropy)(passes, codes)
        return Scored(
            certainty(passes, codes, uncertainty, variant),
            None,
            f"{PASSES} passes with dropout after the training",
        )

    return scorer
