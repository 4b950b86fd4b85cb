"""Names of files: which are addresses, which patterns match, and how a file is opened."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any, cast

from lops_adapters.core import LopsError
from lops_adapters.remote.path import RemotePath

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_WRAPPING = ("dir", "zip", "tar", "reference", "cached", "blockcache", "filecache", "simplecache")
_ENDLESS = (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK)


def located(name: str) -> Path:
    """Return the path of a file or folder, of this machine or remote.

    A :class:`RemotePath` has the methods of :class:`pathlib.Path` that this package calls.

    >>> located("a.csv"), located("file:///a.csv"), str(located("s3://bucket/a") / "b.csv")
    (PosixPath('a.csv'), PosixPath('/a.csv'), 's3://bucket/a/b.csv')
    """
    match = _SCHEME.match(name)
    if match is None:
        return Path(name)
    host = name[match.end() :].partition("/")[0]
    if (scheme := match[1].lower()) == "file" and not host:
        return Path(name[match.end() :])
    if not host or scheme in ("file", *_WRAPPING):
        wanted = {"file": "file:///PATH"}.get(scheme, f"{scheme}://HOST/PATH")
        if scheme in _WRAPPING:
            wanted = "the file itself, without this scheme"
        raise LopsError(f"{name!r:.200} cannot be read; wanted {wanted}")
    if "@" in host or (match[1].lower() in ("http", "https") and "?" in name):
        raise LopsError(
            f"{match[0]}… holds a password or a query, which output would show; download the file "
            "first, or give its address without"
        )
    return cast("Path", RemotePath(name))


def opened(path: Path, **how: Any) -> IO[bytes]:
    """Open a file to read its bytes; all that this package reads of strangers goes through here."""
    if not is_remote(path) and stat.S_IFMT(path.stat().st_mode) in _ENDLESS:
        raise LopsError(f"{path} is a pipe or a device; wanted a file")
    return cast("IO[bytes]", path.open("rb", **how))


def is_remote(path: Path) -> bool:
    """Return whether a path is remote."""
    return isinstance(path, RemotePath)


def matching(pattern: Path) -> list[Path]:
    """Return the remote files of a pattern, sorted."""
    parts = pattern.parts
    first = next((i for i, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    base = RemotePath(*parts[:first])
    paths = _globbed(base, parts[first:]) if first < len(parts) and base.is_dir() else ()
    return sorted({cast("Path", path) for path in paths if path.is_file()})


def _globbed(folder: RemotePath, parts: tuple[str, ...]) -> Iterator[RemotePath]:
    """Yield what matches the parts of a pattern below a folder, as :func:`glob.glob` does."""
    if not parts:
        yield folder
        return
    head, rest = parts[0], parts[1:]
    if head == "**":
        yield from _globbed(folder, rest)
    for entry in folder.iterdir() if folder.is_dir() else ():
        if head == "**" and not entry.name.startswith("."):
            yield from _globbed(entry, parts)
        elif fnmatchcase(entry.name, head) and (head[0] == "." or entry.name[0] != "."):
            yield from _globbed(entry, rest)
