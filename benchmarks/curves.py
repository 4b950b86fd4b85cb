"""How well confidences rank pseudo-labels, and what rules keep of them: iteration 0 of
self-training, without bootstrapping.

The data of the paper's noise-coverage curves, distributions, and of F1 against coverage and against
a threshold on the probability.

    python -m benchmarks.curves --dataset 20news-fine --classifier linear --data-dir DIR --output
    RUN_FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import commands
from benchmarks.nc_curves import curve_numbers, distributions, kept_numbers, wrong_samples
from lops_adapters.console import guarded, set_up_logging
from lops_adapters.core import RULES, LearningOrder, LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.probes import Snapshot
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.folder import RunFolder
from lops_adapters.selection import CONFIDENCES, METHODS, Confidence, build
from lops_adapters.selection.ranked import best, read_labels, shares, total
from lops_adapters.selection.scoring import watch
from lops_adapters.self_training.classifier import build_classifier, build_probe
from lops_adapters.self_training.pipeline import prepare
from lops_adapters.self_training.settings import SelfTrainingSettings
from lops_adapters.self_training.training_set import codes_of
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
_AT_EPOCHS = tuple(CONFIDENCES)
_INSIDE_EPOCHS = (
    "learning-order",
    "stability",
    "margin",
)  # the probability at the end is the same however often one looks
_ALONE = (
    "random",
    "o2u-net",
    "mc-dropout",
    "entropy",
    "automatic",
)  # each with trainings of its own, or none


@dataclass(frozen=True)
class Task:
    """What all measurements share: n pseudo-labelled samples, their pseudo-labels and gold labels
    as (n,) places among the classes.
    """

    corpus: Corpus
    labels: PseudoLabels
    samples: list[str]
    codes: np.ndarray
    gold: np.ndarray
    settings: SelfTrainingSettings
    run: RunFolder
    seed: int
    device: str
    quiet: bool


class Rule(Confidence):
    """Watches the same training as the confidences, and ends with what a rule of LOPS keeps: 1 or
    0.
    """

    def __init__(self, codes: np.ndarray, n_classes: int, order: LearningOrder) -> None:
        super().__init__(codes, n_classes)
        self._order = order

    def observe(self, snapshot: Snapshot) -> None:
        """Show the rule what it would still have looked at."""
        if not self._order.done:
            self._order.observe(snapshot.probabilities, time=snapshot.time, close=True)

    def scores(self) -> np.ndarray:
        """Return 1 for what is kept, 0 for the rest, (n,) float64."""
        return self._order.select().mask.astype(np.float64)


def watched(
    task: Task, every: int | None, names: Sequence[str], taus: Sequence[float]
) -> dict[str, np.ndarray]:
    """Train one probe; scores by name, masks by ``rule tau``, and the (n,) time at which each
    sample is learnt.
    """
    classes, codes = read_labels(task.samples, task.labels.labels)
    probe = build_probe(task.settings, task.device, quiet=task.quiet)
    looks = probe.max_epochs * (1 if every is None else len(codes) // every + 1)
    watching: dict[str, Confidence] = {
        name: CONFIDENCES[name](codes, len(classes)) for name in names
    }
    for rule in RULES:
        for tau in taus:
            order = LearningOrder(
                codes.tolist(),
                tau,
                rule,
                looks,
                range(len(classes)),
                float(probe.max_epochs),
                task.seed,
            )
            watching[f"{rule} {tau:g}"] = Rule(codes, len(classes), order)
    watch(
        probe,
        task.samples,
        codes,
        len(classes),
        list(watching.values()),
        seed=task.seed,
        every=every,
    )
    return {
        "learnt_at": watching["learning-order"].learnt_at(),
        **{name: item.scores() for name, item in watching.items()},
    }


def rank(task: Task, taus: Sequence[float]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Score the samples in every way and let every rule select; returns numbers, and by name the
    (n,) scores and ``learnt at``.
    """
    _warm_up(task)
    scores: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    trainings: dict[str, str] = {}
    selections: list[dict[str, Any]] = []
    every = task.settings.updates_between_checkpoints
    epoch_looks: dict[str, np.ndarray] = {}
    for step, names in ((None, _AT_EPOCHS), (every, _INSIDE_EPOCHS)):
        when = "epoch" if step is None else f"{step} updates"
        arrays, took = task.run.stage(
            f"watched-{step or 'epoch'}", partial(watched, task, step, names, taus)
        )
        epoch_looks = epoch_looks or arrays
        for name in names:
            key = name if step is None else f"{name}, every {when}"
            scores[key], seconds[key], trainings[key] = (
                arrays[name],
                took,
                f"one, looked at every {when}",
            )
        for rule in RULES:
            for tau in taus:
                kept = kept_numbers(arrays[f"{rule} {tau:g}"] > 0, task.codes, task.gold)
                selections.append(
                    {"method": "lops", "rule": rule, "tau": tau, "every": when, **kept}
                )
    for name in methods_alone(task):
        probe = (
            None if name == "random" else build_probe(task.settings, task.device, quiet=task.quiet)
        )
        selector = build(name, probe, seed=task.seed, quiet=task.quiet)
        selection, took = task.run.select(name, partial(selector, task.samples, task.labels.labels))
        scores[name], seconds[name], trainings[name] = selection.confidence, took, selection.stopped
        if name == "automatic":
            kept = kept_numbers(selection.mask, task.codes, task.gold)
            selections.append(
                {"method": name, "rule": None, "tau": None, "every": selection.stopped, **kept}
            )
    confidences = {
        name: {
            "seconds": seconds[name],
            "training": trainings[name],
            **curve_numbers(values, task.codes, task.gold),
        }
        for name, values in scores.items()
    }
    epochs = build_probe(task.settings, task.device).max_epochs
    probability, learnt_at = epoch_looks["probability"], epoch_looks["learnt_at"]
    ids = [task.corpus.ids[place] for place in task.labels.positions]
    numbers = {
        "confidences": confidences,
        "selections": selections,
        "epochs": epochs,
        "distributions": distributions(probability, learnt_at, task.codes == task.gold, epochs),
        "wrong": wrong_samples(
            probability, learnt_at, task.codes, task.gold, ids, task.corpus.classes, epochs
        ),
    }
    return numbers, {**scores, "learnt at": learnt_at}


def _warm_up(task: Task) -> None:
    """Load what the first training would load, so that its seconds are its own."""
    first = slice(0, 64)
    probe = build_probe(task.settings, task.device)
    probe.fit(task.samples[first], task.codes[first], len(task.corpus.classes), seed=task.seed)


def methods_alone(task: Task) -> list[str]:
    """Return the methods with trainings of their own that the probe can do."""
    dropout = build_probe(task.settings, task.device).has_dropout
    return [name for name in _ALONE if dropout or name not in ("mc-dropout", "entropy")]


def f1_rows(
    task: Task,
    scores: dict[str, np.ndarray],
    of: Sequence[str],
    coverages: Sequence[float],
    thresholds: Sequence[float],
    epochs: int,
    gold: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """Train a classifier on the best of the samples, for some coverages, and on those above some
    thresholds; yields a row each.

    Thresholds on the probability are given; where there are any, those on the learning order are
    all that there are: 1 - t/T of epoch t.
    """
    evaluator = Evaluator(gold, task.corpus.classes)
    everything = np.ones(len(task.codes), dtype=bool)
    wanted: list[tuple[str, float, Callable[[], np.ndarray]]] = (
        [("all", 1.0, lambda: everything)] if coverages or thresholds else []
    )
    for name in of:
        for share in coverages:
            wanted.append((name, share, partial(_best_share, task, name, scores[name], share)))
    for limit in thresholds:
        wanted.append(
            ("probability above", limit, partial(np.greater_equal, scores["probability"], limit))
        )
    for epoch in range(1, epochs + 1) if thresholds else ():
        wanted.append(
            (
                "learning order above",
                1 - epoch / epochs,
                partial(np.less_equal, scores["learnt at"], epoch),
            )
        )
    for name, value, mask_of in wanted:
        mask = mask_of()
        if len(np.unique(task.codes[mask])) < 2:
            continue
        arrays, seconds = task.run.stage(
            f"f1-{name}-{value:g}".replace(" ", "-"), partial(_classified, task, mask)
        )
        predicted = np.array(task.corpus.classes, dtype=object)[arrays["predicted"]]
        yield {
            "by": name,
            "at": value,
            **kept_numbers(mask, task.codes, task.gold),
            **evaluator.scores(predicted),
            "seconds": seconds,
        }


def _best_share(task: Task, name: str, scores: np.ndarray, share: float) -> np.ndarray:
    """Mask (n,) bool of the best share, of each class where the method of that name does so."""
    classes, codes = read_labels(task.samples, task.labels.labels)
    if METHODS[name].stratified:
        return best(scores, codes, shares(codes, len(classes), None, share), task.seed)
    return best(scores, codes, total(len(codes), None, share), task.seed)


def _classified(task: Task, mask: np.ndarray) -> dict[str, np.ndarray]:
    classifier = build_classifier(task.settings, task.device, quiet=task.quiet)
    classifier.fit(
        [task.samples[i] for i in np.flatnonzero(mask)],
        task.codes[mask],
        len(task.corpus.classes),
        seed=task.seed,
    )
    return {"predicted": classifier.predict_proba(task.corpus.texts).argmax(axis=1)}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure all confidences and rules on one data set and with one classifier; returns the exit
    status.
    """
    parser = commands.parser("curves", "Noise-coverage curves of confidences, and what rules keep.")
    parser.add_argument(
        "--classifier",
        default="linear",
        metavar="NAME|PATH",
        help="linear, minilm, a hub name or a folder",
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
        help="documents are cut at N word pieces (default: the preset's)",
    )
    parser.add_argument(
        "--every",
        type=int,
        default=40,
        metavar="B",
        help="updates between two looks inside epochs (default: 40)",
    )
    parser.add_argument(
        "--taus",
        type=_numbers,
        default=[0.3, 0.5, 0.7, 0.9],
        metavar="T,T",
        help="of the rules (default: 0.3,0.5,0.7,0.9)",
    )
    parser.add_argument(
        "--f1-at",
        type=_numbers,
        default=[],
        metavar="F,F",
        help="train on the best so large shares (default: none)",
    )
    parser.add_argument(
        "--f1-of",
        default="learning-order,probability",
        metavar="NAME,NAME",
        help="by these confidences",
    )
    parser.add_argument(
        "--f1-above",
        type=_numbers,
        default=[],
        metavar="P,P",
        help="train on so large probabilities, and on what each epoch has learnt",
    )
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)"
    )
    options = parser.parse_args(argv)
    set_up_logging(options.quiet)
    chosen = {
        "classifier": options.classifier,
        "max_tokens": options.max_tokens,
        "every": options.every,
    }
    settings = SelfTrainingSettings.preset(options.preset, **chosen)
    of = [name.strip() for name in options.f1_of.split(",")]
    unknown = [name for name in of if name not in _AT_EPOCHS]
    if unknown:
        raise LopsError(
            f"--f1-of names {unknown[0]!r}; wanted some of {', '.join(_AT_EPOCHS)}, separated by commas"
        )

    from lops_adapters.probes.torch_tools import resolve_device

    device = str(resolve_device(options.device))
    dataset, gold = commands.labelled(options)
    extra = {
        "preset": options.preset,
        "taus": options.taus,
        "f1_at": options.f1_at,
        "f1_of": of,
        "f1_above": options.f1_above,
    }
    run = commands.open_run(
        "curves",
        {**{name: getattr(settings, name) for name in _SETTINGS}, **extra},
        options,
        dataset,
        device,
    )
    initial = prepare(
        dataset.corpus, settings, run, device=device, quiet=options.quiet
    ).pseudo_labels
    place = {name: code for code, name in enumerate(dataset.corpus.classes)}
    task = Task(
        dataset.corpus,
        initial,
        [dataset.corpus.texts[i] for i in initial.positions],
        codes_of(initial),
        np.array([place[gold[i]] for i in initial.positions]),
        settings,
        run,
        options.seed,
        device,
        options.quiet,
    )
    numbers, scores = rank(task, options.taus)
    about = {
        "framework": "curves",
        "dataset": dataset.corpus.name,
        "n_documents": len(dataset.corpus),
        "classes": dataset.corpus.classes,
    }
    noise = float((task.codes != task.gold).mean())
    rows = list(f1_rows(task, scores, of, options.f1_at, options.f1_above, numbers["epochs"], gold))
    labels = {"count": len(initial), "noise": noise, "coverage": initial.coverage}
    write_json(run.path / "metrics.json", {**about, "pseudo_labels": labels, **numbers, "f1": rows})
    return 0


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


if __name__ == "__main__":
    sys.exit(guarded(main)(None))
