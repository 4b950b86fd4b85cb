"""Selection: a probe, watched by a confidence, cut by a rule. What comes back are positions."""

from lops_adapters.selection.confidences.base import Confidence
from lops_adapters.selection.methods import METHODS, Method, build
from lops_adapters.selection.scoring import CONFIDENCES, score
from lops_adapters.selection.selectors import Lops, Selector, keep_all, trusted_positions
from lops_adapters.selection.suggestions import Suggestions

__all__ = [
    "CONFIDENCES",
    "METHODS",
    "Confidence",
    "Lops",
    "Method",
    "Selector",
    "Suggestions",
    "build",
    "keep_all",
    "score",
    "trusted_positions",
]
