"""LOPS for weakly supervised text classification: choose which pseudo-labels to trust."""

from lops_adapters.core import __version__

__all__ = ["__version__"]
