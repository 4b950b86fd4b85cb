"""Learning order as a scikit-learn estimator, and as a step of an imbalanced-learn pipeline::

    from lops_adapters.integrations.sklearn import LopsSelector

    clean_texts, clean_labels = LopsSelector(method="ranked").fit_resample(texts, pseudo_labels)

It takes texts, or numbers, dense or sparse. The order of the rows changes nothing.
"""

from __future__ import annotations

import numbers
import sys
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, clone
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data
from tqdm import tqdm

from lops_adapters.core import LearningOrder, LopsError, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes import Probe, probe_class
from lops_adapters.probes.estimator import EstimatorProbe
from lops_adapters.selection import Outcome, build
from lops_adapters.selection.canonical import in_content_order
from lops_adapters.selection.method_table import check_rule


class LopsSelector(OneToOneFeatureMixin, BaseEstimator):
    """Keeps the samples whose pseudo-labels a classifier learns first.

    ``fit_resample`` makes it an imbalanced-learn sampler: a step of its ``Pipeline`` that drops
    samples during fitting and none during prediction. scikit-learn's own ``Pipeline`` does not
    support such steps.

    Args:
        probe: the classifier to watch. ``None``: logistic regression, on the TF-IDF vectors of
            texts, or on numbers as they are (scale them first). A scikit-learn classifier with
            ``partial_fit``; for texts also a pipeline that ends in one, a name (``linear``,
            ``transformer``, ...) or a :class:`lops_adapters.probes.Probe`. A copy is trained, never
            the given object.
        method: one of :data:`lops_adapters.core.RULES`.
        keep: fraction of each class.
        epochs: passes over the samples; a name or a probe has its own.
        batch_size: samples per update, likewise.
        random_state: int, generator or None; seeds batches, initial weights and ties.
        verbose: show progress.

    Attributes:
        sample_indices_: (m,) int64, sorted positions of the kept samples.
        selection_: the :class:`lops_adapters.core.Selection`, with times of learning, confidences
            and reasons.
        classes_: (k,) the distinct pseudo-labels, sorted.
        n_features_in_: columns of X, where X holds numbers.

    >>> texts = ["the striker scored a late goal"] * 9 + ["the bank cut its rates"] * 9
    >>> labels = ["sports"] * 9 + ["money"] * 8 + ["sports"]
    >>> kept, kept_labels = LopsSelector(random_state=0).fit_resample(texts, labels)
    >>> len(kept), kept_labels[-2:]
    (17, ['money', 'money'])
    """

    def __init__(
        self,
        probe: Any = None,
        *,
        method: str = "released",
        keep: float = 0.5,
        epochs: int = 4,
        batch_size: int = 32,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.probe = probe
        self.method = method
        self.keep = keep
        self.epochs = epochs
        self.batch_size = batch_size
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> LopsSelector:
        """Train the probe and select.

        Args:
            X: (n, features) numbers, dense or sparse; or n texts in a list, an array, a column, or
                a table of one column.
            y: (n,) pseudo-labels, or (n, k) one-hot rows.

        Returns:
            Itself.

        Raises:
            LopsError: settings out of range, a probe that does not suit the samples, a single
                class. ValueError and TypeError: scikit-learn's, for other kinds of X or y.
        """
        labels, texts = _labels(y), _texts(X)
        check_rule(self.method, self.keep)
        check_consistent_length(X, labels)
        self.classes_ = np.unique(labels)
        if len(self.classes_) < 2:
            raise LopsError(
                f"found {len(self.classes_)} class among {len(labels)} pseudo-labels; wanted at "
                "least 2 to tell apart"
            )
        random_state = self.random_state
        fixed = isinstance(random_state, numbers.Integral)
        seed = int(random_state if fixed else check_random_state(random_state).randint(2**31 - 1))
        if texts is not None:
            selector = build(self.method, self._text_probe(), keep=self.keep, seed=seed)
            self.selection_ = selector(texts, labels)
        else:
            matrix = validate_data(self, X, accept_sparse="csr", ensure_min_samples=2)
            classes, codes = self.classes_.tolist(), np.searchsorted(self.classes_, labels)
            ordered, places = in_content_order(Labelled(_contents(matrix), codes, classes), seed)
            rows = ordered.places
            selection = self._select_numbers(matrix[rows], labels[rows], seed)
            outcome = Outcome.of_order(selection, ordered.codes).at(places)
            self.selection_ = outcome.selection(classes)
        self.sample_indices_ = self.selection_.kept
        return self

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Train the probe, select, and return the kept rows of X and y; see :meth:`fit`."""
        self.fit(X, y)
        return _rows(X, self.sample_indices_), _rows(y, self.sample_indices_)

    def _text_probe(self) -> Probe:
        if self.probe is None or isinstance(self.probe, str):
            return probe_class(self.probe or "linear")(quiet=not self.verbose)
        if isinstance(self.probe, Probe):
            probe: Probe = clone(self.probe, safe=False)
            return probe
        if not hasattr(self.probe, "fit"):
            raise LopsError(
                f"probe is {self.probe!r:.80}; wanted the name of a probe, such as 'linear', a "
                "probe, or a scikit-learn classifier with partial_fit"
            )
        return EstimatorProbe(self.probe, self.epochs, self.batch_size, quiet=not self.verbose)

    def _classifier(self, seed: int) -> Any:
        if self.probe is None:
            from sklearn.linear_model import SGDClassifier

            return SGDClassifier(loss="log_loss", random_state=seed % 2**32)
        if not hasattr(self.probe, "partial_fit"):
            raise LopsError(
                f"X holds numbers and probe is {self.probe!r}; wanted a scikit-learn classifier "
                "with partial_fit, such as SGDClassifier: learning order needs predictions between "
                "epochs"
            )
        classifier = clone(self.probe)
        if classifier.get_params().get("random_state", seed) is None:
            classifier.set_params(random_state=seed % 2**32)
        return classifier

    def _select_numbers(self, matrix: Any, labels: Any, seed: int) -> Selection:
        for name in ("epochs", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or value < 1:
                raise LopsError(f"{name} is {value!r}; wanted a whole number, at least 1")
        order = LearningOrder(
            labels,
            tau=self.keep,
            rule=self.method,
            max_checkpoints=self.epochs,
            classes=self.classes_.tolist(),
            seed=seed,
        )
        classifier, rng = self._classifier(seed), np.random.default_rng(seed)
        for _ in tqdm(range(self.epochs), "epochs", leave=False, disable=not self.verbose):
            shuffled = rng.permutation(len(labels))
            for start in range(0, len(labels), self.batch_size):
                batch = shuffled[start : start + self.batch_size]
                classifier.partial_fit(matrix[batch], labels[batch], classes=self.classes_)
            ask = getattr(classifier, "predict_proba", classifier.predict)
            order.observe(ask(matrix))
            if order.done:
                break
        return order.select()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.probe is None or hasattr(self.probe, "partial_fit")
        tags.input_tags.string = True
        tags.target_tags.required = True
        return _tags_of_sampler(tags)


def _tags_of_sampler(tags: Any) -> Any:
    """Return tags as imbalanced-learn has them, which knows more kinds; it may not be imported."""
    module = sys.modules.get("imblearn.utils._tags")
    if module is None:
        return tags
    values = {item.name: getattr(tags, item.name) for item in fields(tags)}
    known = {item.name for item in fields(module.Tags)}
    values["input_tags"] = module.InputTags(**asdict(tags.input_tags), dataframe=True)
    values["sampler_tags"] = module.SamplerTags(sample_indices=True)
    return module.Tags(**{name: value for name, value in values.items() if name in known})


def _contents(matrix: Any) -> list[Any]:
    """Return each row as its columns that are not zero and their values, dense or sparse."""
    if not sparse.issparse(matrix):
        columns = map(np.flatnonzero, matrix)
        return [(where, row[where]) for where, row in zip(columns, matrix, strict=True)]
    rows = matrix.copy()
    rows.sum_duplicates()  # sorts the columns, too
    rows.eliminate_zeros()
    columns, values = rows.indices.astype(np.int64), rows.data
    bounds = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return [(columns[start:end], values[start:end]) for start, end in bounds]


def _rows(data: Any, positions: np.ndarray) -> Any:
    return _safe_indexing(data.tocsr() if sparse.issparse(data) else data, positions)


def _labels(y: Any) -> Any:
    if y is None:
        raise LopsError("LopsSelector requires y to be passed, but the target y is None")
    kind = type_of_target(y, input_name="y")
    if "multi" in kind and kind != "multiclass":
        rows = y.toarray() if sparse.issparse(y) else np.asarray(y)
        if kind != "multilabel-indicator" or not (rows.sum(axis=1) == 1).all():
            raise LopsError(
                "Multilabel and multioutput targets are not supported. Wanted one pseudo-label per "
                "sample, or one-hot rows"
            )
        return np.asarray(rows.argmax(axis=1))
    check_classification_targets(y)
    return np.asarray(column_or_1d(y))


def _texts(X: Any) -> list[str] | None:
    if sparse.issparse(X) or not hasattr(X, "__len__"):
        return None
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OUT":
        return None
    if len(getattr(X, "shape", ())) == 2:
        if X.shape[1] != 1:
            return None
        X = _safe_indexing(X, 0, axis=1)
    are_texts = [isinstance(text, str) for text in X]
    if not any(are_texts):
        return None
    if not all(are_texts):
        where = are_texts.index(False)
        raise LopsError(
            f"X holds texts, and {list(X)[where]!r} at position {where}; wanted a string for "
            "every sample"
        )
    return list(X)
