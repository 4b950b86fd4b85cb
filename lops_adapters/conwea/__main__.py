"""``python -m lops_adapters.conwea``: Standard and LOPS side by side."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lops_adapters import arguments
from lops_adapters.conwea.settings import PROBES, ConweaSettings
from lops_adapters.core import LopsError

_EXAMPLES = """examples:
  python -m lops_adapters.conwea                                           the embedded demo corpus, about two minutes
  python -m lops_adapters.conwea --dataset 20news --max-docs 4000          20 Newsgroups, five classes
  python -m lops_adapters.conwea --dataset my_folder --arms lops --tau 0.9 --resume
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ConWea as the options say; returns the exit status."""
    parser = arguments.common_parser("conwea", "ConWea with LOPS: Standard and LOPS side by side.", PROBES, _EXAMPLES)
    parser.add_argument("--iterations", type=int, metavar="N", help="trainings of the classifier (default: 6)")
    options = parser.parse_args(argv)
    arguments.set_up_logging(options.quiet)
    arms = arguments.read_arms(options.arms)
    seeds = arguments.read_seeds(options)
    preset = options.preset or arguments.default_preset()
    chosen = ("encoder", "iterations", "probe", "rule", "tau", "every", "faithful")
    settings = ConweaSettings.preset(preset, **{name: getattr(options, name) for name in chosen})
    for seed in seeds:
        path, metrics = _one(options, settings, preset, arms, seed)
        print(f"\nConWea on {metrics['dataset']}, {metrics['n_documents']} documents, preset {preset}, seed {seed}\n")
        print(arguments.table(metrics))
        print(f"\nrun folder: {path}")
    return 0


def _one(options: Any, settings: ConweaSettings, preset: str, arms: Sequence[str], seed: int) -> tuple[Path, dict[str, Any]]:
    from lops_adapters.conwea.run import run_conwea
    from lops_adapters.probes.torch_tools import resolve_device
    from lops_adapters.report.html import write_report
    from lops_adapters.runs import RunFolder, describe, free_folder, slug

    device = str(resolve_device(options.device))
    dataset = arguments.read_dataset(options, seed)
    if not dataset.corpus.seeds or not any(dataset.corpus.seeds.values()):
        raise LopsError(f"{options.dataset} comes without seed words, which ConWea starts from; put a seedwords.json beside the data")
    base = Path("runs") / slug(f"conwea-{dataset.corpus.name}-{preset}-seed{seed}")
    path = options.output or free_folder(base, resume=options.resume)
    if options.output and options.seeds > 1:
        path = options.output / f"seed{seed}"
    config = describe("conwea", {"preset": preset, "max_docs": options.max_docs, **settings.as_dict()}, seed, dataset.corpus, device)
    run = RunFolder.open(path, config, resume=options.resume)
    try:
        metrics = run_conwea(dataset, settings, run, arms, seed=seed, device=device, quiet=options.quiet)
    except LopsError:
        run.discard_unstarted()
        raise
    write_report(path)
    return path, metrics


if __name__ == "__main__":
    sys.exit(arguments.guarded(main)(None))
