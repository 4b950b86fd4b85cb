"""Patch a checkout of an original repository with ``git apply``, and undo it to the byte.

The patches only insert lines and quote no line of the original. ``git apply`` works on a copy, so
that the file of the checkout is replaced whole or not at all.
"""

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lops_adapters.core import LopsError
from lops_adapters.storage import check_writable, replacing
from lops_adapters.vendoring.copies import refuse_changed, stamped, state
from lops_adapters.vendoring.upstreams import Upstream

_LARGEST = 10 * 2**20  # bytes of a script
MARKS = (b"# >>> lops_adapters", b"# <<< lops_adapters")  # around each insertion


class File(NamedTuple):
    """The file that the patch touches, as it is in the checkout.

    Attributes:
        state: ``original``; ``patched``; ``patched, changed``: patched, but without the patch not
            the original; ``changed``: neither patched nor the original; ``patch edited``: the lines
            between the marks differ from this version's patch.
        blob: its git blob id without the patch.
        other: its bytes with the patch (original), or without it (patched); otherwise empty.
    """

    state: str
    blob: str
    other: bytes = b""


def examine(root: Path, upstream: Upstream) -> File:
    """Return the file that the patch touches."""
    path = root / upstream.file
    _check_inside(root, [upstream.file, *upstream.companions()])
    if not path.is_file():
        raise LopsError(
            f"{root} holds no {upstream.file}; wanted the top folder of a checkout of "
            f"{upstream.title}, commit {upstream.commit}: {upstream.way_back()}"
        )
    data = path.read_bytes()
    blob = _stored_id(data)
    if blob == upstream.blob:
        patched = _git_apply(data, upstream)
        if patched is None:
            raise LopsError(
                f"the patch of {upstream.title} is damaged; install lops_adapters again"
            )
        return File("original", blob, patched)
    without = _git_apply(data, upstream, "--reverse")
    if without is None or any(mark in without for mark in MARKS):
        is_marked = any(mark in data for mark in MARKS)
        return File("patch edited" if is_marked else "changed", blob)
    blob = _stored_id(without)
    return File("patched" if blob == upstream.blob else "patched, changed", blob, without)


def _git_apply(data: bytes, upstream: Upstream, *options: str) -> bytes | None:
    patch = upstream.patch
    if _has_windows_ends(data):
        patch = re.sub(rb"(?m)^(\+(?!\+\+ ).*)$", rb"\1\r", patch)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    with tempfile.TemporaryDirectory() as folder:
        environment["GIT_CEILING_DIRECTORIES"] = str(Path(folder).resolve().parent)
        copy = Path(folder, upstream.file)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(data)
        command = ["git", "-c", "core.autocrlf=false", "apply", "--unidiff-zero", *options]
        command += ["--whitespace=nowarn", "-"]
        try:
            run = subprocess.run(
                command, input=patch, cwd=folder, env=environment, capture_output=True, check=False
            )
        except OSError as error:
            raise LopsError(
                f"lops patch needs git, which cannot be run ({error.strerror or error}); "
                "install git, or insert the lines of lops_adapters/vendoring/patches by hand"
            ) from None
        return copy.read_bytes() if run.returncode == 0 else None


def blob_id(data: bytes) -> str:
    """Return git's id of a file's contents.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _stored_id(data: bytes) -> str:
    """Return the blob id; for a checkout with Windows line ends, the id of what git stores."""
    return blob_id(data.replace(b"\r\n", b"\n") if _has_windows_ends(data) else data)


def _has_windows_ends(data: bytes) -> bool:
    return data.split(b"\n", 1)[0].endswith(b"\r")


def apply(root: Path, upstream: Upstream, *, dry: bool = False) -> list[str]:
    """Patch a checkout and copy the adapter files next to its scripts.

    What is already there stays, so applying twice equals applying once. The paths within the
    checkout that were written are returned (``dry``: that would be).
    """
    file, path = _unedited(root, upstream), root / upstream.file
    if file.state == "changed":
        raise LopsError(
            f"{path} has blob id {file.blob}; wanted {upstream.blob}, that of {upstream.title} at "
            f"commit {upstream.commit}. Check out that commit ({upstream.way_back()})"
        )
    contents = {}
    for name, (origin, text) in upstream.companions().items():
        file_state = state(root / name, text)
        refuse_changed(root / name, file_state)
        if file_state != "current":
            contents[name] = stamped(text, origin).encode()
    copied, patched = list(contents), [upstream.file] if file.state == "original" else []
    if patched:  # last: a patched program never lacks the others
        contents[upstream.file] = file.other
    for name in contents:
        check_writable((root / name).parent, "give write access to the checkout")
    if not dry:
        for name, data in contents.items():
            _replace(root / name, data)
    return [*patched, *copied]


def reverse(root: Path, upstream: Upstream) -> tuple[list[str], list[str]]:
    """Remove the patch and the copied files from a checkout.

    Returns the paths within the checkout that were restored or removed, and copied files that stay
    because they were edited. Raises a LopsError as :func:`apply`, and about edited lines between
    the marks.
    """
    file = _unedited(root, upstream)
    restored = [upstream.file] if file.state in ("patched", "patched, changed") else []
    states = _copies(root, upstream)
    removed = [name for name, kind in states if kind in ("current", "old")]
    if restored:
        _replace(root / upstream.file, file.other)
    for name in removed:  # last: a patched program never lacks them
        (root / name).unlink()
    return [*restored, *removed], [name for name, kind in states if kind in ("edited", "foreign")]


def status(root: Path, upstream: Upstream) -> list[tuple[str, str]]:
    """Return (path, state) of the file that the patch touches and of every copied file.

    For the states see :class:`File` and :func:`copies.state`.
    """
    return [(upstream.file, examine(root, upstream).state), *_copies(root, upstream)]


def _copies(root: Path, upstream: Upstream) -> list[tuple[str, str]]:
    companions = upstream.companions().items()
    return [(name, state(root / name, text)) for name, (_, text) in companions]


def _unedited(root: Path, upstream: Upstream) -> File:
    file = examine(root, upstream)
    if file.state == "patch edited":
        raise LopsError(
            f"{root / upstream.file}: the lines between the marks of lops_adapters were edited or "
            "come from another version; restore the file first, for example with "
            f"git checkout -- {upstream.file}"
        )
    return file


def _check_inside(root: Path, names: Iterable[str]) -> None:
    top = root.resolve()
    for path in (root / name for name in names):
        if top not in Path(os.path.realpath(path)).parents:
            raise LopsError(f"{path} leads out of {root}; wanted a file of the checkout")
        if path.exists() and (not path.is_file() or path.stat().st_size > _LARGEST):
            raise LopsError(f"{path} is no file, or a huge one; wanted a script of the checkout")


def _replace(path: Path, contents: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(contents)
