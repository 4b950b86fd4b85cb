"""The official by-date split of 20 Newsgroups, as a folder tree or an archive.

Its files are raw messages with headers, in latin-1.
"""

from __future__ import annotations

import lzma
import re
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.datasets.archives import open_archive
from lops_adapters.datasets.corpus import listed
from lops_adapters.datasets.rows import Rows

ARCHIVE = "20news-bydate.tar.gz"
SPLITS = ("20news-bydate-train", "20news-bydate-test")
_MESSAGE = re.compile(r"(?:^|/)20news-bydate-(train|test)/([^/]+)/(\d+)$")


def read_tree(folder: Path, quiet: bool = False) -> Rows:
    """Read ``20news-bydate-train/<group>/<number>`` and ``20news-bydate-test/...`` below a folder.

    Returns:
        Ids such as ``train/sci.space/60000``, sorted by split (train first), group and number;
        labels are the groups.

    Raises:
        LopsError: no message, or a group that is not one of the twenty.

    """
    paths = [path for split in SPLITS for path in (folder / split).glob("*/*") if path.is_file()]
    messages = (
        (found, path.read_bytes())
        for path in progress(paths, desc=folder.name, quiet=quiet)
        if (found := _MESSAGE.search(path.as_posix()))
    )
    return _rows(folder, messages)


def read_archive(path: Path, quiet: bool = False) -> Rows:
    """Read the messages of ``20news-bydate.tar.gz`` in memory, without unpacking to disk.

    Returns:
        Rows as of ``read_tree``.

    Raises:
        LopsError: no such archive or a damaged one, or what ``read_tree`` refuses.

    """
    try:
        with open_archive(path) as files:
            messages = (
                (found, content())
                for name, content in progress(files, desc=path.name, unit=" entries", quiet=quiet)
                if (found := _MESSAGE.search(name))
            )
            return _rows(path, messages)
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        raise LopsError(
            f"{path}: cannot be read as a tar archive ({error}); "
            "it may be incomplete: fetch it again"
        ) from None


def sorted_rows(where: str, messages: Iterable[tuple[str, str, int, str]]) -> Rows:
    """Order (split, group, number, text) and name every message, the same for every source.

    Raises:
        LopsError: no message, or a group that is not one of the twenty.

    """
    found = sorted(messages, key=lambda message: (message[0] != "train", message[1], message[2]))
    if not found:
        raise LopsError(
            f"{where}: no message found; wanted files such as {SPLITS[0]}/sci.space/60000"
        )
    unknown = sorted({group for _, group, _, _ in found} - set(published.GROUPS))
    if unknown:
        raise LopsError(
            f"{where}: {listed(unknown)} is not one of the twenty newsgroups; "
            "remove it from the tree"
        )
    return Rows(
        texts=[text for *_, text in found],
        ids=[f"{split}/{group}/{number}" for split, group, number, _ in found],
        labels=[group for _, group, _, _ in found],
        classes=list(published.GROUPS),
    )


def _rows(path: Path, messages: Iterable[tuple[re.Match[str], bytes]]) -> Rows:
    return sorted_rows(
        str(path),
        ((name[1], name[2], int(name[3]), content.decode("latin-1")) for name, content in messages),
    )
