"""What every framework's ``python -m`` does: settings and data in, a run folder and its table out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from lops_adapters import console
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.report.arms import arm_table
from lops_adapters.runs import options as arguments
from lops_adapters.runs.settings import FrameworkSettings

SomeSettings = TypeVar("SomeSettings", bound=FrameworkSettings)


def run_command(
    title: str,
    settings_class: type[SomeSettings],
    run: Callable[..., dict[str, Any]],
    write_report: Callable[[Path], Path],
    options: argparse.Namespace,
    *,
    check: Callable[[SomeSettings, argparse.Namespace, Dataset, int], SomeSettings] | None = None,
) -> int:
    """Run a framework once a seed and print each run's table; returns the exit status.

    Args:
        title: name of the framework, see :func:`command_name`.
        settings_class: its settings; options of the same name override the preset's values.
        run: ``run(dataset, settings, folder, arms, seed=, device=, quiet=)``, which returns the
            contents of ``metrics.json``.
        write_report: writes the page about a finished run folder.
        options: parsed command line.
        check: ``check(settings, options, dataset, seed)`` returns the settings to use with the
            data, or refuses them; default: none.

    """
    console.set_up_logging(options.quiet)
    arms = arguments.read_arms(options.arms, (*settings_class.ARMS, *settings_class.MORE_ARMS))
    seeds = arguments.read_seeds(options)
    preset = options.preset or arguments.default_preset()
    overrides = {
        field.name: getattr(options, field.name)
        for field in fields(settings_class)
        if hasattr(options, field.name)
    }
    chosen = settings_class.preset(preset, **overrides)
    for seed in seeds:
        dataset = arguments.read_dataset(options, seed)
        settings = chosen if check is None else check(chosen, options, dataset, seed)
        path, metrics = _one(
            command_name(title), settings, run, options, preset, arms, dataset, seed
        )
        write_report(path)
        print(
            f"\n{title} on {metrics['dataset']}, {metrics['n_documents']} documents, preset {preset}, seed {seed}\n"
        )
        print(arm_table(metrics))
        print(f"\nrun folder: {path}")
    return 0


def _one(
    framework: str,
    settings: FrameworkSettings,
    run: Callable[..., dict[str, Any]],
    options: argparse.Namespace,
    preset: str,
    arms: Sequence[str],
    dataset: Dataset,
    seed: int,
) -> tuple[Path, dict[str, Any]]:
    from lops_adapters.probes.torch_tools import resolve_device
    from lops_adapters.runs.folder import RunFolder, describe, free_folder, slug

    device = str(resolve_device(options.device))
    base = Path("runs") / slug(f"{framework}-{dataset.corpus.name}-{preset}-seed{seed}")
    path = options.output or free_folder(base, resume=options.resume)
    if options.output and options.seeds > 1:
        path = options.output / f"seed{seed}"
    config = describe(
        framework,
        {"preset": preset, "max_docs": options.max_docs, **settings.as_dict()},
        seed,
        dataset.corpus,
        device,
    )
    folder = RunFolder.open(path, config, resume=options.resume)
    try:
        return path, run(
            dataset, settings, folder, arms, seed=seed, device=device, quiet=options.quiet
        )
    except LopsError:
        folder.discard_unstarted()
        raise


def command_name(title: str) -> str:
    """Return what a framework is called in commands, folders and extras.

    >>> command_name("X-Class"), command_name("Self training")
    ('xclass', 'self_training')
    """
    return title.lower().replace("-", "").replace(" ", "_")


def require(title: str, modules: Sequence[str]) -> None:
    """Refuse to start where a library that a framework needs is not installed; the framework's
    extra has its :func:`command_name`.
    """
    for module in modules:
        if find_spec(module) is None:
            raise LopsError(
                f"{title} needs {module}, which is not installed; run: pip install 'lops_adapters[{command_name(title)}]'"
            )
