"""What ``python -m lops_adapters.NAME`` does: options and data in, run folders and tables out."""

import argparse
import logging
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from lops_adapters import console, extras
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.report.framework_page import arm_table, caution, checked_words, write_report
from lops_adapters.runs import options as command_line
from lops_adapters.runs.files import TO_CHECK
from lops_adapters.runs.folder import RunFolder, describe, free_folder, slug
from lops_adapters.runs.framework import Framework, run
from lops_adapters.runs.job import Job
from lops_adapters.runs.metrics import best_arm
from lops_adapters.runs.settings import FrameworkSettings

log = logging.getLogger(__name__)


def command(framework: Framework[Any]) -> Callable[[Sequence[str] | None], int]:
    """Return the ``main(arguments)`` of a framework, which returns the exit status.

    It runs the framework once per seed and prints each run's table.
    """

    def main(arguments: Sequence[str] | None = None) -> int:
        options = command_line.parser_for(framework).parse_args(arguments)
        console.set_up_logging(options.quiet)
        seeds = command_line.read_seeds(options)
        preset = options.preset or command_line.default_preset()
        names = [item.name for item in fields(framework.settings) if hasattr(options, item.name)]
        chosen = framework.settings.preset(
            preset, **{name: getattr(options, name) for name in names}
        )
        arms = chosen.arms(options.arms)
        extras.require(framework.title, framework.needs(chosen), framework.extra)
        if chosen.faithful and (unlike := chosen.unlike_paper()):
            pairs = ", ".join(f"{name} {here} ({there})" for name, (here, there) in unlike.items())
            message = "--faithful without all of the paper's settings (in brackets): %s"
            log.warning(f"{message}; --preset paper takes them", pairs)
        headers = command_line.read_headers(framework, options, chosen, preset)
        for seed in seeds:
            dataset = command_line.read_dataset(options, seed, headers)
            if options.headers == "auto" and dataset.headers == "strip":
                log.info("message headers are stripped; --headers keep reads them")
            settings = framework.settle(chosen, options, dataset, seed)
            path, metrics = _run_once(framework, settings, options, preset, arms, dataset, seed)
            page = write_report(path)
            print(
                f"\n{framework.title} on {metrics['dataset']}: {metrics['n_documents']} documents, "
                f"preset {preset}, seed {seed}{checked_words(metrics)}\n"
            )
            print("\n".join([arm_table(metrics), *caution(metrics)]))
            print(f"\nLabels: {path / 'predictions.csv'} (of {best_arm(metrics)})")
            if (path / TO_CHECK).exists():
                print(f"Check: {path / TO_CHECK}")
            print(f"Report: {page}")
            print(f"Run folder: {path}")
        return 0

    return main


def _run_once(
    framework: Framework[Any],
    settings: FrameworkSettings,
    options: argparse.Namespace,
    preset: str,
    arms: Sequence[str],
    dataset: Dataset,
    seed: int,
) -> tuple[Path, dict[str, Any]]:
    from lops_adapters.encoders.torch_tools import device_name

    device = device_name(options.device)
    corpus = dataset.corpus
    base = Path("runs") / slug(f"{framework.name}-{corpus.name}-{preset}-seed{seed}")
    path = options.output or free_folder(base, resume=options.resume)
    if options.output and options.seeds > 1:
        path = options.output / f"seed{seed}"
    checked, sha256 = command_line.read_checks(options, corpus)
    data = {"max_docs": options.max_docs, "headers": dataset.headers, "checked": sha256}
    asked = {"preset": preset, **data, **settings.as_dict()}
    config = describe(framework.name, asked, seed, corpus, device)
    folder = RunFolder.open(path, config, resume=options.resume)
    try:
        job = Job(folder, settings, seed, device, options.quiet, checked=checked)
        return path, run(framework, dataset, job, arms)
    except LopsError:
        folder.discard_unstarted()
        raise
