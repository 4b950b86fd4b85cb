"""``lops vendor``: the core as one file in another code base."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from lops_adapters.cli import options as shared
from lops_adapters.core import LopsError, __version__
from lops_adapters.vendoring import copies

EXAMPLES = """\
  lops vendor mypackage/
  lops vendor mypackage/lops_core.py --check"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops vendor``."""
    parser = shared.parser(
        "vendor",
        "Copy lops_adapters/core.py, which needs only numpy, with a version stamp.",
        EXAMPLES,
    )
    parser.add_argument(
        "destination",
        type=Path,
        metavar="DEST",
        help=f"a file name, or a folder to write {copies.CORE_NAME} into",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="show whether the copy is current, old or edited, and write nothing",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Copy the core, or check a copy; returns 1 if the copy is not current."""
    options = parser().parse_args(arguments)
    if not options.check:
        path, previous = copies.vendor(options.destination)
        unchanged = ", unchanged" if previous == "current" else ""
        print(f"{path} is lops_adapters {__version__}{unchanged}")
        return 0
    path = copies.target(options.destination)
    state = copies.state(path, copies.core_text())
    if state in ("missing", "foreign"):
        what = "does not exist" if state == "missing" else "is not a copy made by lops vendor"
        raise LopsError(f"{path} {what}; to make one: lops vendor {options.destination}")
    if state == "current":
        print(f"{path} is current")
        return 0
    copied = copies.version_of(path)
    print(f"{path} is {state}: lops_adapters {copied}; installed: {__version__}")
    return 1
