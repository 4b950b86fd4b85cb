"""How well confidences rank pseudo-labels, and what rules keep of them.

Measures iteration 0 of self-training, without bootstrapping: noise-coverage curves, distributions
of correct and wrong labels, and F1 against coverage and against thresholds.

    python -m benchmarks.curves --dataset 20news-fine --classifier linear --data-dir DIR \\
        --output RUN_FOLDER
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from benchmarks import commands
from benchmarks.curve_f1 import Cuts, f1_rows
from benchmarks.curve_scores import ALONE, AT_EPOCHS, INSIDE_EPOCHS, Task, inside_epochs, rank
from lops_adapters.console import guarded, set_up_logging
from lops_adapters.core import LopsError
from lops_adapters.runs.job import Job
from lops_adapters.self_training.pipeline import prepare
from lops_adapters.self_training.settings import SelfTrainingSettings
from lops_adapters.storage import write_json

_SETTINGS = (
    "classifier",
    "epochs",
    "batch_size",
    "learning_rate",
    "max_tokens",
    "pseudo_labels",
    "every",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure all confidences and rules on one data set; returns the exit status."""
    options = _parser().parse_args(argv)
    set_up_logging(options.quiet)
    alone = _named("--also", options.also, ALONE)
    inside = {f"{name}/inside": inside_epochs(name, options.every) for name in INSIDE_EPOCHS}
    of = _named("--f1-of", options.f1_of, (*AT_EPOCHS, *alone, *inside))
    task, gold = _task(options, of, alone)
    numbers, scores = rank(task, options.taus)
    by = [inside.get(name, name) for name in of]
    cuts = Cuts(by, options.f1_even, options.f1_at, options.f1_above, numbers["epochs"])
    labels = {
        "count": len(task.labels),
        "noise": float((task.codes != task.gold).mean()),
        "coverage": task.labels.coverage,
    }
    metrics = {
        "framework": "curves",
        "dataset": task.corpus.name,
        "n_documents": len(task.corpus),
        "classes": task.corpus.classes,
        "pseudo_labels": labels,
        **numbers,
        "f1": list(f1_rows(task, scores, cuts, gold)),
    }
    write_json(task.run.path / "metrics.json", metrics)
    return 0


def _named(option: str, text: str, known: Sequence[str]) -> list[str]:
    """Return the names of an option, which are separated by commas."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise LopsError(
                f"{option} names {name!r}; pass some of {', '.join(known)}, separated by commas"
            )
    return names


def _task(
    options: argparse.Namespace, of: Sequence[str], alone: Sequence[str]
) -> tuple[Task, list[str]]:
    """Open the run and make pseudo-labels; return them with all gold labels."""
    from lops_adapters.encoders.torch_tools import resolve_device

    settings = SelfTrainingSettings.preset(
        options.preset,
        classifier=options.classifier,
        max_tokens=options.max_tokens,
        every=options.every,
    )
    device = str(resolve_device(options.device))
    dataset, gold = commands.labelled(options)
    stored = {
        **{name: getattr(settings, name) for name in _SETTINGS},
        "preset": options.preset,
        "taus": options.taus,
        "f1_at": options.f1_at,
        "f1_of": of,
        "f1_even": options.f1_even,
        "also": alone,
        "f1_above": options.f1_above,
    }
    corpus = dataset.corpus
    run = commands.open_run("curves", stored, options, dataset, device)
    job = Job(run, settings, options.seed, device, options.quiet)
    labels = prepare(corpus, job).pseudo_labels
    place = {name: code for code, name in enumerate(corpus.classes)}
    task = Task(
        corpus,
        labels,
        [corpus.texts[i] for i in labels.positions],
        labels.codes,
        np.array([place[gold[i]] for i in labels.positions]),
        settings,
        run,
        options.seed,
        device,
        options.quiet,
        alone,
    )
    return task, gold


def _parser() -> argparse.ArgumentParser:
    parser = commands.parser("curves", "Noise-coverage curves of confidences, and what rules keep.")
    parser.add_argument(
        "--classifier",
        default="linear",
        metavar="NAME|PATH",
        help="linear, minilm, a hub name or a folder (default: linear)",
    )
    parser.add_argument(
        "--preset",
        choices=("quick", "paper"),
        default="quick",
        help="sizes, as for self-training (default: quick)",
    )
    parser.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="cut documents at N word pieces (default: the preset's)",
    )
    parser.add_argument(
        "--every",
        type=int,
        default=40,
        metavar="B",
        help="updates between checkpoints inside epochs (default: 40)",
    )
    parser.add_argument(
        "--taus",
        type=_numbers,
        default=[0.3, 0.5, 0.7, 0.9],
        metavar="T,T",
        help="taus of the rules (default: 0.3,0.5,0.7,0.9)",
    )
    parser.add_argument(
        "--f1-at",
        type=_numbers,
        default=[],
        metavar="F,F",
        help="train on these shares of the best samples (default: none)",
    )
    parser.add_argument(
        "--f1-of",
        default="learning-order,probability",
        metavar="NAME,NAME",
        help="confidences for --f1-at; NAME/inside: every B updates (default: "
        "learning-order,probability)",
    )
    parser.add_argument(
        "--f1-even",
        action="store_true",
        help="for --f1-at, also keep the same share of every class by each confidence",
    )
    parser.add_argument(
        "--also",
        default=",".join(ALONE),
        metavar="NAME,NAME",
        help="methods with trainings of their own, or none (default: %(default)s)",
    )
    parser.add_argument(
        "--f1-above",
        type=_numbers,
        default=[],
        metavar="P,P",
        help="train on samples above these probabilities, and on those learnt by each epoch "
        "(default: none)",
    )
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)"
    )
    return parser


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


if __name__ == "__main__":
    sys.exit(guarded(main)(None))
