"""``python -m lops_adapters.conwea``: Standard and LOPS side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lops_adapters import console
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.runs import options as arguments
from lops_adapters.runs.command import run_command

_EXAMPLES = """examples:
  python -m lops_adapters.conwea                                           the embedded demo corpus, about two minutes
  python -m lops_adapters.conwea --dataset 20news --max-docs 4000          20 Newsgroups, five classes
  python -m lops_adapters.conwea --dataset my_folder --arms lops --tau 0.9 --resume
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ConWea as the options say; returns the exit status."""
    parser = arguments.common_parser(
        "conwea", "ConWea with LOPS: Standard and LOPS side by side.", ConweaSettings, _EXAMPLES
    )
    parser.add_argument(
        "--iterations", type=int, metavar="N", help="trainings of the classifier (default: 6)"
    )
    options = parser.parse_args(argv)

    from lops_adapters.conwea.run import run_conwea
    from lops_adapters.report.html import write_report

    return run_command("ConWea", ConweaSettings, run_conwea, write_report, options, check=_check)


def _check(
    settings: ConweaSettings, options: argparse.Namespace, dataset: Dataset, _: int
) -> ConweaSettings:
    if not any(dataset.corpus.seeds.values()):
        raise LopsError(
            f"{options.dataset} comes without seed words, which ConWea starts from; put a seedwords.json beside the data"
        )
    return settings


if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
