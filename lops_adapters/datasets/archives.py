"""Tar archives read member by member, within limits on declared and actual sizes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

from lops_adapters.core import LopsError

Member: TypeAlias = tuple[str, Callable[[], bytes]]  # name, reader

MEGABYTE = 2**20
# The 20 Newsgroups archive: 18,888 entries, 35,855,024 bytes; the largest has 160,616.
LARGEST_MEMBER = 8 * MEGABYTE
LARGEST_ARCHIVE = 256 * MEGABYTE  # unpacked
MOST_MEMBERS = 100_000
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}


class _Limited:
    """The unpacked bytes of an archive, up to ``LARGEST_ARCHIVE``."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file, self._path = file, path

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes or fewer."""
        if size > LARGEST_MEMBER:
            raise _too_large(self._path, f"an entry of {size:,} bytes")
        self._check(self._file.tell() + size)
        return self._file.read(size)

    def seek(self, position: int) -> int:
        """Go to a position."""
        self._check(position)
        return self._file.seek(position)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def _check(self, position: int) -> None:
        if position > LARGEST_ARCHIVE:
            raise _too_large(self._path, f"{position:,} bytes or more")


@contextmanager
def open_archive(path: Path) -> Iterator[Iterator[Member]]:
    """Open a tar archive, compressed or not, as an iterator over its files.

    Yields:
        Pairs of a name and a function that reads the file, to be called before the next pair.

    Raises:
        LopsError: while iterating, sparse files or more than the limits of this module.

    """
    with ExitStack() as stack:
        start = stack.enter_context(path.open("rb")).read(6)
        opener = next((known for mark, known in _OPENERS.items() if start.startswith(mark)), open)
        file = stack.enter_context(opener(path, "rb"))
        limited: Any = _Limited(file, path)
        yield _members(stack.enter_context(tarfile.open(fileobj=limited, mode="r:")), path)


def _members(archive: tarfile.TarFile, path: Path) -> Iterator[Member]:
    for number, member in enumerate(archive):
        if number == MOST_MEMBERS:
            raise _too_large(path, f"more than {MOST_MEMBERS:,} entries")
        if member.issparse():  # a few bytes declare any size
            raise LopsError(f"{path}: {member.name[:80]!r} is sparse; wanted plain files")
        if member.isfile():
            yield member.name, partial(_content, archive, member)


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    return archive.extractfile(member).read()  # type: ignore[union-attr]


def _too_large(path: Path, found: str) -> LopsError:
    return LopsError(
        f"{path} holds {found}; wanted at most {LARGEST_ARCHIVE:,} bytes in {MOST_MEMBERS:,} "
        f"entries of {LARGEST_MEMBER:,} bytes; if you trust it, unpack it and give the folder"
    )
