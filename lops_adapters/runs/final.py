"""A last step for frameworks that end with a network: a classifier trained on its predictions.

The network of WeSTClass or LOTClass predicts every document. These predictions are pseudo-labels,
some of them wrong, so a selector chooses among them, and a classifier that reads texts is trained
on what it keeps. None of the papers has this step. Measurements: docs/westclass.md and
docs/lotclass.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.static import STATIC
from lops_adapters.evaluation import Evaluator
from lops_adapters.probes import FAST, Probe, text_probe
from lops_adapters.runs.checked import noise_metrics
from lops_adapters.runs.files import selection_metrics, trained_metrics, write_selection
from lops_adapters.runs.framework import Framework, Job
from lops_adapters.runs.models import ProbeClassifier
from lops_adapters.runs.settings import FrameworkSettings, setting
from lops_adapters.selection import corrected, trusted_positions
from lops_adapters.selection.selectors import encode

NETWORK = "network"
SUFFIX = "-documents"  # of the arms that select among the documents
ARMS = tuple(
    f"{method}{SUFFIX}" for method in ("lops", "committee", "automatic", "random", "optimal")
)
_EPOCHS, _PROBE_EPOCHS = 20, 4
Settings = TypeVar("Settings", bound="FinalSettings")
_MAX_TOKENS = 128  # word pieces per document for a frozen encoder


@dataclass(frozen=True, kw_only=True)
class FinalSettings(FrameworkSettings):
    """Settings of a framework that ends with a network."""

    classifier: str = setting(
        "hybrid",
        "final classifier, trained on the documents by the class that the network predicts: linear "
        "(TF-IDF), embedding (frozen --encoder) or hybrid (both); network: none, the run ends with "
        "the network",
        choices=(NETWORK, *FAST),
        usual="hybrid; paper and --faithful: network",
    )

    @property
    def usual_arms(self) -> tuple[str, ...]:
        """The arms of a run that names none.

        With a final classifier they share one network, and each costs seconds.
        """
        if self.ends_with_network:
            return self.ARMS
        return ("standard", f"lops{SUFFIX}", f"committee{SUFFIX}")

    @classmethod
    def shown_arms(cls) -> str:
        """Return :attr:`usual_arms` as ``--help`` shows them."""
        usual = ",".join(cls.preset("quick", classifier="linear").usual_arms)
        return f"{usual}; paper, --faithful and --classifier network: {','.join(cls.ARMS)}"

    @property
    def ends_with_network(self) -> bool:
        """Whether the network itself is the classifier."""
        return self.classifier == NETWORK


class FinalFramework(Framework[Settings]):
    """A framework that ends with a network, and then with a classifier unless settings say not.

    Its settings have a ``supervision``, ``names`` or another; ``prepared`` has a ``corpus`` and
    ``labels`` and ``sample_ids`` of the samples. ``run_arm`` returns a :class:`NetworkResult`.
    """

    def method_of(self, arm: str) -> str:
        """Return the selection method of an arm."""
        return arm.removesuffix(SUFFIX)

    def check(self, arms: Sequence[str], settings: Any, dataset: Dataset) -> None:
        """Refuse arms without a final classifier to select for, and an unusable encoder of it."""
        late = [arm for arm in arms if is_at_documents(arm)]
        if late and settings.ends_with_network:
            raise LopsError(
                f"{late[0]} selects what the final classifier is trained on, and --classifier is "
                "network; wanted hybrid, linear or embedding"
            )
        if settings.frozen_encoder not in (None, STATIC):
            pretrained.load_config(settings.frozen_encoder)

    def class_words(self, corpus: Corpus, settings: Any) -> dict[str, list[str]]:
        """Return the names of each class; where seed words supervise, these too."""
        if settings.supervision in ("names", "auto"):
            return {label: list(corpus.names[label]) for label in corpus.classes}
        return super().class_words(corpus, settings)

    def arm_tables(
        self, arm: str, result: NetworkResult, prepared: Any, job: Job[Settings]
    ) -> None:
        """Write the selections."""
        folder, ids = job.folder.arm(arm), prepared.sample_ids
        write_selection(folder / "selection-0.csv", ids, prepared.labels, result.selection)
        if (final := result.final) is not None:
            ids = [prepared.corpus.ids[i] for i in final.positions]
            path = folder / "selection-documents.csv"
            write_selection(path, ids, final.labels, final.selection)

    def rows(self, result: Any, prepared: Any, evaluator: Evaluator) -> list[dict[str, Any]]:
        """Return the rows of the network's two trainings, and of the classifier."""
        rows = self.network_rows(result, prepared, evaluator)
        if result.final is not None:
            rows.append(final_row(result.final, len(rows), prepared.corpus.classes, evaluator))
        return rows

    @abstractmethod
    def network_rows(
        self, result: Any, prepared: Any, evaluator: Evaluator
    ) -> list[dict[str, Any]]:
        """Return the rows of the network's two trainings."""

    def arm_summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return an arm's entry: the selection is that among the samples of its place."""
        selected = [row for row in rows if "per_class" in row][-1]
        summary = {key: selected[key] for key in ("selected", "selected_noise")}
        return {**super().arm_summary(rows), **summary}


def is_at_documents(arm: str) -> bool:
    """Return whether an arm selects among the documents.

    >>> is_at_documents("lops"), is_at_documents("lops-documents")
    (False, True)
    """
    return arm.endswith(SUFFIX)


@dataclass(frozen=True)
class Final:
    """What the last step ended with.

    Attributes:
        positions: (m,) int64, of the documents without a given label.
        labels: (m,) object, their pseudo-labels: classes that the network predicts.
        selection: among them.
        selects: whether the arm selects here; otherwise everything is kept.
        probabilities: (n, k) float32, of all documents.
        seconds: of selection and training.

    """

    positions: np.ndarray
    labels: np.ndarray
    selection: Selection
    selects: bool
    probabilities: np.ndarray
    seconds: dict[str, float]


@dataclass(frozen=True)
class NetworkResult:
    """One arm of a framework that ends with a network.

    Attributes:
        selection: among the samples that the network is trained on first.
        first: (n, k) float32, predictions on documents after that training.
        self_trained: what self-training ended with; it has ``probabilities``.
        final: of the final classifier; None without one.
        seconds: of ``selection``, ``training`` and ``self_training``.

    """

    selection: Selection
    first: np.ndarray
    self_trained: Any
    final: Final | None
    seconds: dict[str, float]

    @property
    def probabilities(self) -> np.ndarray:
        """(n, k) float32, the arm's last predictions."""
        last: Final | Any = self.self_trained if self.final is None else self.final
        return np.asarray(last.probabilities)


def finish(
    arm: str,
    job: Job[Any],
    corpus: Corpus,
    probabilities: np.ndarray,
    kind: str,
    labelled: tuple[np.ndarray, np.ndarray] | None = None,
) -> Final | None:
    """Select among the documents and train the final classifier; its model is the arm's.

    None: the run ends with the network.

    Args:
        arm: one of :data:`ARMS` selects here; others keep everything.
        job: its settings are :class:`FinalSettings` with an ``encoder``.
        corpus: n documents.
        probabilities: (n, k), predictions of the network.
        kind: name of the framework.
        labelled: positions and class codes of labelled documents. They are trained on with these
            labels, and not selected among.

    """
    if job.settings.ends_with_network:
        return None
    # ``every`` is for the network, which can learn all in one epoch; the classifier does not.
    settings, folder = replace(job.settings, every="epoch"), job.folder
    job = replace(job, settings=settings)
    texts, classes = corpus.texts, corpus.classes
    codes = probabilities.argmax(axis=1)
    none = np.zeros(0, dtype=np.int64)
    positions, given = labelled or (none, none)
    measured = np.setdiff1d(np.arange(len(texts)), positions)
    labels = np.array(classes, dtype=object)[codes[measured]]
    here = is_at_documents(arm)
    selector = job.selector(
        arm.removesuffix(SUFFIX) if here else "standard",
        partial(_build_probe, settings, job.device, quiet=job.quiet),
        positions=measured,
        control_of=f"{{}}{SUFFIX}-selection-documents",
        correct=True,
    )
    samples = [texts[i] for i in measured]
    # Wrong labels are here: predicted by the network, the classifier not trained yet.
    selection, select_seconds = folder.select(
        f"{arm}-selection-documents", partial(selector, samples, labels)
    )
    codes[measured] = encode(corrected(selection, labels), classes)
    codes[positions] = given
    kept = selection.kept if selection.mask.all() else trusted_positions(selection, labels)
    trained_on = np.union1d(measured[kept], positions)

    def train() -> dict[str, np.ndarray]:
        classifier = _build(settings, job.device, _EPOCHS, quiet=job.quiet)
        documents = [texts[i] for i in trained_on]
        classifier.fit(documents, codes[trained_on], len(classes), seed=job.seed)
        model = ProbeClassifier(kind, classes, classifier)
        folder.save_model(folder.arm(arm) / "model", model.save)
        return {"probabilities": classifier.predict_proba(texts)}

    arrays, seconds = folder.stage(f"{arm}-classifier", train)
    return Final(
        measured,
        labels,
        selection,
        here,
        arrays["probabilities"],
        {"selection": select_seconds, "classifier": seconds},
    )


def final_row(
    final: Final, number: int, classes: Sequence[str], evaluator: Evaluator
) -> dict[str, Any]:
    """Return what ``metrics.json`` says of the last step, the iteration ``number``.

    The evaluator is of the documents without a given label.
    """
    names, positions = np.array(classes, dtype=object), np.arange(len(final.labels))
    chosen = selection_metrics(final.selection)
    return {
        "iteration": number,
        "stage": "classifier",
        "pseudo_labels": len(final.labels),
        **noise_metrics(evaluator, positions, final.labels),
        **(chosen if final.selects else {"selected": chosen["selected"]}),
        **trained_metrics(final.selection, positions, final.labels, evaluator),
        **evaluator.scores(names[final.probabilities[final.positions].argmax(axis=1)]),
        "seconds": final.seconds["selection"] + final.seconds["classifier"],
        "seconds_selection": final.seconds["selection"],
    }


def _max_tokens(settings: Any) -> int:
    if settings.classifier == "linear" or settings.encoder == STATIC:
        return _MAX_TOKENS
    return min(
        _MAX_TOKENS,
        pretrained.longest_input(pretrained.load_config(settings.encoder)) or _MAX_TOKENS,
    )


def _build(settings: Any, device: str, epochs: int, *, quiet: bool) -> Probe:
    return text_probe(
        settings.classifier,
        encoder=settings.encoder,
        max_tokens=_max_tokens(settings),
        device=device,
        quiet=quiet,
        epochs=epochs,
    )


def _build_probe(settings: Any, device: str, *, quiet: bool) -> Probe:
    """Return an untrained copy of the classifier, or the probe of the settings."""
    if settings.probe == "same":
        return _build(settings, device, _PROBE_EPOCHS, quiet=quiet)
    return settings.named_probe(_MAX_TOKENS, device, quiet=quiet)
