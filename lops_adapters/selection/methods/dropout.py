"""MC-Dropout and Entropy: uncertainty of a trained probe over several passes with dropout."""

from collections.abc import Callable

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.methods.ranked import Scored
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Select
from lops_adapters.selection.suggestions import Listener

PASSES = 5  # as in the authors' released code
PAPER = "paper"
VARIANTS = (PAPER, "released")
Uncertainty = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of (passes, n, k) and (n,) codes


def mc_dropout(passes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the variance of the pseudo-label's probability over the passes, (n,), 0 to 1/4."""
    return np.asarray(passes[:, np.arange(len(codes)), codes].astype(np.float64).var(axis=0))


def entropy(passes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the entropy of the mean of (passes, n, k) probabilities, over log k: (n,), 0 to 1."""
    mean = passes.mean(axis=0, dtype=np.float64)
    nats = -(mean * np.log(np.maximum(mean, np.finfo(np.float64).tiny))).sum(axis=1)
    return np.asarray(nats / np.log(mean.shape[1]))


def certainty(
    passes: np.ndarray, codes: np.ndarray, uncertainty: np.ndarray, variant: str
) -> np.ndarray:
    """Turn an uncertainty in [0, 1], (n,), into scores, (n,) float64, higher is more trusted.

    The variant ``released`` trusts low uncertainty, even if another class than the pseudo-label is
    predicted. ``paper`` counts certainty about the pseudo-label only: minus the uncertainty if the
    mean of the passes predicts it; otherwise the uncertainty minus 2, so that samples certain of
    another class come last. (In the work that the paper cites, the pseudo-label is the model's own
    prediction, so that both variants agree.)
    """
    if variant != PAPER:
        return -uncertainty
    agree = passes.mean(axis=0).argmax(axis=1) == codes
    return np.where(agree, -uncertainty, uncertainty - 2.0)


def make(request: Request, uncertainty: Uncertainty, variant: str = PAPER) -> Select:
    """Return the method that ranks by an uncertainty, :func:`mc_dropout` or :func:`entropy`.

    It trains the probe to the end and predicts five times with dropout on; ``listener`` receives
    the mean of the five. An unknown variant, or a probe without dropout, is a LopsError.
    """
    probe, name, seed = request.probe, request.method, request.seed
    if variant not in VARIANTS:
        raise LopsError(f"variant is {variant!r}; wanted one of {', '.join(VARIANTS)}")
    if not probe.has_dropout:
        raise LopsError(
            f"{name} needs a probe with dropout, and this {probe.kind} probe has none; "
            "take a transformer, or another method"
        )

    def scorer(labelled: Labelled, listener: Listener | None) -> Scored:
        samples, codes = labelled.samples, labelled.codes
        probe.fit(samples, codes, len(labelled.classes), seed=seed)
        passes = probe.predict_with_dropout(samples, PASSES, seed=seed)
        if listener is not None:
            listener(passes.mean(axis=0), None)
        scores = certainty(passes, codes, uncertainty(passes, codes), variant)
        return Scored(scores, None, f"{PASSES} passes with dropout after training")

    return request.ranked(scorer)
