"""The command line of a framework: shared options, and one option per setting."""

import argparse
import hashlib
from collections.abc import Callable
from dataclasses import Field, fields
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset, load_dataset, names
from lops_adapters.datasets.checked import read_checked
from lops_adapters.datasets.newsgroups import HEADERS
from lops_adapters.datasets.readers import find_checked
from lops_adapters.runs.framework import Framework
from lops_adapters.runs.settings import FrameworkSettings


def parser_for(framework: Framework[Any]) -> argparse.ArgumentParser:
    """Return the parser of a framework's command."""
    program, settings = framework.program, framework.settings
    width = max(len(arguments) for arguments, _ in framework.examples)
    examples = [f"  {program} {example:<{width}}   {what}" for example, what in framework.examples]
    parser = argparse.ArgumentParser(
        prog=program,
        description=framework.summary,
        epilog="\n".join(["examples:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_data(parser.add_argument_group("data"))
    groups = {
        "selection": parser.add_argument_group("selection"),
        "run": parser.add_argument_group("run"),
        "": parser.add_argument_group(framework.title),
    }
    known = ", ".join(settings.known_arms())
    groups["selection"].add_argument(
        "--arms",
        help=f"comma-separated, of {known}; standard selects nothing; corrected has the "
        "committee's labels and rejects nothing; random-of-ARM keeps, or relabels, as many as ARM "
        f"at random (default: {settings.shown_arms()})",
    )
    _add_run(groups["run"])
    hints = get_type_hints(settings)
    for item in fields(settings):
        if item.metadata.get("option") is not None:
            _add_setting(groups[item.metadata["option"]], settings, item, hints[item.name])
    framework.add_options(groups[""])
    return parser


def _add_data(data: argparse._ArgumentGroup) -> None:
    data.add_argument(
        "--dataset",
        default="demo",
        metavar="NAME|PATH",
        help=f"a name ({', '.join(names())}), or a folder or file (default: demo)",
    )
    data.add_argument(
        "--data-dir", metavar="DIR", help="where named data sets are looked for first"
    )
    data.add_argument("--offline", action="store_true", help="never download anything")
    data.add_argument(
        "--text-column", metavar="NAME", help="of a CSV, JSONL or Parquet file (default: text)"
    )
    data.add_argument(
        "--label-column", metavar="NAME", help="gold labels, only to evaluate (default: label)"
    )
    data.add_argument(
        "--checked",
        type=Path,
        metavar="FILE",
        help="documents that a person has checked: columns id and label, - for none of the classes "
        "(default: checked.csv in the folder of the data, if it is there)",
    )
    data.add_argument(
        "--names",
        dest="names_from",  # a framework's settings may have names
        metavar="A,B,...|JSON",
        help="the classes where the data have no labels, A,B,...; or a JSON file of words that "
        "name them, {class: name or [name, ...]}; labels: the labels (default: names.json in the "
        "folder of the data, or the data set's)",
    )
    data.add_argument(
        "--headers",
        choices=HEADERS,
        default="auto",
        help="strip: subject and body of the messages of 20 Newsgroups; auto: strip for xclass and "
        "lotclass, which read only the beginning, except with --preset paper and --faithful "
        "(default: auto)",
    )
    data.add_argument(
        "--max-docs", type=int, metavar="N", help="take a random sample of N documents"
    )


def _add_run(run: argparse._ArgumentGroup) -> None:
    run.add_argument(
        "--preset",
        choices=("quick", "paper"),
        help="quick: sizes for a CPU; paper: the published ones (default: paper with CUDA, "
        "else quick)",
    )
    run.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: 0)")
    run.add_argument("--seeds", type=int, default=1, metavar="N", help="run N seeds: S, S+1, ...")
    run.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)"
    )
    run.add_argument(
        "--output", type=Path, metavar="DIR", help="run folder (default: a new one under runs/)"
    )
    run.add_argument("--resume", action="store_true", help="continue a run that was stopped")
    run.add_argument("--quiet", action="store_true", help="no progress bars, no log")


def _add_setting(
    group: argparse._ArgumentGroup, settings: type[FrameworkSettings], item: Field[Any], hint: Any
) -> None:
    about = item.metadata
    flag = f"--{item.name.replace('_', '-')}"
    choices = settings.PROBES if item.name == "probe" else about["choices"]
    if hint is bool:
        group.add_argument(flag, action="store_true", default=None, help=about["help"])
        return
    kinds: dict[Any, tuple[Callable[[str], Any], str]] = {
        int: (int, "N"),
        float: (float, "X"),
        str: (str, "NAME"),
    }
    possible = (hint, *get_args(hint))
    kind, metavar = next(kinds[one] for one in possible if one in kinds)
    if kind is not str and str in possible:
        kind = partial(_number_or_word, kind)
    group.add_argument(
        flag,
        type=kind,
        choices=choices,
        metavar=None if choices else about["metavar"] or metavar,
        help=f"{about['help']} (default: {settings.usual(item.name)})".replace("%", "%%"),
    )


def _number_or_word(kind: Callable[[str], Any], text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        return text


def read_seeds(options: argparse.Namespace) -> range:
    """Return the seeds to run; they and the seeds of iterations have to fit 32 bits."""
    if options.seeds < 1:
        raise LopsError(f"--seeds is {options.seeds}; wanted at least 1")
    if not 0 <= options.seed < 2**31:
        raise LopsError(f"--seed is {options.seed}; wanted a whole number from 0 to {2**31 - 1}")
    return range(options.seed, options.seed + options.seeds)


def read_headers(
    framework: Framework[Any], options: argparse.Namespace, settings: FrameworkSettings, preset: str
) -> str:
    """Return ``--headers`` as data sets take it, with the framework's answer to ``auto``.

    The answer is ``auto`` (strip if the texts have headers) for a framework that reads only the
    beginning, else ``keep``. The published settings read the texts as they are.
    """
    asked: str = options.headers
    if asked != "auto":
        return asked
    published = preset == "paper" or settings.faithful
    return "auto" if framework.reads_beginning and not published else "keep"


def read_dataset(options: argparse.Namespace, seed: int, headers: str) -> Dataset:
    """Return the data set that the options name, or a random sample; headers as asked for."""
    if options.max_docs is not None and options.max_docs < 2:
        raise LopsError(f"--max-docs is {options.max_docs}; wanted at least 2")
    dataset = load_dataset(
        options.dataset,
        data_dir=options.data_dir,
        offline=options.offline,
        quiet=options.quiet,
        text_column=options.text_column,
        label_column=options.label_column,
        names=options.names_from,
        headers=headers,
    )
    return dataset if options.max_docs is None else dataset.sample(options.max_docs, seed)


def read_checks(
    options: argparse.Namespace, corpus: Corpus
) -> tuple[dict[int, str | None], str | None]:
    """Return the labels by a person, by position, and the SHA-256 of their file; None: no file."""
    path = options.checked or find_checked(Path(options.dataset))
    if path is None:
        return {}, None
    checked = read_checked(path, corpus, sampled=options.max_docs is not None)
    if not checked and options.max_docs is None:
        raise LopsError(f"{path}: no row is checked yet; fill in the column checked, or remove it")
    return checked, hashlib.sha256(path.read_bytes()).hexdigest()


def default_preset() -> str:
    """Return ``paper`` on a machine with CUDA, ``quick`` elsewhere."""
    from lops_adapters.encoders.torch_tools import device_name

    return "paper" if device_name() == "cuda" else "quick"
