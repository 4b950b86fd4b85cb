"""Self-training from top to bottom, the paper's Algorithm 2: pseudo-label, then in rounds select,
train, predict and bootstrap.

Source: Mekala, Dong and Shang, "LOPS: Learning Order Inspired Pseudo-Label Selection for Weakly
Supervised Text Classification", Findings of EMNLP 2022; docs/self_training.md lists what differs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.pseudo_labels import PseudoLabels, exclusive_string_match, string_match
from lops_adapters.runs.folder import RunFolder
from lops_adapters.selection import METHODS, Selector, build, keep_all, trusted_positions
from lops_adapters.self_training.classifier import build_classifier, build_probe
from lops_adapters.self_training.given import read_pseudo_labels
from lops_adapters.self_training.model import SelfTrainedClassifier
from lops_adapters.self_training.settings import HEURISTICS, SelfTrainingSettings
from lops_adapters.self_training.training_set import TrainingSet, codes_of, fading_classes

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prepared:
    """What all arms share: corpus, settings, initial pseudo-labels, and the seconds these took."""

    corpus: Corpus
    settings: SelfTrainingSettings
    pseudo_labels: PseudoLabels
    seconds: float


@dataclass(frozen=True)
class Iteration:
    """One round of one arm.

    Attributes:
        number: from 0.
        pseudo_labels: all that were selected from, initial and bootstrapped.
        n_initial: of these, those that the documents had from the beginning.
        n: how many the method was told to keep, None where it decides.
        selection: among ``pseudo_labels``.
        n_trained: pseudo-labels the classifier was trained on.
        probabilities: (n, k) float32, its predictions for all documents.
        n_rejected: pseudo-labels taken from their documents.
        bootstrapped: what the classifier's predictions made pseudo-labels, for the next round.
        seconds: of selection and classifier.

    """

    number: int
    pseudo_labels: PseudoLabels
    n_initial: int
    n: int | None
    selection: Selection
    n_trained: int
    probabilities: np.ndarray
    n_rejected: int
    bootstrapped: PseudoLabels
    seconds: dict[str, float]


def prepare(
    corpus: Corpus, settings: SelfTrainingSettings, run: RunFolder, *, device: str, quiet: bool
) -> Prepared:
    """Make or read the initial pseudo-labels; what cannot work is refused before the long work."""
    build_classifier(settings, device)  # complains now rather than after the long work
    if settings.pseudo_labels in HEURISTICS and not any(corpus.seeds.values()):
        raise LopsError(
            f"{corpus.name} comes without seed words, which {settings.pseudo_labels} starts from; put a seedwords.json beside the data, or "
            "give pseudo-labels of your own: --pseudo-labels FILE.csv"
        )

    def label() -> dict[str, np.ndarray]:
        found = _initial(corpus, settings, quiet=quiet)
        _check(found, settings, device)
        return {"positions": found.positions, "codes": codes_of(found), "scores": found.scores}

    arrays, seconds = run.stage("pseudo_labels", label)
    names = np.array(corpus.classes, dtype=object)[arrays["codes"]]
    return Prepared(
        corpus,
        settings,
        PseudoLabels(arrays["positions"], names, arrays["scores"], len(corpus), corpus.classes),
        seconds,
    )


def run_arm(
    arm: str,
    prepared: Prepared,
    run: RunFolder,
    *,
    seed: int,
    device: str,
    quiet: bool,
    sizes: Sequence[int] | None = None,
    gold: np.ndarray | None = None,
) -> Iterator[Iteration]:
    """Run one arm, an iteration at a time; the arms differ in the selector and in nothing else.

    Args:
        arm: name of a method, see :data:`lops_adapters.selection.METHODS`.
        prepared: what all arms share.
        run, seed, device, quiet: of the run.
        sizes: for each iteration, how many a method that has to be told keeps; None: the fraction
            tau.
        gold: (n,) gold labels, for the one method that is defined by them.

    """
    corpus, settings = prepared.corpus, prepared.settings
    training = TrainingSet.start(prepared.pseudo_labels)
    faded: set[str] = set()
    for number in range(settings.iterations):
        labelled, n_initial = training.pseudo_labels(), int((training.since == 0).sum())
        samples = [corpus.texts[i] for i in labelled.positions]
        n = _how_many(arm, len(labelled), settings, None if sizes is None else sizes[number])
        right = None if gold is None else gold[labelled.positions]
        selector = _selector(
            arm, settings, labelled, n, right, seed=seed + number, device=device, quiet=quiet
        )
        # The insertion point of Algorithm 2: pseudo-labels are there, the classifier is not trained
        # yet.
        selection, select_seconds = run.select(
            f"{arm}-{number}-selection", partial(selector, samples, labelled.labels)
        )
        trusted = trusted_positions(selection, labelled.labels)
        log.info(
            "%s, iteration %d: trains on %d of %d pseudo-labels",
            arm,
            number,
            len(trusted),
            len(labelled),
        )
        faded |= _warn_of_fading(
            f"{arm}, iteration {number}", prepared.pseudo_labels, labelled.labels[trusted], faded
        )
        save_in = run.arm(arm) / "model" if number == settings.iterations - 1 else None
        train = partial(
            _train,
            [samples[i] for i in trusted],
            codes_of(labelled)[trusted],
            prepared,
            run,
            save_in,
            seed + number,
            device,
            quiet,
        )
        arrays, train_seconds = run.stage(f"{arm}-{number}-classifier", train)
        probabilities = arrays["probabilities"]
        rejected = np.delete(labelled.positions, trusted)
        training.reject(rejected, drop=settings.faithful and METHODS[arm].needs_gold)
        bootstrapped = training.bootstrap(
            probabilities, settings.delta, number, inclusive=settings.faithful
        )
        seconds = {"selection": select_seconds, "classifier": train_seconds}
        yield Iteration(
            number,
            labelled,
            n_initial,
            n,
            selection,
            len(trusted),
            probabilities,
            len(rejected),
            bootstrapped,
            seconds,
        )


def _warn_of_fading(
    where: str, initial: PseudoLabels, trained: np.ndarray, known: set[str]
) -> set[str]:
    """Warn of classes that fade, each once; returns those that do now."""
    fading = fading_classes(initial, trained)
    new = [
        f"{name} ({before:.1%} of the pseudo-labels at first, {now:.1%} now)"
        for name, before, now in fading
        if name not in known
    ]
    if new:
        log.warning(
            "%s: the classifier is about to lose sight of %s. Try --rule ranked with a large --tau, --method automatic --stratified, "
            "or a lower --delta",
            where,
            ", ".join(new),
        )
    return {name for name, _, _ in fading}


def _selector(
    arm: str,
    settings: SelfTrainingSettings,
    labelled: PseudoLabels,
    n: int | None,
    gold: np.ndarray | None,
    *,
    seed: int,
    device: str,
    quiet: bool,
) -> Selector:
    if n is not None and n >= len(labelled):
        return partial(_keep_all_of_too_few, n)
    probe = build_probe(settings, device, quiet=quiet) if METHODS[arm].needs_probe else None
    every, stratified = (
        settings.updates_between_checkpoints,
        settings.stratified or None,
    )  # None: as the paper describes the method
    return build(
        arm,
        probe,
        n=n,
        tau=settings.tau,
        rule=settings.rule,
        every=every,
        stratified=stratified,
        gold=gold,
        seed=seed,
        quiet=quiet,
    )


def _keep_all_of_too_few(n: int, samples: Sequence[Any], pseudo_labels: Any) -> Selection:
    whole = keep_all(samples, pseudo_labels)
    whole.stopped = f"{n} pseudo-labels were wanted of {len(samples)}: everything is kept"
    log.info("%s", whole.stopped)
    return whole


def _how_many(
    arm: str, n_labelled: int, settings: SelfTrainingSettings, size: int | None
) -> int | None:
    if not METHODS[arm].takes_n:
        return None
    return max(1, int(round(settings.tau * n_labelled, 6))) if size is None else size


def _initial(corpus: Corpus, settings: SelfTrainingSettings, *, quiet: bool) -> PseudoLabels:
    seeds = {label: corpus.seeds.get(label, ()) for label in corpus.classes}
    if settings.pseudo_labels == "string-match":
        return string_match(corpus.texts, seeds, quiet=quiet)
    if settings.pseudo_labels == "exclusive-string-match":
        return exclusive_string_match(corpus.texts, seeds, regex=settings.faithful, quiet=quiet)
    return read_pseudo_labels(Path(settings.pseudo_labels), corpus)


def _check(labels: PseudoLabels, settings: SelfTrainingSettings, device: str) -> None:
    found = [label for label, count in labels.counts.items() if count]
    if len(found) < 2:
        raise LopsError(
            f"{settings.pseudo_labels} gives {len(labels)} pseudo-labels of {len(found)} classes; wanted at least two classes"
        )
    probe = build_probe(settings, device)
    batch_size = int(getattr(probe, "batch_size", 1))
    settings.check_checkpoints(
        probe.max_epochs * -(-len(labels) // batch_size), f"{len(labels)} pseudo-labelled documents"
    )


def _train(
    texts: Sequence[str],
    codes: np.ndarray,
    prepared: Prepared,
    run: RunFolder,
    save_in: Path | None,
    seed: int,
    device: str,
    quiet: bool,
) -> dict[str, np.ndarray]:
    corpus = prepared.corpus
    classifier = build_classifier(prepared.settings, device, quiet=quiet)
    classifier.fit(texts, codes, len(corpus.classes), seed=seed)
    probabilities = classifier.predict_proba(corpus.texts)
    if save_in is not None:
        run.save_model(save_in, SelfTrainedClassifier(corpus.classes, classifier).save)
    return {"probabilities": probabilities}
