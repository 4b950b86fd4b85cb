"""Copies of this package's files in other code bases, with a stamp that identifies them."""

import hashlib
import re
from io import TextIOWrapper
from pathlib import Path

from lops_adapters import core, shipped
from lops_adapters.core import LopsError
from lops_adapters.remote import opened
from lops_adapters.storage import write_text

CORE_NAME = "lops_core.py"
_STAMP = re.compile(
    r"# Copied from lops_adapters (\S+), file (\S+); SHA-256 of all lines below: ([0-9a-f]{64})"
)


def core_text() -> str:
    """Return the text of ``lops_adapters/core.py``."""
    return shipped.text("core.py")


def stamped(text: str, origin: str) -> str:
    """Return a text below a line with this version, its origin and the SHA-256 of the text."""
    stamp = (
        f"# Copied from lops_adapters {core.__version__}, file {origin}; "
        f"SHA-256 of all lines below: {_digest(text)}"
    )
    return f"{stamp}\n{text}"


def state(path: Path, text: str) -> str:
    """Return the state of a file, compared with the ``text`` that this version would copy there.

    ``missing``; ``current``: the same text; ``old``: an unchanged copy by another version;
    ``edited``: changed since it was copied; ``foreign``: another text without a stamp, or a link
    to nowhere. LopsError: a pipe or a device.
    """
    try:
        with TextIOWrapper(opened(path), encoding="utf-8") as file:
            content = file.read()
    except FileNotFoundError:
        return "foreign" if path.is_symlink() else "missing"
    except (OSError, UnicodeDecodeError):
        return "foreign"
    first, _, rest = content.partition("\n")
    stamp = _STAMP.fullmatch(first)
    if stamp is None:
        return "current" if content == text else "foreign"
    if stamp[3] != _digest(rest):
        return "edited"
    return "current" if rest == text else "old"


def version_of(path: Path) -> str:
    """Return the version in a copy's stamp; ``?`` without a stamp."""
    stamp = _STAMP.match(path.read_text(encoding="utf-8"))
    return stamp[1] if stamp else "?"


def target(destination: Path) -> Path:
    """Return the file for ``lops vendor DESTINATION``: itself, or ``lops_core.py`` in a folder."""
    if destination.is_dir():
        return destination / CORE_NAME
    if destination.suffix != ".py":
        raise LopsError(
            f"{destination} is neither a folder nor a name ending in .py; "
            "create the folder first, or name a file such as core.py"
        )
    if not destination.parent.is_dir():
        raise LopsError(f"there is no folder {destination.parent}; create it first")
    return destination


def vendor(destination: Path) -> tuple[Path, str]:
    """Copy the core to a file or into a folder; return the file and its state before, see
    :func:`state`.
    """
    path, text = target(destination), core_text()
    previous = state(path, text)
    refuse_changed(path, previous)
    write_text(path, stamped(text, "lops_adapters/core.py"))
    return path, previous


def refuse_changed(path: Path, found_state: str) -> None:
    """Raise a LopsError if writing a file would lose somebody's changes."""
    if found_state in ("edited", "foreign"):
        edited, foreign = "was edited after it was copied", "is not a copy made by lops_adapters"
        what = edited if found_state == "edited" else foreign
        raise LopsError(f"{path} {what}, and would be lost; move it away, or name another place")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
