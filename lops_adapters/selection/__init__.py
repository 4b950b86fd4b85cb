"""Selection: a probe, watched by a confidence, cut by a rule. What comes back are positions."""

from lops_adapters.selection.selectors import Lops, Selector, keep_all, select, trusted_positions

__all__ = ["Lops", "Selector", "keep_all", "select", "trusted_positions"]
