"""MC-Dropout and Entropy: uncertainty of a trained probe over several passes with dropout."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.method import Method, check_variant, option
from lops_adapters.selection.methods.ranked import keep_best
from lops_adapters.selection.outcome import Outcome, Predicted

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


@dataclass(frozen=True)
class ByDropout(Method):
    """Ranks by an uncertainty, :func:`mc_dropout` or :func:`entropy`.

    It trains the probe to the end and predicts five times with dropout on; the prediction is the
    mean of the five.
    """

    uncertainty: Uncertainty = field(kw_only=True)
    variant: str = option(PAPER)

    def check(self, choice: Choice) -> None:
        check_variant(self.variant, VARIANTS)

    def check_probe(self, choice: Choice) -> None:
        super().check_probe(choice)
        if not choice.classifier.has_dropout:
            kind = choice.classifier.kind
            raise LopsError(
                f"{self.name} needs a probe with dropout, and this {kind} probe has none; "
                "take a transformer, or another method"
            )

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        samples, codes, probe = labelled.samples, labelled.codes, choice.classifier
        probe.fit(samples, codes, len(labelled.classes), seed=choice.seed)
        passes = probe.predict_with_dropout(samples, PASSES, seed=choice.seed)
        scores = certainty(passes, codes, self.uncertainty(passes, codes), self.variant)
        stopped = f"{PASSES} passes with dropout after training"
        predicted = Predicted.of(passes.mean(axis=0))
        return keep_best(labelled, choice, scores, stopped, predicted=predicted)
