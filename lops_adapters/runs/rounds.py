"""A last stage for every framework: rounds of self-training on what it predicts.

A framework predicts every document. These predictions are pseudo-labels, some of them wrong: the
arm's selector chooses among them, a classifier that reads texts is trained on what it keeps and
predicts all documents, and the rejected ones return by rank, round after round. None of the papers
has this stage; it is the LOPS paper's Algorithm 2 behind them, see docs/results/rounds.md.

A framework that ends with a network has it by default: its last stage trains a classifier of texts.
Arms select among what the network is trained on, or, named ``-documents``, in the last stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.static import STATIC
from lops_adapters.probes import FAST, Probe
from lops_adapters.probes.base import cut
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.arms import ADAPTIVE, CONTROLS, CORRECTED, LOPS, STANDARD, parent
from lops_adapters.runs.classifiers import ProbeClassifier, build_classifier
from lops_adapters.runs.settings import NOT_NEGATIVE, FrameworkSettings, setting
from lops_adapters.runs.stages import Given, Prepared, Samples, Stage, trusted
from lops_adapters.runs.training_set import POOL, TrainingSet
from lops_adapters.selection.by_rank import SHARE

if TYPE_CHECKING:
    from lops_adapters.datasets import Corpus
    from lops_adapters.runs.job import Job

NETWORK = "network"
AT_DOCUMENTS = tuple(  # arms that select among the documents
    f"{method}-documents"
    for method in (
        *(LOPS, ADAPTIVE, "committee", "automatic", "random", "optimal", CORRECTED),
        *CONTROLS,
    )
)
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

    @property
    def final_rounds(self) -> int:
        return self.rounds


@dataclass(frozen=True, kw_only=True)
class FinalSettings(RoundsSettings):
    """Settings of a framework that ends with a network."""

    PUBLISHED: ClassVar[Mapping[str, Any]] = FrameworkSettings.PUBLISHED
    PLACES: ClassVar[tuple[str, ...]] = ("documents",)

    classifier: str = setting(
        "hybrid",
        "final classifier, trained on the documents by the class that the network predicts: linear "
        "(TF-IDF), embedding (frozen --encoder) or hybrid (both); network: none, the run ends with "
        "the network",
        choices=(NETWORK, *FAST),
        usual="hybrid; paper and --faithful: network",
    )
    rounds: int = setting(
        1,
        "trainings of the final classifier; after each, rejected documents are added by rank; 0: "
        "the run ends with the network",
        within=NOT_NEGATIVE,
    )

    @property
    def usual_arms(self) -> tuple[str, ...]:
        """The arms of a run that names none.

        ``lops`` selects where the paper does, which costs a network of its own; with a final
        classifier, ``committee-documents`` shares the Standard arm's and costs seconds.
        """
        return self.ARMS if self.ends_with_network else (*self.ARMS, "committee-documents")

    @classmethod
    def known_arms(cls) -> tuple[str, ...]:
        """Return the arms that a run can have; labels are corrected among documents only."""
        known = super().known_arms()
        return tuple(arm for arm in known if CORRECTED not in (arm, parent(arm)))

    @classmethod
    def shown_arms(cls) -> str:
        usual = ",".join(cls.preset("quick", classifier="linear").usual_arms)
        return f"{usual}; paper, --faithful and --classifier network: {','.join(cls.ARMS)}"

    @property
    def ends_with_network(self) -> bool:
        """Whether the network itself is the classifier."""
        return self.classifier == NETWORK or not self.rounds

    @property
    def reads_seeds(self) -> bool:
        return getattr(self, "supervision", "") not in ("names", "auto")

    @property
    def final_rounds(self) -> int:
        return 0 if self.ends_with_network else self.rounds

    def final_method(self, arm: str) -> str:
        return arm if is_at_documents(arm) else STANDARD


def check_final(arms: Sequence[str], settings: FinalSettings) -> None:
    """Refuse arms that select for a classifier that is not trained, and an unknown encoder."""
    late = [arm for arm in arms if is_at_documents(arm)]
    if late and settings.ends_with_network:
        raise LopsError(
            f"{late[0]} selects for the final classifier, and the run ends with the network; "
            "wanted --classifier hybrid, linear or embedding, and --rounds of at least 1"
        )
    if settings.frozen_encoder not in (None, STATIC):
        pretrained.load_config(settings.frozen_encoder)


def is_at_documents(arm: str) -> bool:
    """Return whether an arm selects among the documents.

    >>> is_at_documents("lops"), is_at_documents("lops-documents")
    (False, True)
    """
    return arm.endswith("-documents")


def run_rounds(
    arm: str, probabilities: np.ndarray, prepared: Prepared, job: Job[Any], kind: str
) -> Iterator[Stage]:
    """Yield the rounds of one arm; the model of the last one is the arm's.

    They end when no rejected document is left. Documents that came with a label are trained on with
    it, and not selected among. The probabilities, (n, k), are what the framework ``kind`` predicts;
    the arm names the steps, and its settings the method: ``standard`` keeps everything.
    """
    # ``every`` is for a network, which can learn all in one epoch; the classifier does not.
    job = replace(job, settings=replace(job.settings, every="epoch"))
    corpus, labelled = prepared.corpus, prepared.given
    method = job.settings.final_method(arm)
    training = _start(probabilities, corpus, labelled)
    read = cache(lambda: _build(job, _EPOCHS).read(corpus.texts))
    for number in range(job.settings.final_rounds):
        labels = training.pseudo_labels(without=labelled.positions)
        selection, seconds = None, 0.0
        if number == 0 and not job.settings.row(method).keeps_all:
            select = partial(_select, arm, method, labels, corpus, job)
            selection, seconds = job.folder.select(f"{arm}-selection-documents", select)
            kept, codes = trusted(selection, labels)
            training.codes[labels.positions[kept]] = codes
            training.reject(np.delete(labels.positions, kept))
        last = number == job.settings.final_rounds - 1 or not (training.since == POOL).any()
        train = partial(_train, arm, number, read, training, corpus, job, kind if last else None)
        arrays, train_seconds = job.folder.stage(f"{arm}-round-{number + 1}", train)
        yield Stage(
            samples=Samples.documents(labels, corpus),
            selection=selection,
            probabilities=arrays["probabilities"],
            seconds={"selection": seconds, "classifier": train_seconds},
            name=f"round {number + 1}",
            table="selection-documents.csv" if number == 0 else None,
            is_new=number == 0,
        )
        if last:
            break
        training.bootstrap_by_rank(arrays["probabilities"], SHARE, number)


def _start(probabilities: np.ndarray, corpus: Corpus, labelled: Given) -> TrainingSet:
    codes = probabilities.argmax(axis=1)
    codes[labelled.positions] = labelled.codes
    everything = np.arange(len(corpus))
    scores = probabilities.max(axis=1).astype(np.float64)
    return TrainingSet.start(PseudoLabels(everything, codes, scores, len(corpus), corpus.classes))


def _select(
    arm: str, method: str, labels: PseudoLabels, corpus: Corpus, job: Job[Any]
) -> Selection:
    selector = job.selector(
        method,
        partial(_build, job, _PROBE_EPOCHS, probing=True),
        positions=labels.positions,
        control_of="{}-selection-documents",
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
        job.save_model(arm, ProbeClassifier(kind, corpus.classes, classifier))
    return {"probabilities": classifier.predict_proba(texts)}


def _build(job: Job[Any], epochs: int, *, probing: bool = False) -> Probe:
    settings, longest = job.settings, None
    if settings.classifier not in FAST:
        settings = replace(settings, classifier="hybrid")
    same = not probing or settings.probe == "same"
    if same and settings.classifier != "linear" and settings.encoder != STATIC:
        longest = pretrained.longest_input(pretrained.load_config(settings.encoder))
    recipe = {"epochs": epochs, "max_tokens": min(_MAX_TOKENS, longest or _MAX_TOKENS)}
    return build_classifier(settings, job.device, probing=probing, quiet=job.quiet, recipe=recipe)
