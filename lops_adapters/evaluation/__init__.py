"""How good pseudo-labels and predictions are, measured against gold labels."""

from lops_adapters.evaluation.detection import Detection, detection, noise_of_best
from lops_adapters.evaluation.evaluator import Evaluator
from lops_adapters.evaluation.f1 import F1, confusion_matrix, f1_scores
from lops_adapters.evaluation.noise import (
    NoiseCoverageCurve,
    area_under_noise_coverage,
    coverage,
    ideal_curve,
    noise,
    noise_coverage_curve,
    noise_coverage_ratio,
)
from lops_adapters.evaluation.significance import (
    Difference,
    Significance,
    TTest,
    paired_bootstrap,
    paired_bootstrap_over_seeds,
    share_of_gap_closed,
    subsample_t_test,
)

__all__ = [
    "F1",
    "Detection",
    "Difference",
    "Evaluator",
    "NoiseCoverageCurve",
    "Significance",
    "TTest",
    "area_under_noise_coverage",
    "confusion_matrix",
    "coverage",
    "detection",
    "f1_scores",
    "ideal_curve",
    "noise",
    "noise_coverage_curve",
    "noise_coverage_ratio",
    "noise_of_best",
    "paired_bootstrap",
    "paired_bootstrap_over_seeds",
    "share_of_gap_closed",
    "subsample_t_test",
]
