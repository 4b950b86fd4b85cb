"""Copies of this package's files in other code bases, with a stamp that identifies them."""

import hashlib
import re
from pathlib import Path

from lops_adapters import core
from lops_adapters.core import LopsError

_STAMP = re.compile(
    r"# Copied from lops_adapters (\S+), file (\S+); SHA-256 of all lines below: ([0-9a-f]{64})"
)


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
    ``edited``: changed since it was copied; ``foreign``: another text without a stamp.
    """
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return "missing"
    except (OSError, UnicodeDecodeError):
        return "foreign"
    first, _, rest = content.partition("\n")
    stamp = _STAMP.fullmatch(first)
    if stamp is None:
        return "current" if content == text else "foreign"
    if stamp[3] != _digest(rest):
        return "edited"
    return "current" if rest == text else "old"


def refuse_changed(path: Path, found_state: str) -> None:
    """Raise a LopsError if writing a file would lose somebody's changes."""
    if found_state in ("edited", "foreign"):
        edited, foreign = "was edited after it was copied", "is not a copy made by lops_adapters"
        what = edited if found_state == "edited" else foreign
        raise LopsError(f"{path} {what}, and would be lost; move it away, or name another place")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
