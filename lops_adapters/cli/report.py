"""``lops report``: the page of a finished run, written again from the files beside it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lops_adapters.cli.files import reading
from lops_adapters.core import LopsError

EXAMPLES = """examples:
  lops report tickets-lops
  lops report runs/conwea-20news-coarse-quick-seed0"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops report``."""
    found = argparse.ArgumentParser(
        prog="lops report",
        description="Write report.html again, in a folder that lops select, lops compare or a framework's run has written.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("run", type=Path, metavar="RUN", help="the folder")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Find out what the folder holds and write its page."""
    folder = parser().parse_args(arguments).run
    if not folder.is_dir():
        raise LopsError(
            f"{folder} is no folder; wanted one that lops select, lops compare or a framework's run has written"
        )
    print(f"Report: {write(folder)}")
    return 0


def write(folder: Path) -> Path:
    """Write ``report.html`` into a folder and return its path.

    Raises:
        LopsError: the folder holds none of the files that a page is made from, or a damaged one.

    """
    path = folder / "report.html"
    if (folder / "summary.json").is_file():
        from lops_adapters.report.contents import SelectionPage
        from lops_adapters.report.selection_page import write_selection_page

        return write_selection_page(path, SelectionPage.from_json(_read(folder / "summary.json")))
    if (folder / "comparison.json").is_file():
        from lops_adapters.report.comparison_page import write_comparison_page
        from lops_adapters.report.contents import ComparisonPage

        return write_comparison_page(
            path, ComparisonPage.from_json(_read(folder / "comparison.json"))
        )
    if (folder / "metrics.json").is_file():
        from lops_adapters.report.framework_page import write_report

        return write_report(folder)
    raise LopsError(
        f"{folder} holds none of summary.json, comparison.json and metrics.json; wanted the folder of a finished run"
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        with reading(path):
            stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise LopsError(f"{path}: no JSON ({error}); run the command that wrote it again") from None
    return stored
