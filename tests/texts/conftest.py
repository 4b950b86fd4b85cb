"""The shared cache and encoder are fixtures of these tests, too."""

from ..caches import own_cache, tiny

__all__ = ["own_cache", "tiny"]
