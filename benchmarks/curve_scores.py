"""Scores of every confidence and selections of every rule, for ``benchmarks.curves``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.nc_curves import curve_numbers, distributions, kept_numbers, wrong_samples
from lops_adapters.core import RULES, LearningOrder
from lops_adapters.datasets import Corpus
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes import Probe, Snapshot
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.classifiers import build_classifier
from lops_adapters.runs.folder import RunFolder
from lops_adapters.selection import CONFIDENCES, Confidence, build
from lops_adapters.selection.methods.confidences import watch
from lops_adapters.self_training.settings import SelfTrainingSettings

AT_EPOCHS = tuple(CONFIDENCES)
# The final probability does not depend on how often the probe is checked.
INSIDE_EPOCHS = ("learning-order", "stability", "margin")
# Each with trainings of its own, or none.
ALONE = ("random", "o2u-net", "mc-dropout", "entropy", "automatic")


@dataclass(frozen=True)
class Task:
    """What all measurements share.

    Attributes:
        corpus, labels, samples: the documents, and the n pseudo-labelled ones.
        codes, gold: (n,) int, pseudo-labels and gold labels as places among the classes.
        settings, run, seed, device, quiet: of the run.
        alone: which of :data:`ALONE` to measure.

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
    alone: Sequence[str] = ALONE

    def probe(self) -> Probe:
        """Return a new probe."""
        return build_classifier(self.settings, self.device, probing=True, quiet=self.quiet)


class Rule(Confidence):
    """A rule that watches the confidences' training; kept samples have the score 1."""

    def __init__(self, codes: np.ndarray, n_classes: int, order: LearningOrder) -> None:
        super().__init__(codes, n_classes)
        self._order = order

    def observe(self, snapshot: Snapshot) -> None:
        """Show the rule a snapshot, unless it has stopped."""
        if not self._order.done:
            self._order.observe(snapshot.probabilities, time=snapshot.time, close=True)

    def scores(self) -> np.ndarray:
        """Return 1 for kept samples and 0 for the others, (n,) float64."""
        return self._order.select().mask.astype(np.float64)


@dataclass
class _Scores:
    """What is collected while the samples are scored; keys are names of confidences."""

    scores: dict[str, np.ndarray] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    trainings: dict[str, str] = field(default_factory=dict)
    selections: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, scores: np.ndarray, seconds: float, training: str) -> None:
        self.scores[name] = scores
        self.seconds[name] = seconds
        self.trainings[name] = training


def watched(
    task: Task, every: int | None, names: Sequence[str], taus: Sequence[float]
) -> dict[str, np.ndarray]:
    """Train one probe and watch it.

    Args:
        task: what is measured.
        every: updates between two checkpoints; None: one checkpoint per epoch.
        names: of the confidences.
        taus: of the rules.

    Returns:
        Scores by name, masks by ``rule tau``, and ``learnt_at``, (n,) each.

    """
    labelled = Labelled.of(task.samples, task.labels.labels)
    classes, codes = labelled.classes, labelled.codes
    probe = task.probe()
    checkpoints = probe.max_epochs * (1 if every is None else len(codes) // every + 1)
    watching: dict[str, Confidence] = {
        name: CONFIDENCES[name](codes, len(classes)) for name in names
    }
    for rule in RULES:
        for tau in taus:
            order = LearningOrder(
                codes.tolist(),
                tau,
                rule,
                checkpoints,
                range(len(classes)),
                float(probe.max_epochs),
                task.seed,
            )
            watching[f"{rule} {tau:g}"] = Rule(codes, len(classes), order)
    confidences = list(watching.values())
    watch(probe, task.samples, codes, len(classes), confidences, seed=task.seed, every=every)
    found = {name: item.scores() for name, item in watching.items()}
    return {"learnt_at": watching["learning-order"].learnt_at(), **found}


def rank(task: Task, taus: Sequence[float]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Score the samples with every confidence, and select with every rule.

    Returns:
        The numbers for the result file; and the (n,) scores by name, with ``learnt at``.

    """
    _warm_up(task)
    found = _Scores()
    by_epoch = _watch_all(task, taus, found)
    for name in methods_alone(task):
        _score_alone(task, name, found)
    confidences = {
        name: {
            "seconds": found.seconds[name],
            "training": found.trainings[name],
            **curve_numbers(scores, task.codes, task.gold),
        }
        for name, scores in found.scores.items()
    }
    epochs = task.probe().max_epochs
    probability, learnt_at = by_epoch["probability"], by_epoch["learnt_at"]
    ids = [task.corpus.ids[place] for place in task.labels.positions]
    numbers = {
        "confidences": confidences,
        "selections": found.selections,
        "epochs": epochs,
        "distributions": distributions(probability, learnt_at, task.codes == task.gold, epochs),
        "wrong": wrong_samples(
            probability, learnt_at, task.codes, task.gold, ids, task.corpus.classes, epochs
        ),
    }
    return numbers, {**found.scores, "learnt at": learnt_at}


def inside_epochs(name: str, every: int | None) -> str:
    """Return what a confidence is called that looks at the probe every few updates."""
    return f"{name}, every {every} updates"


def _warm_up(task: Task) -> None:
    """Load what the first training would load, so that it is not timed."""
    first = slice(0, 64)
    n_classes = len(task.corpus.classes)
    task.probe().fit(task.samples[first], task.codes[first], n_classes, seed=task.seed)


def _watch_all(task: Task, taus: Sequence[float], found: _Scores) -> dict[str, np.ndarray]:
    """Watch one training per epoch and one inside epochs; return the arrays of the first."""
    by_epoch: dict[str, np.ndarray] = {}
    every = task.settings.updates_between_checkpoints
    for step, names in ((None, AT_EPOCHS), (every, INSIDE_EPOCHS)):
        when = "epoch" if step is None else f"{step} updates"
        stage = f"watched-{step or 'epoch'}"
        arrays, seconds = task.run.stage(stage, partial(watched, task, step, names, taus))
        by_epoch = by_epoch or arrays
        for name in names:
            key = name if step is None else inside_epochs(name, step)
            found.add(key, arrays[name], seconds, f"one, looked at every {when}")
        for rule in RULES:
            for tau in taus:
                kept = kept_numbers(arrays[f"{rule} {tau:g}"] > 0, task.codes, task.gold)
                row = {"method": "lops", "rule": rule, "tau": tau, "every": when}
                found.selections.append({**row, **kept})
    return by_epoch


def methods_alone(task: Task) -> list[str]:
    """Return the methods with trainings of their own that the probe supports."""
    dropout = task.probe().has_dropout
    return [name for name in task.alone if dropout or name not in ("mc-dropout", "entropy")]


def _score_alone(task: Task, name: str, found: _Scores) -> None:
    """Score the samples with a method that has trainings of its own."""
    selector = build(
        name, None if name == "random" else task.probe(), seed=task.seed, quiet=task.quiet
    )
    selection, seconds = task.run.select(name, partial(selector, task.samples, task.labels.labels))
    found.add(name, selection.confidence, seconds, selection.stopped)
    if name == "automatic":
        kept = kept_numbers(selection.mask, task.codes, task.gold)
        row = {"method": name, "rule": None, "tau": None, "every": selection.stopped}
        found.selections.append({**row, **kept})
