"""``lops vendor``: the core as a file in somebody's code base."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lops_adapters.core import LopsError, __version__
from lops_adapters.vendoring import copies

EXAMPLES = """examples:
  lops vendor mypackage/
  lops vendor mypackage/lops_core.py --check"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops vendor``."""
    found = argparse.ArgumentParser(
        prog="lops vendor",
        description="Copy lops_adapters/core.py, which needs numpy alone, under a stamp.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument(
        "destination",
        type=Path,
        metavar="DEST",
        help=f"a folder, for {copies.CORE_NAME} in it, or a file's name",
    )
    found.add_argument(
        "--check",
        action="store_true",
        help="say whether the copy is current, old or edited, and write nothing",
    )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Copy the core, or say what a copy is; returns 1 where it is not current."""
    options = parser().parse_args(arguments)
    if not options.check:
        path, before = copies.vendor(options.destination)
        print(
            f"{path} is lops_adapters {__version__}"
            + (", as before" if before == "current" else "")
        )
        return 0
    path = copies.target(options.destination)
    state = copies.state(path, copies.core_text())
    if state in ("missing", "foreign"):
        what = "is not there" if state == "missing" else "is not a copy made by lops vendor"
        raise LopsError(f"{path} {what}; lops vendor {options.destination} makes one")
    print(
        f"{path} is {state}"
        + (
            f": lops_adapters {copies.version_of(path)}, here is {__version__}"
            if state != "current"
            else ""
        )
    )
    return 0 if state == "current" else 1
