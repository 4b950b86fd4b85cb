"""The command line that all frameworks share, and the table they end with."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lops_adapters.core import RULES, LopsError
from lops_adapters.datasets import Dataset, load, names
from lops_adapters.runs.settings import FrameworkSettings


def common_parser(
    framework: str, description: str, settings: type[FrameworkSettings], epilog: str
) -> argparse.ArgumentParser:
    """Return a parser with the options that every framework has; a framework adds its own."""
    parser = argparse.ArgumentParser(
        prog=f"python -m lops_adapters.{framework}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    data = parser.add_argument_group("data")
    data.add_argument(
        "--dataset",
        default="demo",
        metavar="NAME|DIR",
        help=f"a name ({', '.join(names())}) or a path (default: demo)",
    )
    data.add_argument(
        "--data-dir", metavar="D", help="folder where named data sets are looked for first"
    )
    data.add_argument("--offline", action="store_true", help="never download anything")
    data.add_argument(
        "--text-column", metavar="NAME", help="of a CSV, JSONL or Parquet file (default: text)"
    )
    data.add_argument(
        "--label-column",
        metavar="NAME",
        help="gold labels, only for the evaluation (default: label)",
    )
    data.add_argument(
        "--max-docs",
        type=int,
        metavar="N",
        help="take a seeded simple random sample of N documents",
    )
    arms = parser.add_argument_group("selection")
    known, usual = ", ".join((*settings.ARMS, *settings.MORE_ARMS)), ",".join(settings.ARMS)
    arms.add_argument(
        "--arms",
        default=usual,
        help=f"comma-separated, of {known}; standard selects nothing (default: {usual})",
    )
    arms.add_argument("--rule", choices=RULES, help="reading of LOPS (default: released)")
    arms.add_argument(
        "--tau", type=float, metavar="T", help="fraction of each class (default: 0.5)"
    )
    arms.add_argument(
        "--every",
        type=_interval,
        metavar="B|epoch",
        help="look at the probe after every B updates, or every epoch",
    )
    arms.add_argument(
        "--probe",
        choices=settings.PROBES,
        help="the classifier that is watched (default: the framework's own)",
    )
    run = parser.add_argument_group("run")
    run.add_argument(
        "--preset",
        choices=("quick", "paper"),
        help="sizes for a CPU, or the published ones (default: paper where CUDA is)",
    )
    run.add_argument(
        "--encoder",
        metavar="NAME|PATH",
        help="minilm, a name on the Hugging Face hub, or a local folder",
    )
    run.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of everything random (default: 0)"
    )
    run.add_argument("--seeds", type=int, default=1, metavar="N", help="run N seeds: S, S+1, ...")
    run.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)"
    )
    run.add_argument(
        "--output", type=Path, metavar="DIR", help="run folder (default: a new one under runs/)"
    )
    run.add_argument("--resume", action="store_true", help="go on with a killed run")
    run.add_argument("--quiet", action="store_true", help="no progress bars, no log")
    run.add_argument(
        "--faithful",
        action="store_true",
        default=None,
        help="the original's ways where they can be chosen, see the docs",
    )
    return parser


def _interval(text: str) -> int | str:
    return text if text == "epoch" else int(text)


def read_arms(text: str, known: Sequence[str]) -> list[str]:
    """Return the arms of a comma-separated list, in the order of the known ones.

    >>> read_arms("lops,standard", ("standard", "lops"))
    ['standard', 'lops']
    """
    asked = [name.strip() for name in text.split(",") if name.strip()]
    if not asked or set(asked) - set(known):
        raise LopsError(
            f"the arms to run are {text!r}; wanted some of {', '.join(known)}, separated by commas"
        )
    return [name for name in known if name in asked]


def read_seeds(options: argparse.Namespace) -> range:
    """Return the seeds to run: all of them, and those that iterations derive from them, fit 32
    bits.
    """
    if options.seeds < 1:
        raise LopsError(f"--seeds is {options.seeds}; wanted at least 1")
    if not 0 <= options.seed < 2**31:
        raise LopsError(f"--seed is {options.seed}; wanted a whole number from 0 to {2**31 - 1}")
    return range(options.seed, options.seed + options.seeds)


def read_dataset(options: argparse.Namespace, seed: int) -> Dataset:
    """Load the data set the options name, or the sample of it that they ask for."""
    if options.max_docs is not None and options.max_docs < 2:
        raise LopsError(f"--max-docs is {options.max_docs}; wanted at least 2")
    dataset = load(
        options.dataset,
        data_dir=options.data_dir,
        offline=options.offline,
        quiet=options.quiet,
        text_column=options.text_column,
        label_column=options.label_column,
    )
    return dataset if options.max_docs is None else dataset.sample(options.max_docs, seed)


def default_preset() -> str:
    """Return ``paper`` where a CUDA device is, ``quick`` elsewhere."""
    from lops_adapters.probes.torch_tools import resolve_device

    return "paper" if resolve_device("auto").type == "cuda" else "quick"
