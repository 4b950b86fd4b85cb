"""What a framework is, and the one function that runs it."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any, ClassVar, Generic

import numpy as np

from lops_adapters import extras
from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.datasets.class_words import NAME_FILE, to_write
from lops_adapters.evaluation import Evaluator
from lops_adapters.registry import Registry, load
from lops_adapters.runs.arms import parent
from lops_adapters.runs.files import write_labels, write_predictions, write_prepared, write_stage
from lops_adapters.runs.job import Job, Settings
from lops_adapters.runs.metrics import Measure, add_arm, arm_metrics, best_arm
from lops_adapters.runs.rounds import run_rounds
from lops_adapters.runs.settings import FrameworkSettings
from lops_adapters.runs.stages import Prepared, Stage

log = logging.getLogger(__name__)
_GROUP = "lops_adapters.frameworks"
# A framework is imported when it is asked for. Its name is its command, its extra and the kind of
# its models. Packages bring more of them as entry points, see docs/framework.md.
FRAMEWORKS: Registry[EntryPoint] = Registry(
    "framework",
    _GROUP,
    EntryPoint,
    [
        EntryPoint(name, f"lops_adapters.{name}.framework:{name.upper()}", _GROUP)
        for name in ("conwea", "lotclass", "self_training", "westclass", "xclass")
    ],
)


def named(name: str) -> Framework[Any]:
    """Return the framework of a name in :data:`FRAMEWORKS`; LopsError: it is none."""
    found = load(FRAMEWORKS[name], "framework")
    if not isinstance(found, Framework) or found.name != name:
        raise LopsError(
            f"the entry point {name} = {FRAMEWORKS[name].value} is {found!r:.80}; wanted an "
            f"instance of Framework with the name {name!r}"
        )
    return found


class Framework(Generic[Settings]):
    """A framework that makes pseudo-labels, selects among them and trains a classifier.

    A subclass says what it is called and needs. Its method stands in the module ``pipeline``, in
    two functions: ``prepare(corpus, job)`` returns what all arms share, a subclass of
    :class:`~lops_adapters.runs.stages.Prepared`; ``run_arm(arm, prepared, job)`` yields the
    :class:`stages <lops_adapters.runs.stages.Stage>` of an arm. :func:`run` writes everything.

    Attributes:
        name: in commands and folders, a key of :data:`FRAMEWORKS`.
        title: in tables and pages.
        summary: one sentence for ``--help``.
        examples: (arguments, explanation) pairs for ``--help``.
        settings: the class of its settings.
        pipeline: the module of its method.
        modules: optional libraries it needs; its extra brings them.
        model: ``module:class`` of its trained classifier; default: a probe that reads texts.
        reads_beginning: it reads only the first word pieces of a document, so message headers leave
            little else to read.
        words: the file of words that it starts from, for the message about data without classes.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    examples: ClassVar[Sequence[tuple[str, str]]]
    settings: ClassVar[type[FrameworkSettings]]
    pipeline: ClassVar[str]
    modules: ClassVar[tuple[str, ...]]
    model: ClassVar[str] = "lops_adapters.runs.classifiers:ProbeClassifier"
    reads_beginning: ClassVar[bool] = False
    words: ClassVar[str] = NAME_FILE

    @property
    def is_shipped(self) -> bool:
        """Whether it is of this package: a module and an extra of it have its name."""
        return type(self).__module__.startswith("lops_adapters.")

    @property
    def program(self) -> str:
        """How its command is typed."""
        return f"python -m lops_adapters.{self.name}" if self.is_shipped else f"lops {self.name}"

    @property
    def extra(self) -> str | None:
        """The extra that installs its libraries; None: another package brings them."""
        return self.name if self.is_shipped else None

    def add_options(self, group: argparse._ArgumentGroup) -> None:
        """Add the options that are not settings."""

    def settle(
        self, settings: Settings, options: argparse.Namespace, dataset: Dataset, seed: int
    ) -> Settings:
        """Return the settings to use with this data, or refuse them."""
        return settings

    def needs(self, settings: Settings) -> tuple[str, ...]:
        """Return the optional libraries that these settings need."""
        return self.modules

    def check(self, arms: Sequence[str], settings: Settings, dataset: Dataset) -> None:
        """Raise a LopsError if data, arms or settings cannot work, before any work."""

    def prepare(self, corpus: Corpus, job: Job[Settings]) -> Prepared:
        """Return what all arms share."""
        prepared: Prepared = import_module(self.pipeline).prepare(corpus, job)
        return prepared

    def run_arm(self, arm: str, prepared: Any, job: Job[Settings]) -> Iterator[Stage]:
        """Yield the stages of one arm."""
        stages: Iterator[Stage] = import_module(self.pipeline).run_arm(arm, prepared, job)
        return stages


def run(
    framework: Framework[Settings], dataset: Dataset, job: Job[Settings], arms: Sequence[str]
) -> dict[str, Any]:
    """Run arms and return the contents of ``metrics.json``, which is written after each arm.

    Only the evaluator gets gold labels, and the one method that is defined by them. Arms that an
    earlier call finished in the same run folder are kept in ``metrics.json``. LopsError for a
    missing library, and data or settings that cannot work, where possible before the long work.
    """
    by_gold = _check(framework, dataset, job, arms)
    corpus = dataset.corpus
    job = replace(job, words=class_words(corpus, job.settings))
    prepared = framework.prepare(corpus, job)
    job = job if prepared.words is None else replace(job, words=prepared.words)
    gold = None if dataset.gold is None else np.array(dataset.gold.labels, dtype=object)
    measured = prepared.given.others(len(corpus))
    measure = Measure(Evaluator(gold, job.checked).at(measured), measured, corpus.classes)
    write_prepared(prepared, job)
    about = {
        "framework": framework.name,
        "title": framework.title,
        "dataset": corpus.name,
        "n_documents": len(corpus),
        "classes": list(corpus.classes),
        **({"checked_rows": len(job.checked)} if job.checked else {}),
        **measure.prepared(prepared),
    }
    metrics: dict[str, Any] = {}
    # Arms that are told how many to keep come last.
    for arm in sorted(arms, key=lambda one: job.settings.row(one).takes_n):
        arm_job = replace(job, gold=gold if arm in by_gold else None)
        rows, predicted, folder = [], np.zeros(0), job.folder.arm(arm)
        for number, stage in enumerate(_stages(framework, arm, prepared, arm_job)):
            write_stage(stage, number, folder)
            rows.append(measure.stage(stage, number))
            predicted = stage.probabilities
        write_predictions(folder / "predictions.csv", corpus.ids, corpus.classes, predicted)
        if not (folder / "model" / "lops.json").is_file():
            log.warning(
                "%s holds no classifier; to train it again, delete %s-*.npz in %s and resume",
                folder / "model",
                arm,
                job.folder.work,
            )
        metrics = add_arm(job.folder, about, arm, arm_metrics(rows))
    write_labels(job.folder.arm(best_arm(metrics)), prepared, job)
    return metrics


def _stages(
    framework: Framework[Settings], arm: str, prepared: Prepared, job: Job[Settings]
) -> Iterator[Stage]:
    for stage in framework.run_arm(arm, prepared, job):
        yield stage
    if job.settings.final_rounds:
        yield from run_rounds(arm, stage.probabilities, prepared, job, framework.name)


def class_words(corpus: Corpus, settings: FrameworkSettings) -> dict[str, list[str]]:
    """Return the words of each class that selection methods may use: names, then seed words.

    No more than what supervises the framework itself.
    """
    seeds = corpus.seeds if settings.reads_seeds else {}
    return {
        label: list(dict.fromkeys([*corpus.names[label], *seeds.get(label, ())]))
        for label in corpus.classes
    }


def _check(
    framework: Framework[Settings], dataset: Dataset, job: Job[Settings], arms: Sequence[str]
) -> list[str]:
    """Return the arms that are defined by gold labels; raise as :func:`run`, before any work."""
    extras.require(framework.title, framework.needs(job.settings), framework.extra)
    by_gold = [arm for arm in arms if job.settings.row(arm).needs_gold]
    if by_gold and dataset.gold is None:
        raise LopsError(
            f"{by_gold[0]} needs gold labels, and {dataset.corpus.name} has none; leave it out"
        )
    for arm in arms:
        if (controlled := parent(arm)) and controlled not in arms:
            raise LopsError(f"{arm} is the control of {controlled}; add it to {typed('arms')}")
    corpus = dataset.corpus
    if len(corpus.classes) < 2:
        option = " (or give --names business,sports)" if framework.words == NAME_FILE else ""
        raise LopsError(
            f"{corpus.name} has {len(corpus.classes)} classes; wanted at least two: "
            f"{to_write(framework.words, ())}{option}"
        )
    framework.check(arms, job.settings, dataset)
    return by_gold
