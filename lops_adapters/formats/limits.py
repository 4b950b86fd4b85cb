"""How far files may unpack: text packs to a twentieth at best, and repeated cells to nothing."""

from __future__ import annotations

from pathlib import Path

from lops_adapters.core import LopsError

# What unpacks to more than both is made to fill the memory.
LARGE, RATIO = 2**28, 200  # bytes, and times the size of the file


class Unpacked:
    """Counts the unpacked bytes of a file."""

    def __init__(self, path: Path, way_out: str) -> None:
        self._path, self._way_out = path, way_out
        self._left = max(LARGE, RATIO * path.stat().st_size)

    def count(self, size: int) -> None:
        """Count bytes; a LopsError if all so far are too many."""
        self._left -= size
        if self._left < 0:
            raise LopsError(
                f"{self._path} unpacks to more than {RATIO} times its size; if you trust it, "
                f"{self._way_out}"
            )
