"""The estimator probe: any scikit-learn classifier, on texts or on given vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.word_counts import WordCounts, joined
from lops_adapters.probes.base import Probe, Stage, Update, cut, steady
from lops_adapters.probes.embedding import given_vectors
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.probes.regression import softmax

_FILE = "estimator.joblib"


@dataclass
class EstimatorProbe(Probe):
    """A scikit-learn classifier, or a pipeline that ends in one.

    Texts become TF-IDF rows as in :class:`~lops_adapters.probes.linear.LinearProbe`, unless the
    estimator reads texts itself, such as a pipeline that begins with a ``TfidfVectorizer``.

    With ``partial_fit``, of the estimator or of a pipeline's last step, it is trained in batches
    and has a checkpoint after every update; the other steps are fitted once, before. Without, it is
    fitted once and has a single checkpoint, so methods that compare checkpoints refuse it.

    Every training starts with a clone whose ``random_state`` parameters are set from the seed. The
    probabilities are from ``predict_proba``, else the softmax of ``decision_function``.

    Args:
        estimator: a classifier; never changed.
        epochs: passes over the training samples, with ``partial_fit``.
        batch_size: samples per update, with ``partial_fit``.
        texts: whether the estimator reads texts itself; None: by its scikit-learn tags.

    Samples are strings, tokens, or sentences of tokens, joined by spaces; or the rows of an (n,
    width) array of numbers.

    >>> from sklearn.linear_model import LogisticRegression
    >>> probe = EstimatorProbe(LogisticRegression()).fit(["a goal", "a bank"], [0, 1], 2)
    >>> probe.predict_proba(["the goal"]).argmax(axis=1).tolist(), probe.max_epochs
    ([0], 1)
    """

    kind: ClassVar[str] = "estimator"
    estimator: Any
    epochs: int = 4
    batch_size: int = 32
    texts: bool | None = None

    def __post_init__(self) -> None:
        _check_classifier(self.estimator)
        if min(self.epochs, self.batch_size) < 1:
            raise LopsError(f"{self!r}: wanted epochs and batch_size of at least 1")
        self._reads_texts = _reads_texts(self.estimator) if self.texts is None else self.texts
        self._last_step = _last_step(self.estimator)
        self._by_batches = hasattr(self._last_step, "partial_fit")
        self._words = LinearProbe(quiet=self.quiet)
        self._steps: Any = None  # fitted steps before the last one, of a pipeline with partial_fit
        self._model: Any = None
        self._n_classes = 0
        self._shown: tuple[Any, Any] = (None, None)  # prepared samples, and after the first steps

    @property
    def name(self) -> str:
        return type(self._last_step).__name__

    @property
    def max_epochs(self) -> int:
        """The number of epochs that training runs for; 1 without ``partial_fit``."""
        return self.epochs if self._by_batches else 1

    @property
    def has_checkpoints(self) -> bool:
        """Whether the classifier, or a pipeline's last step, has ``partial_fit``."""
        return self._by_batches

    def read(self, samples: Sequence[Any]) -> Any:
        """Return vectors, counts of words, or texts, whichever the estimator needs.

        Raises:
            LopsError: vectors for an estimator that reads texts, vectors with NaN or infinity, and
                samples that are neither texts nor vectors.
        """
        if isinstance(samples, WordCounts):
            return samples
        vectors = given_vectors(samples)
        if vectors is not None and self._reads_texts:
            raise LopsError(
                f"the samples are vectors, and the first step before {self.name} reads texts; "
                f"wanted texts, or {self.name} alone"
            )
        if vectors is not None:
            return vectors.copy()  # an estimator may write into what it is given
        if self._reads_texts:
            return [joined(sample) for sample in samples]
        return self._words.read(samples)

    def prepare(self, samples: Any, *, fit: bool = False) -> Any:
        """Return (n, width) vectors, (n, words) TF-IDF rows in CSR format, or n texts."""
        if not len(samples):
            return []
        read = self.read(samples)
        return self._words.prepare(read, fit=fit) if isinstance(read, WordCounts) else read

    def updates(
        self, prepared: Any, codes: np.ndarray, n_classes: int, seed: int, total: int | None = None
    ) -> Iterator[Update]:
        """Train a clone, without ``partial_fit`` in one update.

        The seed decides batches and ``random_state``.

        Raises:
            LopsError: the classifier refuses the samples.
        """
        model = _seeded(self.estimator, seed)
        self._n_classes, self._shown, self._steps = n_classes, (None, None), None
        if not self._by_batches:
            present = np.unique(codes)
            if len(present) == 1:  # a fold of few samples; most classifiers refuse it
                from sklearn.dummy import DummyClassifier

                model = DummyClassifier(strategy="prior")
            self._model = self._asked(model.fit, prepared, codes)
            yield Update(1, 1, len(codes))
            return
        self._model, rows = model, prepared
        if model is not _last_step(model):
            self._model, steps = model[-1], model[:-1]
            if len(steps):
                rows = self._asked(steps.fit_transform, prepared, codes)
                self._steps = steps
        rng, classes = np.random.default_rng(seed), np.arange(n_classes)

        def random_batches(size: int) -> Iterator[np.ndarray]:
            order = rng.permutation(len(codes))
            yield from (order[start : start + size] for start in range(0, len(order), size))

        passes = Stage(total or self.epochs, steady)  # an epoch has at least one update
        batches = passes.batches(len(codes), self.batch_size, random_batches)
        for batch, _, update in islice(batches, total):
            self._asked(self._model.partial_fit, cut(rows, batch), codes[batch], classes=classes)
            yield update

    def _asked(self, method: Any, *arguments: Any, **keywords: Any) -> Any:
        """Call a method of the classifier; a LopsError instead of its complaint about samples."""
        try:
            return method(*arguments, **keywords)
        except (TypeError, ValueError) as error:
            what = "texts" if self._reads_texts else "TF-IDF rows or vectors like these"
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise LopsError(
                f"{self.name} cannot be trained on these samples ({reason:.200}); wanted a "
                f"classifier for {what}, or a pipeline that prepares them for it"
            ) from error

    def predict_prepared(self, prepared: Any, positions: np.ndarray | None = None) -> np.ndarray:
        """Return class probabilities, (m, k) float32; classes not trained on have 0."""
        if self._model is None:
            raise self._untrained()
        rows = prepared
        if self._steps is not None and _count(prepared):
            if self._shown[0] is not prepared:
                self._shown = prepared, self._steps.transform(prepared)
            rows = self._shown[1]
        rows = rows if positions is None else cut(rows, np.asarray(positions, dtype=np.int64))
        probabilities = np.zeros((_count(rows), self._n_classes), dtype=np.float32)
        if len(probabilities):
            probabilities[:, self._model.classes_] = _probabilities(self._model, rows)
        return probabilities

    def save(self, folder: Path) -> None:
        """Write ``estimator.joblib``: settings, classifier and vocabulary."""
        import joblib

        if self._model is None:
            raise self._untrained()
        settings = (self.estimator, self.epochs, self.batch_size, self.texts)
        trained = (self._steps, self._model, self._n_classes, self._words._tf_idf)
        joblib.dump((settings, *trained), folder / _FILE)

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> EstimatorProbe:
        """Read what :meth:`save` wrote; ``device`` is ignored.

        joblib runs code that the file names: load only what you saved or trust.
        """
        import joblib

        settings, *trained = joblib.load(folder / _FILE)
        probe = cls(*settings)
        probe._steps, probe._model, probe._n_classes, probe._words._tf_idf = trained
        return probe


def as_probe(probe: Any, quiet: bool = True) -> Any:
    """Return an :class:`EstimatorProbe` of a scikit-learn classifier, anything else as it is.

    Raises:
        LopsError: a scikit-learn class or an estimator that is no classifier.

    >>> as_probe("linear")
    'linear'
    """
    if isinstance(probe, Probe) or not (hasattr(probe, "fit") and hasattr(probe, "get_params")):
        return probe
    return EstimatorProbe(probe, quiet=quiet)


def _check_classifier(estimator: Any) -> None:
    from sklearn.base import is_classifier

    if isinstance(estimator, type):
        name = estimator.__name__
        raise LopsError(f"probe is the class {name}; wanted an object: {name}()")
    try:
        classifies = is_classifier(estimator)
    except AttributeError:  # it has no tags, as estimators of other libraries
        classifies = hasattr(estimator, "predict")
    if not classifies:
        raise LopsError(f"probe is {estimator!r:.80}; wanted a scikit-learn classifier")
    if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise LopsError(
            f"{estimator!r:.80} has neither predict_proba nor decision_function; wanted a "
            "classifier with one of them, such as LogisticRegression()"
        )


def _last_step(estimator: Any) -> Any:
    from sklearn.pipeline import Pipeline

    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _reads_texts(estimator: Any) -> bool:
    """Return whether the first step of an estimator, inside others too, takes texts."""
    from sklearn.utils import get_tags

    first = estimator
    while True:
        nested = [
            getattr(first, name, None) for name in ("steps", "transformer_list", "estimators")
        ]
        inner = next((parts[0][1] for parts in nested if isinstance(parts, list) and parts), None)
        inner = getattr(first, "estimator", None) if inner is None else inner
        if inner is None or isinstance(inner, str):
            break
        first = inner
    try:
        tags = get_tags(first).input_tags
    except AttributeError:
        return False
    return bool(tags.string and not tags.two_d_array)


def _seeded(estimator: Any, seed: int) -> Any:
    from sklearn.base import clone

    model = clone(estimator)
    names = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
    return model.set_params(**dict.fromkeys(names, seed % 2**32))


def _count(samples: Any) -> int:
    return int(samples.shape[0]) if hasattr(samples, "shape") else len(samples)


def _probabilities(model: Any, rows: Any) -> np.ndarray:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows))
    scores = np.asarray(model.decision_function(rows), dtype=np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    if scores.shape[1] != len(model.classes_):
        raise LopsError(
            f"decision_function gives {scores.shape[1]} numbers per sample for "
            f"{len(model.classes_)} classes; wanted one per class "
            "(decision_function_shape='ovr')"
        )
    return softmax(scores)
