"""The tiny encoder is a fixture of these tests, too."""

from ..tiny_encoder import tiny

__all__ = ["tiny"]
