"""A last stage for every framework: rounds of self-training on what it predicts.

A framework predicts every document. These predictions are pseudo-labels, some of them wrong: the
arm's selector chooses among them, a classifier that reads texts is trained on what it keeps and
predicts all documents, and the rejected ones return by rank, round after round. None of the papers
has this stage; it is the LOPS paper's Algorithm 2 behind them. Measurements: docs/rounds.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.static import STATIC
from lops_adapters.evaluation import Evaluator
from lops_adapters.probes import FAST, Probe, text_probe
from lops_adapters.probes.base import cut
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.files import iteration_metrics, selection_metrics, write_selection
from lops_adapters.runs.settings import NOT_NEGATIVE, FrameworkSettings, setting
from lops_adapters.runs.training_set import POOL, TrainingSet
from lops_adapters.selection import corrected, keep_all, trusted_positions
from lops_adapters.selection.by_rank import SHARE

if TYPE_CHECKING:
    from lops_adapters.datasets import Corpus
    from lops_adapters.runs.job import Job

_EPOCHS, _PROBE_EPOCHS = 20, 4
_MAX_TOKENS = 128  # word pieces per document for a frozen encoder


@dataclass(frozen=True, kw_only=True)
class RoundsSettings(FrameworkSettings):
    """Settings of a framework that can end with rounds; it has a ``classifier``, an ``encoder``."""

    PUBLISHED: ClassVar[Mapping[str, Any]] = {**FrameworkSettings.PUBLISHED, "rounds": 0}

    rounds: int = setting(
        0,
        "last stage: select among the predictions for all documents, train a classifier and add "
        "the rejected documents by rank, N times; 0: none, as the original",
        within=NOT_NEGATIVE,
        option="selection",
    )


@dataclass(frozen=True)
class Given:
    """Documents that came with a label: positions and class codes, both (m,) int64."""

    positions: np.ndarray
    codes: np.ndarray

    @classmethod
    def none(cls) -> Given:
        """Return no documents."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def others(self, n: int) -> np.ndarray:
        """Return the positions of the other of n documents."""
        return np.setdiff1d(np.arange(n), self.positions)


@dataclass(frozen=True)
class Iteration:
    """One round of one arm.

    Attributes:
        number: from 0.
        pseudo_labels: by position in the corpus.
        selection: among them.
        probabilities: (n, k) float32, of all documents.
        seconds: of ``selection`` and ``classifier``.
    """

    number: int
    pseudo_labels: PseudoLabels
    selection: Selection
    probabilities: np.ndarray
    seconds: dict[str, float]


@dataclass(frozen=True)
class Round(Iteration):
    """A round of the last stage, among documents that came without a label.

    Its selection is everything after the first round; ``selects``: the arm selects in this one.
    """

    selects: bool


def run_rounds(
    arm: str,
    method: str,
    probabilities: np.ndarray,
    corpus: Corpus,
    job: Job[Any],
    kind: str,
    labelled: Given,
) -> list[Round]:
    """Run the rounds of one arm; the model of the last one is the arm's.

    They end when no rejected document is left. Documents that came with a label (``labelled``) are
    trained on with it, and not selected among. The probabilities, (n, k), are what the framework
    ``kind`` predicts; ``standard`` keeps everything; the arm names the stages.
    """
    # ``every`` is for a network, which can learn all in one epoch; the classifier does not.
    job = replace(job, settings=replace(job.settings, every="epoch"))
    training = _start(probabilities, corpus, labelled)
    read = cache(lambda: _build(job, _EPOCHS).read(corpus.texts))
    done: list[Round] = []
    for number in range(job.settings.rounds):
        labels = training.pseudo_labels(without=labelled.positions)
        selects = number == 0 and not job.settings.row(method).keeps_all
        selection, seconds = keep_all(labels.labels.tolist(), labels.labels), 0.0
        if selects:
            select = partial(_select, arm, method, labels, corpus, job)
            selection, seconds = job.folder.select(f"{arm}-selection-documents", select)
            whole = selection.mask.all()
            kept = selection.kept if whole else trusted_positions(selection, labels.labels)
            names = corrected(selection, labels.labels)[kept]
            training.relabel(labels.positions[kept], names)
            training.reject(np.delete(labels.positions, kept))
        last = number == job.settings.rounds - 1 or not (training.since == POOL).any()
        train = partial(_train, arm, number, read, training, corpus, job, kind if last else None)
        arrays, train_seconds = job.folder.stage(f"{arm}-round-{number + 1}", train)
        spent = {"selection": seconds, "classifier": train_seconds}
        done.append(Round(number, labels, selection, arrays["probabilities"], spent, selects))
        if last:
            break
        training.bootstrap_by_rank(arrays["probabilities"], SHARE, number)
    return done


def write_rounds(rounds: Sequence[Round], folder: Path, ids: Sequence[str]) -> None:
    """Write the selection before the first round."""
    labels, selection = rounds[0].pseudo_labels, rounds[0].selection
    labelled_ids = [ids[i] for i in labels.positions]
    write_selection(folder / "selection-documents.csv", labelled_ids, labels.labels, selection)


def round_rows(
    rounds: Sequence[Round],
    number: int,
    classes: Sequence[str],
    evaluator: Evaluator,
    measured: np.ndarray,
) -> list[dict[str, Any]]:
    """Return what ``metrics.json`` says of the rounds, as iterations from ``number`` on.

    The evaluator is of the documents at ``measured``.
    """
    names, rows = np.array(classes, dtype=object), []
    for item in rounds:
        positions = np.searchsorted(measured, item.pseudo_labels.positions)
        predicted = names[item.probabilities[measured].argmax(axis=1)]
        row = iteration_metrics(item, positions, predicted, evaluator)
        silent = () if item.selects else selection_metrics(item.selection).keys() - {"selected"}
        rest = {name: row[name] for name in row if name != "iteration" and name not in silent}
        number_of_all, stage = number + item.number, f"round {item.number + 1}"
        rows.append({"iteration": number_of_all, "stage": stage, **rest})
    return rows


def _start(probabilities: np.ndarray, corpus: Corpus, labelled: Given) -> TrainingSet:
    codes = probabilities.argmax(axis=1)
    codes[labelled.positions] = labelled.codes
    names = np.array(corpus.classes, dtype=object)[codes]
    everything = np.arange(len(corpus))
    scores = probabilities.max(axis=1).astype(np.float64)
    return TrainingSet.start(PseudoLabels(everything, names, scores, len(corpus), corpus.classes))


def _select(
    arm: str, method: str, labels: PseudoLabels, corpus: Corpus, job: Job[Any]
) -> Selection:
    selector = job.selector(
        method,
        partial(_build_probe, job),
        positions=labels.positions,
        control_of=f"{arm.replace('random', '{}', 1)}-selection-documents",
        correct=True,
    )
    # Wrong labels are here: predicted by the framework, the classifier not trained yet.
    return selector([corpus.texts[i] for i in labels.positions], labels.labels)


def _train(
    arm: str,
    number: int,
    read: Callable[[], Any],
    training: TrainingSet,
    corpus: Corpus,
    job: Job[Any],
    kind: str | None,
) -> dict[str, np.ndarray]:
    """Train and predict all documents; with a ``kind``, save the model: it is the last one.

    An earlier one, made again on resume, would replace it.
    """
    classifier, positions = _build(job, _EPOCHS), np.flatnonzero(training.since >= 0)
    codes = training.codes[positions]
    texts = read()
    classifier.fit(cut(texts, positions), codes, len(corpus.classes), seed=job.seed + number)
    if kind is not None:
        from lops_adapters.runs.models import ProbeClassifier  # which knows the frameworks

        model = ProbeClassifier(kind, corpus.classes, classifier)
        job.folder.save_model(job.folder.arm(arm) / "model", model.save)
    return {"probabilities": classifier.predict_proba(texts)}


def _build_probe(job: Job[Any]) -> Probe:
    """Return an untrained copy of the classifier, or the probe of the settings."""
    if job.settings.probe == "same":
        return _build(job, _PROBE_EPOCHS)
    return job.settings.named_probe(_MAX_TOKENS, job.device, quiet=job.quiet)


def _build(job: Job[Any], epochs: int) -> Probe:
    settings, longest = job.settings, None
    kind = settings.classifier if settings.classifier in FAST else "hybrid"
    if kind != "linear" and settings.encoder != STATIC:
        longest = pretrained.longest_input(pretrained.load_config(settings.encoder))
    return text_probe(
        kind,
        encoder=settings.encoder,
        max_tokens=min(_MAX_TOKENS, longest or _MAX_TOKENS),
        device=job.device,
        quiet=job.quiet,
        epochs=epochs,
    )
