"""Selection: a probe, watched by a confidence, cut by a rule. What comes back are positions."""

from lops_adapters.selection.methods import METHODS, Method, build
from lops_adapters.selection.selectors import Lops, Selector, keep_all, select, trusted_positions

__all__ = ["METHODS", "Lops", "Method", "Selector", "build", "keep_all", "select", "trusted_positions"]
