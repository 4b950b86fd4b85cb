"""``python -m lops_adapters.westclass``: Standard and LOPS side by side."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lops_adapters import console
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.runs import options as arguments
from lops_adapters.runs.command import run_command
from lops_adapters.westclass.settings import NETWORKS, SUPERVISION, WestclassSettings

_EXAMPLES = """examples:
  python -m lops_adapters.westclass                                           the embedded demo corpus, about three minutes
  python -m lops_adapters.westclass --dataset agnews --supervision names      AG News from the names of its classes
  python -m lops_adapters.westclass --dataset my_folder --labelled some.csv   a few labelled documents: columns id and label
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run WeSTClass as the options say; returns the exit status."""
    description = "WeSTClass with LOPS: Standard and LOPS side by side."
    parser = arguments.common_parser("westclass", description, WestclassSettings, _EXAMPLES)
    own = parser.add_argument_group("WeSTClass")
    own.add_argument(
        "--supervision",
        choices=SUPERVISION,
        help="default: documents with --labelled, else keywords (names without any)",
    )
    own.add_argument(
        "--labelled",
        dest="labelled_file",
        type=Path,
        metavar="CSV",
        help="labelled documents: columns id and label",
    )
    own.add_argument(
        "--labelled-per-class",
        type=int,
        metavar="N",
        help="draw N labelled documents a class from the gold labels",
    )
    own.add_argument(
        "--network", choices=NETWORKS, help="default: cnn; han is much slower without a GPU"
    )
    own.add_argument(
        "--length",
        choices=("short", "long"),
        help="which published settings to use (default: by the mean length)",
    )
    own.add_argument(
        "--min-count", type=int, metavar="N", help="rarer words get no vector (default: 5)"
    )
    own.add_argument(
        "--pretrain-epochs",
        type=int,
        metavar="N",
        help="default: the published 20 or 30 (cnn), 100 or 200 (han)",
    )
    own.add_argument(
        "--update-interval",
        type=int,
        metavar="N",
        help="updates between two targets (default: the published 50 or 100)",
    )
    own.add_argument(
        "--max-iterations",
        type=int,
        metavar="N",
        help="updates of self-training at most (default: 5000)",
    )
    options = parser.parse_args(argv)

    from lops_adapters.report.html import write_report
    from lops_adapters.westclass.run import run_westclass

    return run_command(
        "WeSTClass", WestclassSettings, run_westclass, write_report, options, check=supervised
    )


def supervised(
    settings: WestclassSettings, options: argparse.Namespace, dataset: Dataset, seed: int
) -> WestclassSettings:
    """Return the settings with the supervision that options and data give, or refuse what does not
    fit together.
    """
    if options.labelled_file is not None and options.labelled_per_class is not None:
        raise LopsError("found --labelled and --labelled-per-class; wanted one of them")
    pairs: list[tuple[str, str]] = []
    if options.labelled_file is not None:
        pairs = read_labelled(options.labelled_file)
    elif options.labelled_per_class is not None:
        pairs = draw_labelled(dataset, options.labelled_per_class, seed)
    kind = options.supervision or (
        "documents" if pairs else "keywords" if any(dataset.corpus.seeds.values()) else "names"
    )
    if kind == "documents" and not pairs:
        raise LopsError(
            "--supervision documents needs labelled documents: give --labelled CSV or --labelled-per-class N"
        )
    if kind != "documents" and pairs:
        raise LopsError(
            f"found labelled documents and --supervision {kind}; wanted --supervision documents, or no labelled documents"
        )
    if kind == "keywords" and not any(dataset.corpus.seeds.values()):
        raise LopsError(
            f"{options.dataset} comes without seed words; put a seeds.json beside the data, or give --supervision names"
        )
    return replace(settings, supervision=kind, labelled=tuple(pairs))


def read_labelled(path: Path) -> list[tuple[str, str]]:
    """Return (document id, class) pairs from a CSV file with the columns id and label."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            reader = csv.DictReader(handle)
            rows = [(reader.line_num, row.get("id"), row.get("label")) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LopsError(
            f"{path} cannot be read ({error}); wanted a UTF-8 CSV file with the columns id and label"
        ) from None
    wrong = next((number for number, *pair in rows if not all(pair)), None)
    if not rows or wrong is not None:
        found = "nothing" if not rows else f"no id or no label in line {wrong}"
        raise LopsError(
            f"{path}: found {found}; wanted a header with the columns id and label, and one labelled document a line"
        )
    return [(name, label) for _, name, label in rows if name and label]


def draw_labelled(dataset: Dataset, per_class: int, seed: int) -> list[tuple[str, str]]:
    """Draw documents whose gold label is given away, at most half of a class; they are left out of
    the measurements.
    """
    if dataset.gold is None:
        raise LopsError(
            "--labelled-per-class draws from gold labels, and this data set has none; give --labelled CSV"
        )
    labels = np.array(dataset.gold.labels, dtype=object)
    rng = np.random.default_rng(seed)
    pairs = []
    for label in dataset.corpus.classes:
        own = np.flatnonzero(labels == label)
        if not 1 <= per_class <= len(own) // 2:
            raise LopsError(
                f"--labelled-per-class is {per_class}; wanted 1 to half of the {len(own)} documents of {label}"
            )
        pairs += [
            (dataset.corpus.ids[i], label)
            for i in np.sort(rng.choice(own, size=per_class, replace=False))
        ]
    return pairs


if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
