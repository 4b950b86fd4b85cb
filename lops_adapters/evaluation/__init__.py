"""How good pseudo-labels and predictions are, measured against gold labels."""

from lops_adapters.evaluation.evaluator import Evaluator
from lops_adapters.evaluation.noise import (
    NoiseCoverageCurve,
    area_under_noise_coverage,
    ideal_curve,
    noise,
    noise_coverage_curve,
)

__all__ = [
    "Evaluator",
    "NoiseCoverageCurve",
    "area_under_noise_coverage",
    "ideal_curve",
    "noise",
    "noise_coverage_curve",
]
