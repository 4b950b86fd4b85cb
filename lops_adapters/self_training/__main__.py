"""``python -m lops_adapters.self_training``: selection methods side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lops_adapters import console
from lops_adapters.datasets import Dataset
from lops_adapters.runs import options as arguments
from lops_adapters.runs.command import run_command
from lops_adapters.self_training.settings import SelfTrainingSettings

_EXAMPLES = """examples:
  python -m lops_adapters.self_training --classifier linear                            the embedded demo corpus, in seconds
  python -m lops_adapters.self_training --dataset 20news-fine --method standard,lops,random
  python -m lops_adapters.self_training --dataset my_folder --pseudo-labels mine.csv   pseudo-labels made elsewhere
"""
_ARMS = (*SelfTrainingSettings.ARMS, *SelfTrainingSettings.MORE_ARMS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run self-training as the options say; returns the exit status."""
    description = "Self-training with LOPS and other selection methods side by side."
    parser = arguments.common_parser("self_training", description, SelfTrainingSettings, _EXAMPLES)
    own = parser.add_argument_group(
        "self-training", conflict_handler="resolve"
    )  # two options have other names here
    usual = ",".join(SelfTrainingSettings.ARMS)
    own.add_argument(
        "--method",
        "--arms",
        dest="arms",
        default=usual,
        help=f"comma-separated, of {', '.join(_ARMS)}; each is an arm (default: {usual})",
    )
    own.add_argument(
        "--classifier",
        "--encoder",
        metavar="NAME|PATH",
        help="linear, minilm, a name on the hub or a folder (default: minilm)",
    )
    own.add_argument(
        "--pseudo-labels",
        metavar="HOW|FILE",
        help="string-match (default), exclusive-string-match, or a CSV file: id, label",
    )
    own.add_argument(
        "--iterations",
        type=int,
        metavar="N",
        help="rounds of selection, training and bootstrapping (default: 5)",
    )
    own.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="documents are cut at N word pieces (default: 128, paper preset 512)",
    )
    own.add_argument(
        "--delta",
        type=float,
        metavar="P",
        help="a document predicted with more than this is pseudo-labelled (default: 0.6)",
    )
    own.add_argument(
        "--stratified",
        action="store_true",
        default=None,
        help="every method but lops takes the same share of every class",
    )
    options = parser.parse_args(argv)

    from lops_adapters.report.html import write_report
    from lops_adapters.self_training.run import run_self_training

    return run_command(
        "Self training",
        SelfTrainingSettings,
        run_self_training,
        write_report,
        options,
        check=_settled,
    )


def _settled(
    settings: SelfTrainingSettings, options: argparse.Namespace, _: Dataset, __: int
) -> SelfTrainingSettings:
    return settings.settled(arguments.read_arms(options.arms, _ARMS))


if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
