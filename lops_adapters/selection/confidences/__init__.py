"""Confidences: each watches one training of a probe and ends with one score per sample.

The table of methods has their names: ``lops_adapters.selection.METHODS``.
"""

from lops_adapters.selection.confidences.base import Confidence
from lops_adapters.selection.confidences.learning_order import LearningOrderScore
from lops_adapters.selection.confidences.margin import Margin
from lops_adapters.selection.confidences.probability import Probability
from lops_adapters.selection.confidences.stability import Stability

__all__ = ["Confidence", "LearningOrderScore", "Margin", "Probability", "Stability"]
