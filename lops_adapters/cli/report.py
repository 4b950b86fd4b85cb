"""``lops report``: rewrite the page of a finished run from the files in its folder."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from lops_adapters.cli import options as shared
from lops_adapters.core import LopsError
from lops_adapters.storage import read_json

WRITERS = "lops select, lops compare or a framework's run"
AGAIN = "run the command that wrote it again"
_DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
EXAMPLES = """\
  lops report tickets-lops
  lops report runs/conwea-20news-coarse-quick-seed0"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops report``."""
    parser = shared.parser(
        "report", f"Rewrite report.html in a folder written by {WRITERS}.", EXAMPLES
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="the folder")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite the page of a folder."""
    folder = parser().parse_args(arguments).run
    if not folder.is_dir():
        raise LopsError(f"{folder} is not a folder; wanted one written by {WRITERS}")
    try:
        path = _write(folder)
    except LopsError:
        raise
    except _DAMAGE as error:
        reason = f"{type(error).__name__}: {error}"
        raise LopsError(
            f"the files of {folder} are damaged ({reason:.200}); "
            "run the command that wrote them again"
        ) from None
    print(f"Report: {path}")
    return 0


def _write(folder: Path) -> Path:
    """Write the page that the files in a folder are made for."""
    from lops_adapters.report.contents import ComparisonPage, SelectionPage

    path = folder / "report.html"
    if (folder / "summary.json").is_file():
        from lops_adapters.report.selection_page import write_selection_page

        stored = read_json(folder / "summary.json", AGAIN)
        return write_selection_page(path, SelectionPage.from_json(stored))
    if (folder / "comparison.json").is_file():
        from lops_adapters.report.comparison_page import write_comparison_page

        stored = read_json(folder / "comparison.json", AGAIN)
        return write_comparison_page(path, ComparisonPage.from_json(stored))
    if (folder / "metrics.json").is_file():
        from lops_adapters.report.framework_page import write_report

        return write_report(folder)
    raise LopsError(
        f"{folder} holds no summary.json, comparison.json or metrics.json; "
        f"wanted a folder written by {WRITERS}"
    )
