"""Patches that only insert lines and quote no line of the original: read, apply, undo.

A hunk is that of a unified diff without context: ``@@ -15,0 +16,4 @@ after HASH before HASH`` and
the added lines. ``git apply --unidiff-zero`` accepts it, too. After the second ``@@`` come its
anchors: hashes of the lines before and after the insertion. They show whether a changed file still
fits, without quoting its lines.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from lops_adapters.core import LopsError

BEGIN, END = b"# >>> lops_adapters", b"# <<< lops_adapters"
_HEAD = re.compile(r"@@ -(\d+),0 \+(\d+)(?:,(\d+))? @@ after ([0-9a-f]{12}) before ([0-9a-f]{12})")


@dataclass(frozen=True)
class Hunk:
    """Lines to insert.

    Attributes:
        line: number of the original's line before the insertion.
        after, before: anchors (see :func:`anchor`) of that line and the next.
        lines: the inserted lines without line ends; the first and last are the marks for
            :func:`remove_marked`.

    """

    line: int
    after: str
    before: str
    lines: tuple[bytes, ...]


def read_patch(text: str) -> dict[str, list[Hunk]]:
    """Return path -> hunks of a patch; anything but headers and added lines is a LopsError."""
    hunks: dict[str, list[Hunk]] = {}
    lines = text.splitlines()
    at, path, shift = 0, "", 0
    while at < len(lines):
        line = lines[at]
        at += 1
        head = _HEAD.fullmatch(line)
        if head:
            count = int(head[3] or 1)
            block = lines[at : at + count]
            complete = len(block) == count and all(added.startswith("+") for added in block)
            if not complete or int(head[2]) != int(head[1]) + shift + 1:
                raise _damaged(at, line)
            inserted = tuple(added[1:].encode() for added in block)
            hunks[path].append(Hunk(int(head[1]), head[4], head[5], inserted))
            at += count
            shift += count
        elif line.startswith("+++ b/"):
            path, shift = line.removeprefix("+++ b/"), 0
            hunks[path] = []
        elif not line.startswith(("diff --git ", "--- a/")):
            raise _damaged(at, line)
    return hunks


def _damaged(number: int, line: str) -> LopsError:
    return LopsError(
        f"the patch is damaged at line {number} ({line!r}); install lops_adapters again"
    )


def blob_id(data: bytes) -> str:
    """Return git's id of a file's contents.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def anchor(line: bytes) -> str:
    """Return a patch's hash of a line: the first 12 digits of SHA-256, without the line end.

    >>> anchor(b"import os\\r\\n") == anchor(b"import os")
    True
    """
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:12]


def insert(data: bytes, hunks: list[Hunk]) -> bytes:
    """Return a file with the hunks inserted, in the file's own line ends.

    A hunk goes to its line number if both anchors fit there, otherwise to the only place of the
    file that fits.

    Raises:
        LopsError: a hunk fits nowhere, or in several places, or the hunks would change their order.

    """
    lines = data.splitlines(keepends=True)
    anchors = [anchor(line) for line in lines]
    fits = [_place(anchors, hunk) for hunk in hunks]
    if fits != sorted(set(fits)):
        raise LopsError("the lines around the insertions are in another order than in the original")
    for hunk, place in reversed(list(zip(hunks, fits, strict=True))):
        lines[place:place] = [line + line_end(data) for line in hunk.lines]
    return b"".join(lines)


def _place(anchors: list[str], hunk: Hunk) -> int:
    found = [
        at
        for at in range(1, len(anchors))
        if anchors[at - 1] == hunk.after and anchors[at] == hunk.before
    ]
    if hunk.line in found:
        return hunk.line
    if len(found) != 1:
        where = f"fits in {len(found)} places" if found else "fits nowhere"
        raise LopsError(
            f"the insertion after line {hunk.line} of the original {where}: "
            "the lines around it were changed"
        )
    return found[0]


def remove(data: bytes, hunks: list[Hunk]) -> bytes | None:
    """Return a file without the inserted lines.

    None unless each hunk occurs exactly once, unchanged.
    """
    lines = data.splitlines(keepends=True)
    for hunk in hunks:
        block = [line + line_end(data) for line in hunk.lines]
        size = len(block)
        found = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == block]
        if len(found) != 1:
            return None
        del lines[found[0] : found[0] + size]
    return None if has_marks(b"".join(lines)) else b"".join(lines)


def remove_marked(data: bytes) -> bytes:
    """Return a file without everything between marks; an unpaired mark is a LopsError."""
    kept, inside = [], False
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        begins, ends = (line.strip().startswith(mark) for mark in (BEGIN, END))
        if (begins and inside) or (ends and not inside):
            raise LopsError(
                f"the mark in line {number} has no partner; "
                "remove the lines of lops_adapters by hand"
            )
        inside = begins or inside
        if not inside:
            kept.append(line)
        inside = inside and not ends
    if inside:
        raise LopsError("the last mark has no partner; remove the lines of lops_adapters by hand")
    return b"".join(kept)


def has_marks(data: bytes) -> bool:
    """Return whether a file holds a mark of lops_adapters."""
    return any(line.strip().startswith((BEGIN, END)) for line in data.splitlines())


def line_end(data: bytes) -> bytes:
    """Return the line end of a file, taken from its first line."""
    return b"\r\n" if data.split(b"\n", 1)[0].endswith(b"\r") else b"\n"
