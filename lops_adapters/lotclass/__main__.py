"""``python -m lops_adapters.lotclass``: Standard and LOPS side by side."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from lops_adapters import console
from lops_adapters.core import LopsError
from lops_adapters.lotclass.processes import follow, follows
from lops_adapters.lotclass.settings import SUPERVISION, LotclassSettings
from lops_adapters.runs import options as arguments
from lops_adapters.runs.command import run_command

_EXAMPLES = """examples:
  python -m lops_adapters.lotclass --supervision keywords                                 the embedded demo corpus, from its seed words
  python -m lops_adapters.lotclass --dataset agnews --lops-at both                        both places of the selector
  python -m lops_adapters.lotclass --dataset 20news-coarse --supervision keywords         seed words as alternative names
  accelerate launch --num_processes 2 -m lops_adapters.lotclass --dataset agnews          two processes share the work
"""
# Where the selector stands -> the arms of the run.
_PLACES = {
    "rows": "standard,lops",
    "refresh": "standard,lops-refresh",
    "both": "standard,lops,lops-refresh",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run LOTClass as the options say; returns the exit status."""
    description = (
        "LOTClass with LOPS: Standard and LOPS side by side, from the names of the classes alone."
    )
    parser = arguments.common_parser("lotclass", description, LotclassSettings, _EXAMPLES)
    own = parser.add_argument_group("LOTClass")
    own.add_argument(
        "--lops-at",
        choices=tuple(_PLACES),
        help="select after the rows are made (arm lops), at each refresh (lops-refresh), or both",
    )
    own.add_argument(
        "--supervision",
        choices=SUPERVISION,
        help="what classes are found by: their names (default) or the seed words",
    )
    own.add_argument(
        "--names",
        dest="names_file",
        type=Path,
        metavar="JSON",
        help="alternative names of classes: {class: [name, ...]}",
    )
    own.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="documents are cut at N word pieces (default: 64, paper preset 200)",
    )
    own.add_argument(
        "--match-threshold",
        type=int,
        metavar="N",
        help="of the best 50 predictions, for a position to speak of a class (20)",
    )
    own.add_argument(
        "--min-rows", type=int, metavar="N", help="rows that each class needs (default: 11)"
    )
    own.add_argument(
        "--self-train-epochs",
        type=float,
        metavar="E",
        help="passes over the documents (default: 1)",
    )
    options = parser.parse_args(argv)
    if options.lops_at is not None:
        if options.arms != parser.get_default("arms"):
            raise LopsError("found --arms and --lops-at; wanted one of them")
        options.arms = _PLACES[options.lops_at]
    options.names = read_names_file(options.names_file)
    return follow(_run, options) if follows() else _run(options)


def _run(options: argparse.Namespace) -> int:
    from lops_adapters.lotclass.run import run_lotclass
    from lops_adapters.report.html import write_report

    return run_command("LOTClass", LotclassSettings, run_lotclass, write_report, options)


def read_names_file(path: Path | None) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Return (class, alternative names) pairs from a JSON file, None without one."""
    if path is None:
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LopsError(
            f"{path} cannot be read ({error}); wanted a JSON object of class names and lists of alternative names"
        ) from None
    lists = isinstance(stored, dict) and all(
        isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        for names in stored.values()
    )
    if not lists:
        raise LopsError(
            f'{path} holds something else; wanted a JSON object such as {{"sports": ["sports", "football"]}}'
        )
    return tuple((label, tuple(names)) for label, names in stored.items())


if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
