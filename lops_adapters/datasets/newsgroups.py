"""The official by-date split of 20 Newsgroups, as a folder tree or an archive.

Its files are raw messages with headers, in latin-1.
"""

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lops_adapters.console import listed, progress
from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.datasets.rows import Rows
from lops_adapters.remote import opened

HEADERS = ("auto", "keep", "strip")
_FIELD = re.compile(r"[!-9;-~]+:|[ \t]")  # also a line that continues one
ARCHIVE = "20news-bydate.tar.gz"
SPLITS = ("20news-bydate-train", "20news-bydate-test")
# The official archive has 18,888 entries and 35,855,024 bytes.
_LARGEST_ARCHIVE, _MOST_ENTRIES = 2**28, 100_000  # unpacked
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
_DAMAGE = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError, OverflowError)
_MESSAGE = re.compile(r"(?:^|/)20news-bydate-(train|test)/([^/]+)/(\d+)$")


def read_tree(folder: Path, quiet: bool = False) -> Rows:
    """Read ``20news-bydate-train/<group>/<number>`` and ``20news-bydate-test/...`` below a folder.

    Ids are such as ``train/sci.space/60000``, sorted by split (train first), group and number;
    labels are the groups. Raises a LopsError about no message, or a group that is not one of the
    twenty.
    """
    paths = [path for split in SPLITS for path in (folder / split).glob("*/*") if path.is_file()]
    messages = (
        (name, _content(path))
        for path in progress(paths, desc=folder.name, quiet=quiet)
        if (name := _MESSAGE.search(path.as_posix()))
    )
    return _rows(folder, messages)


def _content(path: Path) -> bytes:
    with opened(path) as file:
        return file.read()


def read_archive(path: Path, quiet: bool = False) -> Rows:
    """Read the messages of ``20news-bydate.tar.gz`` in memory, without unpacking to disk.

    Returns and raises as :func:`read_tree`; LopsError: no such archive or a damaged one.
    """
    try:
        content = io.BytesIO(_unpacked(path))
        with tarfile.open(fileobj=content, mode="r:") as archive:
            entries = progress(archive, desc=path.name, unit=" entries", quiet=quiet)
            return _rows(path, _archived(archive, entries, path))
    except _DAMAGE as error:
        raise LopsError(
            f"{path}: cannot be read as a tar archive ({error}); "
            "it may be incomplete: fetch it again"
        ) from None


def _unpacked(path: Path) -> bytes:
    with opened(path) as packed:
        start = packed.read(6)
    opener = next((opener for mark, opener in _OPENERS.items() if start.startswith(mark)), open)
    with opener(path, "rb") as file:
        content: bytes = file.read(_LARGEST_ARCHIVE + 1)
    if len(content) > _LARGEST_ARCHIVE:
        raise _too_large(path)
    return content


def _archived(
    archive: tarfile.TarFile, entries: Iterable[tarfile.TarInfo], path: Path
) -> Iterator[tuple[re.Match[str], bytes]]:
    for number, entry in enumerate(entries):
        if number == _MOST_ENTRIES:
            raise _too_large(path)
        if (name := _MESSAGE.search(entry.name)) and entry.isfile():
            if entry.issparse():  # a few bytes declare any size
                raise LopsError(f"{path}: {name[0]!r} is sparse; wanted plain files")
            yield name, archive.extractfile(entry).read()  # type: ignore[union-attr]


def _too_large(path: Path) -> LopsError:
    return LopsError(
        f"{path} is too large; wanted at most {_LARGEST_ARCHIVE:,} bytes in {_MOST_ENTRIES:,} "
        "entries; if you trust it, unpack it and give the folder"
    )


def without_header(text: str) -> str:
    """Return the subject and the body of a raw message.

    The header is the block up to the first blank line. Signatures and quotes stay. A text that does
    not begin with a header with a subject is returned unchanged.

    >>> without_header("From: a@b.c\\nSubject: Re: Orbits\\nLines: 2\\n\\nOf what?\\n")
    'Re: Orbits\\n\\nOf what?\\n'
    """
    lines = text.split("\n")
    end = next((i for i, line in enumerate(lines) if not line.strip("\r")), len(lines))
    starts = [i for i in range(end) if lines[i].lower().startswith("subject:")]
    if not starts or not all(map(_FIELD.match, lines[:end])):
        return text
    subject = [lines[starts[0]][len("subject:") :]]
    for line in lines[starts[0] + 1 : end]:
        if line[0] not in " \t":
            break
        subject.append(line)
    body = "\n".join(lines[end + 1 :])
    return "\n\n".join(filter(None, [" ".join(" ".join(subject).split()), body]))


def strip_headers(rows: Rows, headers: str, where: str) -> Rows:
    """Return rows as ``headers`` asks: ``keep`` the texts, or ``strip`` the message headers.

    ``auto`` strips them where the texts are messages. Raises a LopsError about another value, or
    ``strip`` for texts that are no messages.
    """
    if headers not in HEADERS:
        raise LopsError(f"headers is {headers!r}; wanted one of {', '.join(HEADERS)}")
    if headers == "keep" or (headers == "auto" and not rows.messages):
        return rows
    if not rows.messages:
        raise LopsError(
            f"{where} has no message headers to strip, only 20 Newsgroups has; leave headers out"
        )
    return replace(rows, texts=[without_header(text) for text in rows.texts], headers="strip")


def _rows(path: Path, messages: Iterable[tuple[re.Match[str], bytes]]) -> Rows:
    ordered = sorted(
        ((name[1], name[2], int(name[3]), content.decode("latin-1")) for name, content in messages),
        key=lambda message: (message[0] != "train", message[1], message[2]),
    )
    if not ordered:
        raise LopsError(
            f"{path}: no message found; wanted files such as {SPLITS[0]}/sci.space/60000"
        )
    unknown = sorted({group for _, group, _, _ in ordered} - set(published.GROUPS))
    if unknown:
        raise LopsError(
            f"{path}: {listed(unknown)} is not one of the twenty newsgroups; "
            "remove it from the tree"
        )
    return Rows(
        texts=[text for *_, text in ordered],
        ids=[f"{split}/{group}/{number}" for split, group, number, _ in ordered],
        labels=[group for _, group, _, _ in ordered],
        classes=list(published.GROUPS),
        messages=True,
    )
