"""How good pseudo-labels and predictions are, measured against gold labels."""

from lops_adapters.evaluation.evaluator import Evaluator
from lops_adapters.evaluation.f1 import F1, confusion_matrix, f1_scores
from lops_adapters.evaluation.noise import (
    NoiseCoverageCurve,
    area_under_noise_coverage,
    ideal_curve,
    noise,
    noise_coverage_curve,
)

__all__ = [
    "F1",
    "Evaluator",
    "NoiseCoverageCurve",
    "area_under_noise_coverage",
    "confusion_matrix",
    "f1_scores",
    "ideal_curve",
    "noise",
    "noise_coverage_curve",
]
