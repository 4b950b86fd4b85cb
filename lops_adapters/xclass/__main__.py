"""``python -m lops_adapters.xclass``: Standard and LOPS side by side."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from lops_adapters import console
from lops_adapters.runs import options as arguments
from lops_adapters.runs.command import run_command
from lops_adapters.xclass.settings import ALIGNMENTS, ATTENTION, XclassSettings

_EXAMPLES = """examples:
  python -m lops_adapters.xclass                                                       the embedded demo corpus
  python -m lops_adapters.xclass --dataset agnews --max-docs 4000                      a sample of AG News
  python -m lops_adapters.xclass --dataset my_folder --arms standard,lops,lops-all     both places of the selector
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run X-Class as the options say; returns the exit status."""
    description = (
        "X-Class with LOPS: Standard and LOPS side by side, from the names of the classes alone."
    )
    parser = arguments.common_parser("xclass", description, XclassSettings, _EXAMPLES)
    own = parser.add_argument_group("X-Class")
    own.add_argument(
        "--classifier",
        metavar="NAME|PATH",
        help="default: that of --encoder; bert-base-cased for bert-base-uncased",
    )
    own.add_argument(
        "--attention", choices=ATTENTION, help="how words weigh in a document (default: mixture)"
    )
    own.add_argument("--alignment", choices=ALIGNMENTS, help="default: gmm")
    own.add_argument(
        "--confident",
        type=float,
        metavar="F",
        help="fraction of each class that is trained on (default: 0.5)",
    )
    options = parser.parse_args(argv)

    from lops_adapters.report.html import write_report
    from lops_adapters.xclass.run import run_xclass

    return run_command("X-Class", XclassSettings, run_xclass, write_report, options)


if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
