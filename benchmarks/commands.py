"""Options, data and run folder of the measurements that write one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.record import command_line
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset, load_dataset
from lops_adapters.runs.folder import RunFolder, describe


def parser(module: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the options of every such measurement."""
    new = argparse.ArgumentParser(prog=f"python -m benchmarks.{module}", description=description)
    new.add_argument("--dataset", default="demo", metavar="NAME|DIR", help="default: demo")
    new.add_argument(
        "--data-dir", metavar="DIR", help="folder to look for named data sets in first"
    )
    new.add_argument(
        "--headers", choices=("keep", "strip"), default="keep", help="of messages (default: keep)"
    )
    new.add_argument("--max-docs", type=int, metavar="N", help="use a random sample of N documents")
    new.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: 0)")
    new.add_argument("--output", type=Path, required=True, metavar="DIR", help="run folder")
    new.add_argument("--resume", action="store_true", help="resume a killed run")
    new.add_argument("--quiet", action="store_true", help="no progress bars, no log")
    return new


def labelled(options: argparse.Namespace) -> tuple[Dataset, list[str]]:
    """Load the data set, or a sample of it, and its gold labels.

    Raises:
        LopsError: the data set has no gold labels or no seed words.

    """
    dataset = load_dataset(
        options.dataset, data_dir=options.data_dir, quiet=options.quiet, headers=options.headers
    )
    if options.max_docs is not None:
        dataset = dataset.sample(options.max_docs, options.seed)
    if dataset.gold is None:
        raise LopsError(
            f"{options.dataset} has no gold labels; noise is measured with them. "
            "Pass a data set that has them."
        )
    if not any(dataset.corpus.seeds.values()):
        raise LopsError(
            f"{options.dataset} has no seed words; pseudo-labels are made with them. "
            "Add a seedwords.json to its folder."
        )
    return dataset, list(dataset.gold.labels)


def open_run(
    module: str,
    settings: Mapping[str, Any],
    options: argparse.Namespace,
    dataset: Dataset,
    device: str = "cpu",
) -> RunFolder:
    """Start or resume the run folder ``--output``."""
    config = describe(
        module,
        {"max_docs": options.max_docs, "headers": options.headers, **settings},
        options.seed,
        dataset.corpus,
        device,
    )
    config["command"] = command_line(module)
    return RunFolder.open(options.output, config, resume=options.resume)
