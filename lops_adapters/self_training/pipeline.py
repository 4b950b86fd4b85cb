"""Self-training from top to bottom, the paper's Algorithm 2; :func:`_iterate` selects.

Pseudo-label and select, then in each iteration train, predict and bootstrap. With a ``delta``, each
iteration selects, as published.

Source: Mekala, Dong and Shang, "LOPS: Learning Order Inspired Pseudo-Label Selection for Weakly
Supervised Text Classification", Findings of EMNLP 2022; docs/self_training.md lists what differs.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.datasets.checked import read_given_labels
from lops_adapters.datasets.class_words import SEED_FILES, to_write
from lops_adapters.labels.labelled import codes_among
from lops_adapters.probes.base import cut
from lops_adapters.pseudo_labels import PseudoLabels, exclusive_string_match, string_match
from lops_adapters.runs import stages
from lops_adapters.runs.arms import STANDARD, parent
from lops_adapters.runs.classifiers import ProbeClassifier, build_classifier
from lops_adapters.runs.files import label_table
from lops_adapters.runs.job import CONTROLLED, Job
from lops_adapters.runs.metrics import finished_arms
from lops_adapters.runs.stages import Samples, Stage, iteration, trusted
from lops_adapters.runs.training_set import TrainingSet, fading_classes
from lops_adapters.selection import Selector, keep_all
from lops_adapters.self_training.settings import HEURISTICS, SelfTrainingSettings, is_told

log = logging.getLogger(__name__)
_HELD_OUT = "the share that a held-out linear probe agrees with"


@dataclass(frozen=True, kw_only=True)
class Prepared(stages.Prepared):
    """What all arms share.

    Attributes:
        pseudo_labels: the initial ones.
        read: returns the documents as the classifier reads them; done once.
    """

    pseudo_labels: PseudoLabels
    read: Callable[[], Any]


def prepare(corpus: Corpus, job: Job[SelfTrainingSettings]) -> Prepared:
    """Make or read the initial pseudo-labels; LopsError: they or the classifier cannot work."""
    settings = job.settings
    classifier = build_classifier(settings, job.device, quiet=job.quiet)  # refuses bad encoders
    if settings.pseudo_labels in HEURISTICS and not any(corpus.seeds.values()):
        raise LopsError(
            f"{corpus.name} has no seed words, which {settings.pseudo_labels} needs; "
            f"{to_write(SEED_FILES[0], corpus.classes)}, or give --pseudo-labels FILE.csv"
        )

    def label() -> dict[str, np.ndarray]:
        first = _initial(corpus, settings, quiet=job.quiet)
        _check(first, settings, job.device)
        return {"positions": first.positions, "codes": first.codes, "scores": first.scores}

    arrays, seconds = job.folder.stage("pseudo_labels", label)
    stored = arrays["positions"], arrays["codes"], arrays["scores"]
    read = cache(lambda: classifier.read(corpus.texts))
    labels = PseudoLabels(*stored, len(corpus), corpus.classes)
    return Prepared(
        corpus=corpus,
        samples=Samples.documents(labels, corpus),
        seconds={"pseudo_labels": seconds},
        pseudo_labels=labels,
        read=read,
    )


def run_arm(arm: str, prepared: Prepared, job: Job[SelfTrainingSettings]) -> Iterator[Stage]:
    """Yield the iterations of one arm; arms differ only in the selector.

    Args:
        arm: ``lops``, ``lops-adaptive``, or a row of :data:`lops_adapters.selection.METHODS`.
        prepared: what all arms share.
        job: of the run; only the method ``optimal`` gets its gold labels.
    """
    training, faded = TrainingSet.start(prepared.pseudo_labels), set[str]()
    if is_told(arm):
        log.info("%s keeps %s", arm, _told(arm, job))
    for number in range(job.settings.iterations):
        stage, trained = _iterate(arm, number, training, prepared, job)
        yield stage
        fading = {
            name: f"{name} ({before:.1%} of the pseudo-labels at first, {now:.1%} now)"
            for name, before, now in fading_classes(prepared.pseudo_labels, trained)
        }
        if new := [sentence for name, sentence in fading.items() if name not in faded]:
            log.warning(
                "%s, iteration %d: the share of %s is shrinking. Try --arms committee, or "
                "automatic --per-class%s",
                arm,
                number,
                ", ".join(new),
                "" if job.settings.delta is None else ", or no --delta",
            )
        faded |= set(fading)


def _iterate(
    arm: str, number: int, training: TrainingSet, prepared: Prepared, job: Job[SelfTrainingSettings]
) -> tuple[Stage, np.ndarray]:
    """Run one iteration; return it and the codes of the pseudo-labels it trained on."""
    settings, folder, texts = job.settings, job.folder, prepared.corpus.texts
    method = arm if number == 0 or settings.delta is not None else STANDARD
    labelled, n_initial = training.pseudo_labels(), int((training.since == 0).sum())
    samples = [texts[i] for i in labelled.positions]
    n = _how_many(method, number, len(labelled), job)
    selector = _selector(method, number, labelled, n, job)
    # The insertion point of Algorithm 2: pseudo-labelled, not trained yet.
    selection, select_seconds = folder.select(
        f"{arm}-{number}-selection", partial(selector, samples, labelled.labels)
    )
    kept, codes = trusted(selection, labelled)
    log.info("%s, iteration %d: %d of %d kept", arm, number, len(kept), len(labelled))
    positions = labelled.positions[kept]
    training.codes[positions] = codes
    train = partial(_train, arm, number, positions, codes, prepared, job)
    arrays, train_seconds = folder.stage(f"{arm}-{number}-classifier", train)
    probabilities = arrays["probabilities"]
    rejected = np.delete(labelled.positions, kept)
    training.reject(rejected, drop=settings.faithful and settings.row(arm).needs_gold)
    if settings.delta is None:
        bootstrapped = training.bootstrap_by_rank(probabilities, settings.share, number)
    else:
        bootstrapped = training.bootstrap(
            probabilities, settings.delta, number, inclusive=settings.faithful
        )
    stage = iteration(
        number,
        labelled,
        prepared.corpus,
        selection,
        probabilities,
        (select_seconds, train_seconds),
        extra={
            "initial": n_initial,
            "n": n,  # that the method was told to keep; None: it decides
            "trained_on": len(kept),
            "rejected": len(rejected),
            "bootstrapped": len(bootstrapped),  # by the predictions, for the next iteration
        },
        tables={
            f"bootstrapped-{number}.csv": label_table(
                Samples.documents(bootstrapped, prepared.corpus)
            )
        },
    )
    return stage, codes


def _told(arm: str, job: Job[SelfTrainingSettings]) -> str:
    if corrects := _controlled(arm, job):
        return f"as many per class as {corrects}"
    if job.settings.n_from != "keep":
        return f"as many as {job.settings.n_from} trains on"
    keep = job.settings.keep
    share = _HELD_OUT if isinstance(keep, str) else f"{keep:g}"
    return f"{share} of the pseudo-labels"


def _how_many(arm: str, number: int, n_labelled: int, job: Job[SelfTrainingSettings]) -> int | None:
    """Return how many pseudo-labels an arm is told to keep; None: its method or keep decides."""
    if not is_told(arm) or _controlled(arm, job):
        return None
    if job.settings.n_from != "keep":
        arms = finished_arms(job.folder)
        return int(arms[job.settings.n_from]["iterations"][number]["trained_on"])
    keep = job.settings.keep
    return None if isinstance(keep, str) else max(1, int(round(keep * n_labelled, 6)))


def _selector(
    arm: str, number: int, labelled: PseudoLabels, n: int | None, job: Job[SelfTrainingSettings]
) -> Selector:
    if n is not None and n >= len(labelled):
        return partial(_keep_all_of_too_few, n)
    return job.selector(
        arm,
        partial(build_classifier, job.settings, job.device, probing=True, quiet=job.quiet),
        n=n,
        positions=labelled.positions,
        per_class=job.settings.per_class or None,  # None: as the paper describes the method
        seed=job.seed + number,
        control_of=f"{{}}-{number}-selection" if _controlled(arm, job) else None,
        correct=True,
    )


def _controlled(arm: str, job: Job[SelfTrainingSettings]) -> str | None:
    """Return the arm that says how many of each class this control keeps.

    It is the arm that the control is named after, or a finished one that corrects labels.
    """
    if named := parent(arm):
        return named
    row = job.settings.row
    done = finished_arms(job.folder) if row(arm).control else ()
    return next((other for other in CONTROLLED if other in done and row(other).corrects), None)


def _keep_all_of_too_few(n: int, samples: Sequence[Any], pseudo_labels: Any) -> Selection:
    whole = keep_all(samples, pseudo_labels)
    whole.stopped = f"{n} of {len(samples)} pseudo-labels wanted: everything is kept"
    log.info("%s", whole.stopped)
    return whole


def _initial(corpus: Corpus, settings: SelfTrainingSettings, *, quiet: bool) -> PseudoLabels:
    seeds = {label: corpus.seeds.get(label, ()) for label in corpus.classes}
    if settings.pseudo_labels == "string-match":
        return string_match(corpus.texts, seeds, quiet=quiet)
    if settings.pseudo_labels == "exclusive-string-match":
        return exclusive_string_match(corpus.texts, seeds, regex=settings.faithful, quiet=quiet)
    labelled = sorted(read_given_labels(Path(settings.pseudo_labels), corpus).items())
    positions = np.array([position for position, _ in labelled], dtype=np.int64)
    codes = codes_among([label for _, label in labelled], corpus.classes)
    return PseudoLabels(positions, codes, np.ones(len(labelled)), len(corpus), corpus.classes)


def _check(labels: PseudoLabels, settings: SelfTrainingSettings, device: str) -> None:
    classes = [label for label, count in labels.counts.items() if count]
    if len(classes) < 2:
        raise LopsError(
            f"{settings.pseudo_labels} gives {len(labels)} pseudo-labels of {len(classes)} "
            "classes; wanted at least two classes"
        )
    probe = build_classifier(settings, device, probing=True)
    settings.check_probe(probe, len(labels), f"{len(labels)} pseudo-labelled documents")


def _train(
    arm: str,
    number: int,
    positions: np.ndarray,
    codes: np.ndarray,
    prepared: Prepared,
    job: Job[SelfTrainingSettings],
) -> dict[str, np.ndarray]:
    """Train and predict all documents; the last classifier is saved."""
    corpus = prepared.corpus
    classifier = build_classifier(job.settings, job.device, quiet=job.quiet)
    read = prepared.read()
    classifier.fit(cut(read, positions), codes, len(corpus.classes), seed=job.seed + number)
    if number == job.settings.iterations - 1:
        job.save_model(arm, ProbeClassifier("self_training", corpus.classes, classifier))
    return {"probabilities": classifier.predict_proba(read)}
