"""What a framework is, and the one function that runs it."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from operator import itemgetter
from typing import Any, ClassVar, Generic

import numpy as np

from lops_adapters import extras
from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.datasets.class_words import NAME_FILE, to_write
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.budget import Cost, announce
from lops_adapters.runs.files import add_arm, arm_metrics, write_predictions
from lops_adapters.runs.job import Job, Settings
from lops_adapters.runs.rounds import Given, round_rows, run_rounds, write_rounds
from lops_adapters.runs.settings import FrameworkSettings
from lops_adapters.selection import METHODS

# A framework is imported when it is asked for. Its name is its command, its extra and the kind of
# its models.
FRAMEWORKS = {
    "conwea": "lops_adapters.conwea.framework:CONWEA",
    "lotclass": "lops_adapters.lotclass.framework:LOTCLASS",
    "self_training": "lops_adapters.self_training.framework:SELF_TRAINING",
    "westclass": "lops_adapters.westclass.framework:WESTCLASS",
    "xclass": "lops_adapters.xclass.framework:XCLASS",
}


def named(name: str) -> Framework[Any]:
    """Return the framework of a name in :data:`FRAMEWORKS`."""
    module, _, attribute = FRAMEWORKS[name].partition(":")
    framework: Framework[Any] = getattr(import_module(module), attribute)
    return framework


class Framework(ABC, Generic[Settings]):
    """A framework that makes pseudo-labels, selects among them and trains a classifier.

    A subclass says how; :func:`run` calls its methods in the order they stand here. What they hand
    on (``prepared``, ``result``) is the framework's own affair. ``prepare`` and ``run_arm`` are by
    default the functions of this name in the module ``pipeline`` of its package.

    Attributes:
        name: in commands, folders and extras, a key of :data:`FRAMEWORKS`.
        title: in tables and pages.
        summary: one sentence for ``--help``.
        examples: (arguments, explanation) pairs for ``--help``.
        settings: the class of its settings.
        modules: optional libraries it needs; its extra brings them.
        model: ``module:class`` of its trained classifier; default: a probe that reads texts.
        reads_beginning: it reads only the first word pieces of a document, so message headers leave
            little else to read.
        words: the file of words that it starts from, for the message about data without classes.
        cost: of a quick run, which its log announces; None: not measured.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    examples: ClassVar[Sequence[tuple[str, str]]]
    settings: ClassVar[type[FrameworkSettings]]
    modules: ClassVar[tuple[str, ...]]
    model: ClassVar[str] = "lops_adapters.runs.models:ProbeClassifier"
    reads_beginning: ClassVar[bool] = False
    words: ClassVar[str] = NAME_FILE
    cost: ClassVar[Cost | None] = None

    def add_options(self, group: argparse._ArgumentGroup) -> None:
        """Add the options that are not settings."""

    def class_words(self, corpus: Corpus, settings: Settings) -> dict[str, list[str]]:
        """Return the words of each class that selection methods may use: names, then seed words.

        No more than what supervises the framework itself.
        """
        return {
            label: list(dict.fromkeys([*corpus.names[label], *corpus.seeds.get(label, ())]))
            for label in corpus.classes
        }

    def settle(
        self, settings: Settings, options: argparse.Namespace, dataset: Dataset, seed: int
    ) -> Settings:
        """Return the settings to use with this data, or refuse them."""
        return settings

    def arms(self, options: argparse.Namespace, settings: Settings) -> list[str]:
        """Return the arms to run, in order: ``--arms``, or the settings' usual ones."""
        built_in = (*self.settings.ARMS, *self.settings.MORE_ARMS)
        known = (*built_in, *(name for name in METHODS if name not in built_in))
        asked = ",".join(settings.usual_arms) if options.arms is None else options.arms
        return read_arms(asked, known)

    def method_of(self, arm: str) -> str:
        """Return the selection method of an arm, where it is a row of METHODS."""
        return arm

    def in_order(self, arms: Sequence[str]) -> list[str]:
        """Return the arms in the order they run in: those that are told how many to keep last."""
        methods = [METHODS.get(self.method_of(arm)) for arm in arms]
        told = [method is not None and method.takes_n for method in methods]
        return [arm for _, arm in sorted(zip(told, arms, strict=True), key=itemgetter(0))]

    def needs(self, settings: Settings) -> tuple[str, ...]:
        """Return the optional libraries that these settings need."""
        return self.modules

    def check(self, arms: Sequence[str], settings: Settings, dataset: Dataset) -> None:
        """Raise a LopsError if data, arms or settings cannot work, before any work."""

    def prepare(self, corpus: Corpus, job: Job[Settings]) -> Any:
        """Return what all arms share."""
        return self._pipeline().prepare(corpus, job)

    def words_found(self, prepared: Any, job: Job[Settings]) -> Mapping[str, Sequence[str]] | None:
        """Return :meth:`class_words`, with those that were found to supervise."""
        return job.words

    def tables(self, prepared: Any, job: Job[Settings]) -> None:
        """Write what all arms share into the run folder."""

    @abstractmethod
    def about(self, prepared: Any, evaluator: Evaluator) -> dict[str, Any]:
        """Return what ``metrics.json`` says besides the arms, ``pseudo_labels`` among it."""

    def given(self, prepared: Any) -> Given:
        """Return the documents that came with a label, which are not measured."""
        return Given.none()

    def run_arm(self, arm: str, prepared: Any, job: Job[Settings]) -> Any:
        """Run one arm."""
        return self._pipeline().run_arm(arm, prepared, job)

    @abstractmethod
    def arm_tables(self, arm: str, result: Any, prepared: Any, job: Job[Settings]) -> None:
        """Write an arm's tables into its folder; :func:`run` adds the predictions."""

    def rounds(self, arm: str, settings: Settings) -> tuple[int, str]:
        """Return the number of rounds of the last stage, and the method that selects before."""
        return getattr(settings, "rounds", 0), self.method_of(arm)

    def probabilities(self, result: Any) -> np.ndarray:
        """Return an arm's predictions before the last stage, (n, k) float32."""
        predicted: np.ndarray = result.probabilities
        return predicted

    @abstractmethod
    def rows(self, result: Any, prepared: Any, evaluator: Evaluator) -> list[dict[str, Any]]:
        """Return an arm's iterations as ``metrics.json`` has them."""

    def arm_summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return an arm's entry in ``metrics.json``."""
        return arm_metrics(rows)

    def _pipeline(self) -> Any:
        return import_module(type(self).__module__.replace(".framework", ".pipeline"))


def read_arms(text: str, known: Sequence[str]) -> list[str]:
    """Return the arms of a comma-separated list, in the order of the known ones.

    >>> read_arms("lops,standard", ("standard", "lops"))
    ['standard', 'lops']
    """
    asked = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        near = get_close_matches(unknown[0], known, n=1) if unknown else []
        hint = f"; {unknown[0]!r} is unknown" if unknown else ""
        hint += f" (did you mean {near[0]}?)" if near else ""
        raise LopsError(
            f"{typed('arms')} are {text!r}{hint}; wanted some of {', '.join(known)}, "
            "comma-separated"
        )
    return [name for name in known if name in asked]


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
    announce(framework.cost, corpus, job, arms)
    job = replace(job, words=framework.class_words(corpus, job.settings))
    prepared = framework.prepare(corpus, job)
    job = replace(job, words=framework.words_found(prepared, job))
    gold = None if dataset.gold is None else np.array(dataset.gold.labels, dtype=object)
    evaluator = Evaluator(gold, job.checked)
    with_label = framework.given(prepared)
    measured = with_label.others(len(corpus))
    if len(with_label.positions):
        evaluator = evaluator.at(measured)
    framework.tables(prepared, job)
    about = {
        "framework": framework.name,
        "title": framework.title,
        "dataset": corpus.name,
        "n_documents": len(corpus),
        "classes": list(corpus.classes),
        **({"checked_rows": len(job.checked)} if job.checked else {}),
        **framework.about(prepared, evaluator),
    }
    metrics: dict[str, Any] = {}
    for arm in framework.in_order(arms):
        arm_job = replace(job, gold=gold if arm in by_gold else None)
        result = framework.run_arm(arm, prepared, arm_job)
        framework.arm_tables(arm, result, prepared, job)
        predicted = framework.probabilities(result)
        rows = framework.rows(result, prepared, evaluator)
        n, method = framework.rounds(arm, job.settings)
        if n:
            rounds = run_rounds(arm, method, predicted, corpus, arm_job, framework.name, with_label)
            write_rounds(rounds, job.folder.arm(arm), corpus.ids)
            rows += round_rows(rounds, len(rows), corpus.classes, evaluator, measured)
            predicted = rounds[-1].probabilities
        path = job.folder.arm(arm) / "predictions.csv"
        write_predictions(path, corpus.ids, corpus.classes, predicted)
        metrics = add_arm(job.folder, about, arm, framework.arm_summary(rows))
    return metrics


def _check(
    framework: Framework[Settings], dataset: Dataset, job: Job[Settings], arms: Sequence[str]
) -> list[str]:
    """Return the arms that are defined by gold labels; raise as :func:`run`, before any work."""
    extras.require(framework.title, framework.needs(job.settings), framework.name)
    methods = {arm: METHODS.get(framework.method_of(arm)) for arm in arms}
    by_gold = [arm for arm, method in methods.items() if method and method.needs_gold]
    if by_gold and dataset.gold is None:
        raise LopsError(
            f"{by_gold[0]} needs gold labels, and {dataset.corpus.name} has none; leave it out"
        )
    corpus = dataset.corpus
    if len(corpus.classes) < 2:
        option = " (or give --names business,sports)" if framework.words == NAME_FILE else ""
        raise LopsError(
            f"{corpus.name} has {len(corpus.classes)} classes; wanted at least two: "
            f"{to_write(framework.words, ())}{option}"
        )
    framework.check(arms, job.settings, dataset)
    return by_gold
