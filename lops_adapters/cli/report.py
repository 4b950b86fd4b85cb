"""``lops report``: rewrite the page of a finished run from the files in its folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.storage import read_json

WRITERS = "lops select, lops compare or a framework's run"
AGAIN = "run the command that wrote it again"
EXAMPLES = """examples:
  lops report tickets-lops
  lops report runs/conwea-20news-coarse-quick-seed0"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops report``."""
    found = argparse.ArgumentParser(
        prog="lops report",
        description=f"Rewrite report.html in a folder written by {WRITERS}.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("run", type=Path, metavar="RUN", help="the folder")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite the page of a folder."""
    folder = parser().parse_args(arguments).run
    if not folder.is_dir():
        raise LopsError(f"{folder} is not a folder; wanted one written by {WRITERS}")
    print(f"Report: {write(folder)}")
    return 0


def write(folder: Path) -> Path:
    """Write ``report.html`` into a folder and return its path.

    Raises:
        LopsError: no file in the folder that a page is made from, or a damaged one.

    """
    try:
        return _write(folder)
    except LopsError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        found = f"{type(error).__name__}: {error}"
        raise LopsError(
            f"the files of {folder} are damaged ({found:.200}); "
            "run the command that wrote them again"
        ) from None


def _write(folder: Path) -> Path:
    path = folder / "report.html"
    if (folder / "summary.json").is_file():
        from lops_adapters.report.contents import SelectionPage
        from lops_adapters.report.selection_page import write_selection_page

        stored = read_json(folder / "summary.json", AGAIN)
        return write_selection_page(path, SelectionPage.from_json(stored))
    if (folder / "comparison.json").is_file():
        from lops_adapters.report.comparison_page import write_comparison_page
        from lops_adapters.report.contents import ComparisonPage

        stored = read_json(folder / "comparison.json", AGAIN)
        return write_comparison_page(path, ComparisonPage.from_json(stored))
    if (folder / "metrics.json").is_file():
        from lops_adapters.report.framework_page import write_report

        return write_report(folder)
    raise LopsError(
        f"{folder} holds no summary.json, comparison.json or metrics.json; "
        f"wanted a folder written by {WRITERS}"
    )
