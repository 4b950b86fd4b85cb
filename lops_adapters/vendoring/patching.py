"""Patch a checkout of an original repository, and undo the patch to the byte."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.storage import replace_with
from lops_adapters.vendoring.copies import refuse_changed, stamped, state
from lops_adapters.vendoring.hunks import (
    blob_id,
    has_marks,
    insert,
    line_end,
    remove,
    remove_marked,
)
from lops_adapters.vendoring.upstreams import Upstream


@dataclass(frozen=True)
class File:
    """A file that the patch touches, as found.

    Attributes:
        name: path within the checkout.
        path: its full path.
        data: its bytes.
        state: ``original``; ``patched``; ``patched, changed``: patched, but without the patch not
            the original; ``changed``: neither patched nor the original; ``patch edited``: the lines
            between the marks differ from this version's patch.
        blob: its git blob id without the patch.

    """

    name: str
    path: Path
    data: bytes
    state: str
    blob: str


def examine(root: Path, upstream: Upstream) -> list[File]:
    """Return the files that the patch touches; a folder without them is a LopsError."""
    files = []
    for name, expected in upstream.files.items():
        path = root / name
        if not path.is_file():
            raise LopsError(
                f"{root} holds no {name}; wanted the top folder of a checkout of {upstream.title}, "
                f"commit {upstream.commit}: {upstream.way_back()}"
            )
        files.append(_file(name, path, upstream, expected))
    return files


def _file(name: str, path: Path, upstream: Upstream, expected: str) -> File:
    data = path.read_bytes()
    without = remove(data, upstream.hunks[name])
    blob = _git_id(data if without is None else without)
    if without is not None:
        found = "patched" if blob == expected else "patched, changed"
    elif has_marks(data):
        found = "patch edited"
    else:
        found = "original" if blob == expected else "changed"
    return File(name, path, data, found, blob)


def _git_id(data: bytes) -> str:
    """Return the blob id; for a checkout with Windows line ends, the id of what git stores."""
    return blob_id(data.replace(b"\r\n", b"\n") if line_end(data) == b"\r\n" else data)


def apply(root: Path, upstream: Upstream, *, force: bool = False, dry: bool = False) -> list[str]:
    """Patch a checkout and copy the glue beside its scripts.

    What is already there stays, so applying twice equals applying once.

    Args:
        root: top folder of the checkout.
        upstream: its repository.
        force: also patch files of another version if the lines around every insertion are still
            there.
        dry: write nothing.

    Returns:
        Paths within the checkout that were (dry: would be) written.

    Raises:
        LopsError: another folder or commit, a changed file, or a foreign file in the way. Nothing
            is written then.

    """
    files = examine(root, upstream)
    patched = {}
    for file in files:
        if file.state == "patch edited":
            raise LopsError(f"{file.path}: {_edited(upstream)}")
        if file.state == "changed" and not force:
            raise LopsError(_changed(file, upstream))
        if file.state in ("original", "changed"):
            try:
                patched[file] = insert(file.data, upstream.hunks[file.name])
            except LopsError as error:
                raise LopsError(f"{file.path}: {error}; {_wanted(file, upstream)}") from None
    copies = {}
    for name, (origin, text) in upstream.companions().items():
        before = state(root / name, text)
        refuse_changed(root / name, before)
        if before != "current":
            copies[name] = stamped(text, origin).encode()
    _check_writable(
        {path.parent for path in (*(f.path for f in patched), *map(root.joinpath, copies))}
    )
    if not dry:
        for name, contents in copies.items():  # first: a patched program never lacks them
            _write_copy(root / name, contents)
        for file, contents in patched.items():
            _replace(file.path, contents)
    return [*(file.name for file in patched), *copies]


def reverse(root: Path, upstream: Upstream, *, force: bool = False) -> tuple[list[str], list[str]]:
    """Remove the patch and the copied files from a checkout.

    Args:
        root: top folder of the checkout.
        upstream: its repository.
        force: remove everything between the patch's marks, also if it was edited or is of another
            version.

    Returns:
        Paths within the checkout that were restored or removed, and copied files that stay because
        they were edited.

    Raises:
        LopsError: another folder, or edited lines between the marks without ``force``. Nothing is
            written then.

    """
    restored = {}
    for file in examine(root, upstream):
        without = remove(file.data, upstream.hunks[file.name])
        if file.state == "patch edited":
            if not force:
                raise LopsError(f"{file.path}: {_edited(upstream)}")
            without = remove_marked(file.data)
        if without is not None:
            restored[file] = without
    found = {name: state(root / name, text) for name, (_, text) in upstream.companions().items()}
    removed = [name for name, what in found.items() if what in ("current", "old")]
    for file, contents in restored.items():
        _replace(file.path, contents)
    for name in removed:  # last: a patched program never lacks them
        (root / name).unlink()
    left = [name for name, what in found.items() if what in ("edited", "foreign")]
    return [*(file.name for file in restored), *removed], left


def status(root: Path, upstream: Upstream) -> list[tuple[str, str]]:
    """Return (path, state) of every file that the patch touches or copies.

    The states are those of :class:`File` and :func:`copies.state`.
    """
    touched = [(file.name, file.state) for file in examine(root, upstream)]
    companions = upstream.companions().items()
    return touched + [(name, state(root / name, text)) for name, (_, text) in companions]


def _write_copy(path: Path, contents: bytes) -> None:
    replace_with(path, lambda temporary: temporary.write_bytes(contents))


def _replace(path: Path, contents: bytes) -> None:
    replace_with(path, lambda temporary: temporary.write_bytes(contents))


def _check_writable(folders: Iterable[Path]) -> None:
    for folder in folders:
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise LopsError(
                f"cannot write into {folder} ({error.strerror or error}); "
                "give write access to the checkout"
            ) from None


def _changed(file: File, upstream: Upstream) -> str:
    return (
        f"{file.path} has blob id {file.blob}; {_wanted(file, upstream)}. "
        f"Check out that commit ({upstream.way_back()}), or try --force, which patches a changed "
        "file if the lines around the insertions are still there"
    )


def _wanted(file: File, upstream: Upstream) -> str:
    blob = upstream.files[file.name]
    return f"wanted {blob}, that of {upstream.title} at commit {upstream.commit}"


def _edited(upstream: Upstream) -> str:
    return (
        "the lines between the marks of lops_adapters were edited or come from another version; "
        f"lops patch {upstream.name} --reverse --force removes everything between the marks"
    )
