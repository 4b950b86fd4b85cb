# lops_adapters.core 0.1.0
# SPDX-License-Identifier: Apache-2.0
# Origin: the lops_adapters package, file lops_adapters/core.py
# Made to be copied: this file is all of the LOPS selection. It needs Python >= 3.6 and numpy.
"""Learning-order-based pseudo-label selection (LOPS) for any training loop.

A classifier learns correct pseudo-labels before wrong ones. Train a probing classifier on all
pseudo-labelled samples, tell a :class:`LearningOrder` its predictions after every epoch, and keep
the samples learnt earliest::

    order = LearningOrder(pseudo_labels)
    for epoch in range(4):
        ...                                # one epoch of your training
        order.observe(predictions)         # n labels, or (n, k) class probabilities
        if order.done:
            break
    selection = order.select()             # train the real classifier on selection.kept

Source: Mekala, Dong and Shang, "LOPS: Learning Order Inspired Pseudo-Label Selection", Findings of
EMNLP 2022, equation 1 and Algorithm 1.

Notation: n samples, k classes, D_c the samples pseudo-labelled c, w(x) the pseudo-label of x, T the
horizon (by default the number of checkpoints). A sample is *learnt* at the first checkpoint where
it is predicted as w(x).

Rules (the paper and its released code describe four different ones):

``released`` (default; the authors' released code, which produced the published numbers)
    A class closes at the first checkpoint that predicts at least floor(tau |D_c|) of its samples,
    and at least one, as w(x). It keeps exactly these, without a cap. A class that never closes is
    kept whole.
``algorithm1`` (the paper's Algorithm 1)
    Keep samples when learnt, until ceil(tau |D_c|) of the class are in.
``stop-and-take-all`` (the paper's introduction)
    Stop when ceil(tau |D_c|) samples of *every* class are learnt; keep all samples learnt by then.
``ranked`` (the paper's method section)
    Keep the first ceil(tau |D_c|) per class; if fewer are learnt, others fill up, by hash.

Ties: if ``algorithm1`` or ``ranked`` must cut between samples learnt at the same checkpoint, the
larger score of the pseudo-label at that checkpoint wins (if scores were given), then the smaller
hash of (seed, position); file order never decides. Products tau |D_c| are exact decimals: 0.29 of
100 is 29. If several classes share the largest score, the first in ``classes`` is predicted.
"""

import math
import warnings
from fractions import Fraction
from typing import Any, Dict, Hashable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

__version__ = "0.1.0"
__all__ = ["RULES", "ClassReport", "LearningOrder", "LopsError", "LopsWarning", "Selection",
           "tie_hash"]  # fmt: skip

RULES = ("released", "algorithm1", "stop-and-take-all", "ranked")
_BLOCK = 2**22  # scores read at once, so that memory stays O(n) for any k


class LopsError(ValueError):
    """Bad input: the message says what was found, what was wanted and what to do."""


class LopsWarning(UserWarning):
    """Something that changes what a selection means, such as a class without learnt samples."""


class ClassReport(NamedTuple):
    """Selection in one class: ``threshold`` samples close it, at ``closed_at`` (None: never)."""

    count: int  # type: ignore[assignment]  # hides tuple.count
    threshold: int
    learnt: int
    kept: int
    closed_at: Optional[float]
    why: str


class Selection:
    """Which samples to trust, by position in the caller's order.

    Attributes:
        kept: (m,) int64, sorted positions of the selected samples.
        rejected: (n - m,) int64, sorted positions of the others.
        mask: (n,) bool, True: kept.
        learnt_at: (n,) float64, time of the first checkpoint at which the sample was predicted as
            its pseudo-label; inf: never while its class was open.
        confidence: (n,) float64, larger is more trusted; for learning order 1 - learnt_at / T
            (equation 1), or -1 / T if never learnt.
        per_class: class -> :class:`ClassReport`.
        rule: name of the rule.
        stopped: why the probe was not watched any longer, in words.

    """

    def __init__(
        self, mask: np.ndarray, learnt_at: np.ndarray, confidence: np.ndarray,
        per_class: Dict[Hashable, ClassReport], rule: str, stopped: str,
    ) -> None:  # fmt: skip
        self.mask = np.array(mask, dtype=bool)
        self.kept = np.flatnonzero(self.mask).astype(np.int64)
        self.rejected = np.flatnonzero(~self.mask).astype(np.int64)
        self.learnt_at, self.confidence, self.per_class = learnt_at, confidence, per_class
        self.rule, self.stopped = rule, stopped

    def __repr__(self) -> str:
        kept = f"kept {len(self.kept)} of {len(self.mask)}"
        return f"Selection({kept}, rule={self.rule!r}, stopped={self.stopped!r})"


class LearningOrder:
    """Watches a probing classifier and selects the pseudo-labels it learns first.

    Args:
        pseudo_labels: n hashable class names in a list, array, tensor or pandas column. No missing
            values: leave unlabelled samples out.
        tau: fraction of each class, 0 < tau <= 1; or a dict of class -> fraction.
        rule: one of :data:`RULES`, see the module's docstring.
        max_checkpoints: largest number of checkpoints.
        classes: the label set, in the order of score columns. Default: the sorted distinct
            pseudo-labels.
        horizon: T of equation 1, in the unit of ``time``. Default: ``max_checkpoints``.
        seed: decides ties that scores leave open.
        strict: raise instead of warning if nothing is learnt in some class.

    Raises:
        LopsError: no samples, missing or unknown labels, wrong types, numbers out of range.

    >>> order = LearningOrder(["cat", "cat", "dog", "dog"])
    >>> order.observe(["cat", "dog", "dog", "dog"])
    >>> order.done, order.select().kept.tolist()
    (True, [0, 2, 3])

    """

    def __init__(
        self, pseudo_labels: Sequence[Hashable], tau: Any = 0.5, rule: str = "released",
        max_checkpoints: int = 4, classes: Optional[Sequence[Hashable]] = None,
        horizon: Optional[float] = None, seed: int = 0, strict: bool = False,
    ) -> None:  # fmt: skip
        if not isinstance(rule, str) or rule not in RULES:
            raise LopsError(f"rule is {rule!r}; wanted one of {', '.join(RULES)}")
        last = _number(max_checkpoints, "max_checkpoints")
        if not last.is_integer() or last < 1:
            raise LopsError(f"max_checkpoints is {last:g}; wanted an integer, at least 1")
        if not isinstance(seed, (int, np.integer)):
            raise LopsError(f"seed is {seed!r:.80}; wanted an integer")
        self.rule, self.seed, self.strict, self.max_checkpoints = rule, int(seed), strict, int(last)
        self.horizon = last if horizon is None else _number(horizon, "horizon")
        if not 0 < self.horizon < np.inf:
            raise LopsError(f"horizon is {horizon!r}; wanted a positive number in the unit of time")
        self.times = []  # type: List[float]
        self.classes, self._codes = read_pseudo_labels(pseudo_labels, classes)
        self._lookup = {label: code for code, label in enumerate(self.classes)}
        self._counts = np.bincount(self._codes, minlength=len(self.classes)).astype(np.int64)
        self.tau = tau
        pairs = zip(self.classes, self._counts.tolist())  # noqa: B905 (Python 3.6)
        self._thresholds = np.array([self._threshold(*pair) for pair in pairs], np.int64)
        n = len(self._codes)
        self._learnt_at, self._chosen = np.full(n, np.inf), np.zeros(n, dtype=bool)
        self._closed_at = np.where(self._counts == 0, 0.0, np.nan)  # empty classes are closed
        self._open_checkpoint()

    def _threshold(self, label: Hashable, count: int) -> int:
        tau = self.tau
        if isinstance(tau, Mapping):
            if count and label not in tau:
                raise LopsError(f"tau has no fraction for the class {label!r}; add it")
            tau = tau.get(label, 1.0)
        fraction, released = _number(tau, "tau"), self.rule == "released"
        if not 0 < fraction <= 1:
            raise LopsError(f"tau is {tau!r}; wanted a fraction above 0 and at most 1, such as 0.5")
        exact = Fraction(repr(fraction)) * count
        return max(min(1, count), math.floor(exact)) if released else math.ceil(exact)

    def _open_checkpoint(self) -> None:
        n = len(self._codes)
        self._seen, self._to_see = np.zeros(n, dtype=bool), n
        self._correct, self._score_now = np.zeros(n, dtype=bool), np.full(n, -np.inf)
        self._time_now = None  # type: Optional[float]

    @property
    def done(self) -> bool:
        """Whether the selection is final, or ``max_checkpoints`` is reached."""
        return len(self.times) >= self.max_checkpoints or not np.isnan(self._closed_at).any()

    @property
    def undecided(self) -> np.ndarray:
        """Sorted int64 positions of the samples that can still change the selection."""
        return np.flatnonzero(self._undecided()).astype(np.int64)

    def _undecided(self) -> np.ndarray:
        live = np.isnan(self._closed_at)[self._codes] & (not self.done)  # type: np.ndarray
        return live if self.rule == "released" else live & np.isinf(self._learnt_at)

    def observe(self, predictions: Any, time: Optional[float] = None, positions: Any = None,
                close: bool = False) -> None:  # fmt: skip
        """Record predictions of the probe; a checkpoint closes when every sample was seen.

        After every class has closed, further checkpoints are counted and change nothing.

        Args:
            predictions: (m,) predicted labels, or (m, k) scores with columns as in ``classes``.
                Give probabilities rather than logits: ties compare them between samples.
            time: of this checkpoint, increasing, at most ``horizon``. Default: 1.0, 2.0, ...
            positions: (m,) positions of the predicted samples. Default: all samples, in order.
            close: close the checkpoint now, for callers that predict only ``undecided``.

        Raises:
            LopsError: wrong type, shape or length, NaN, unknown labels, a sample seen twice in one
                checkpoint, an undecided one missing at ``close``, time that does not increase or
                exceeds the horizon, too many checkpoints. Nothing is recorded then.

        """
        where = self._positions(positions)
        moment = self._moment(time)
        predicted, score = self._predicted(predictions, where)
        if close:
            missing = self._undecided() & ~self._seen
            missing[where] = False
            if missing.any():
                found = f"{missing.sum()} undecided samples, the first at position"
                found = f"cannot close without {found} {missing.argmax()}; observe all of"
                raise LopsError(f"checkpoint {len(self.times) + 1} {found} `undecided` first")
        self._time_now, self._to_see = moment, self._to_see - len(where)
        self._seen[where], self._score_now[where] = True, score
        self._correct[where] = predicted == self._codes[where]
        if close or not self._to_see:
            self._close_checkpoint(moment)

    def _positions(self, positions: Any) -> np.ndarray:
        n, number = len(self._codes), len(self.times) + 1
        if number > self.max_checkpoints:
            found = f"this is checkpoint {number}, max_checkpoints is {self.max_checkpoints}"
            raise LopsError(found + "; stop when `done` is true, or raise it")
        try:
            where = np.arange(n) if positions is None else np.asarray(positions)  # type: np.ndarray
        except (TypeError, ValueError) as error:
            raise LopsError(f"positions are no array ({error}); wanted flat integers") from None
        if where.ndim != 1 or (len(where) and where.dtype.kind not in "iu"):
            found = f"positions have shape {where.shape} and type {where.dtype}"
            raise LopsError(found + "; wanted a flat list of integers")
        where = where.astype(np.int64, copy=False)
        if len(where) and (where.min() < 0 or where.max() >= n):
            found = f"positions run from {where.min()} to {where.max()}"
            raise LopsError(f"{found}; wanted 0 to {n - 1}: there are {n} pseudo-labels")
        distinct, times = np.unique(where, return_counts=True)
        twice = distinct[(times > 1) | self._seen[distinct]]
        if len(twice):
            raise LopsError(
                f"position {twice[0]} was observed twice in checkpoint {number}, while "
                f"{self._to_see} samples were not observed yet; wanted every sample once per "
                "checkpoint: check for dropped last batches and padded samplers"
            )
        return where

    def _moment(self, time: Optional[float]) -> float:
        if time is None:
            time = len(self.times) + 1.0 if self._time_now is None else self._time_now
        time = _number(time, "time")
        if self._time_now is not None and time != self._time_now:
            found = f"time is {time}, but the open checkpoint began with time {self._time_now}"
            raise LopsError(f"{found}; finish it first: {self._to_see} samples are to be observed")
        last = self.times[-1] if self.times else 0.0
        if not last < time <= self.horizon:
            found = f"time is {time}; wanted more than {last} (the last checkpoint) and at most"
            raise LopsError(f"{found} {self.horizon} (the horizon; pass horizon=... in that unit)")
        return time

    def _predicted(self, predictions: Any, where: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Return predicted codes (m,) and the pseudo-label's scores (m,), -inf without scores."""
        scores = _as_scores(predictions, self._lookup)
        m, k = len(where), len(self.classes)
        if scores is None:
            codes = _encode(predictions, self._lookup, "predicted labels")
            if len(codes) != m:
                raise LopsError(f"found {len(codes)} predictions; wanted {m}, one per sample")
            return codes, np.full(m, -np.inf)
        columns = list(getattr(predictions, "columns", self.classes))
        if columns != self.classes and set(columns) == set(self.classes):
            found = f"score columns are {_shown(columns)}; wanted the order of the classes:"
            raise LopsError(f"{found} {_shown(self.classes)}. Reorder them")
        if scores.shape != (m, k):
            found = f"scores have shape {scores.shape}; wanted ({m}, {k}): {m} samples, {k} classes"
            raise LopsError(f"{found} {_shown(self.classes)}. Pass classes=... if yours are others")
        predicted, score = np.empty(m, dtype=np.int32), np.empty(m)
        step = max(1, _BLOCK // k)
        for rows in (slice(start, start + step) for start in range(0, m, step)):
            block, here = scores[rows], where[rows]
            bad = np.isnan(block).any(axis=1)
            if bad.any():
                found = f"scores of sample {here[bad.argmax()]} hold NaN"
                raise LopsError(found + "; wanted numbers. Has the probe's training diverged?")
            predicted[rows] = block.argmax(axis=1)
            score[rows] = block[np.arange(len(block)), self._codes[here]]
        return predicted, score

    def _close_checkpoint(self, time: float) -> None:
        self.times.append(time)
        open_class = np.isnan(self._closed_at)
        correct = self._correct & open_class[self._codes]
        new = correct & np.isinf(self._learnt_at)
        self._learnt_at[new] = time
        if self.rule == "released":
            closing = open_class & (self._per_class(correct) >= self._thresholds)
            self._chosen |= correct & closing[self._codes]
        else:
            everything = self.rule == "stop-and-take-all"
            self._chosen |= new if everything else self._first(new, self._score_now)
            closing = open_class & (self._per_class(self._chosen) >= self._thresholds)
            if everything and (closing != open_class).any():
                closing[:] = False  # this rule waits for every class
        self._closed_at[closing] = time
        self._open_checkpoint()

    def _per_class(self, mask: np.ndarray) -> np.ndarray:
        return np.bincount(self._codes[mask], minlength=len(self.classes))

    def _first(self, mask: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return the part of ``mask`` that fills the classes: by score, then by hash."""
        candidates = np.flatnonzero(mask)
        codes = self._codes[candidates]
        order = np.lexsort((tie_hash(candidates, self.seed), -score[candidates], codes))
        starts = np.concatenate([[0], np.cumsum(self._per_class(mask))[:-1]])
        rank = np.arange(len(candidates)) - starts[codes[order]]
        room = self._thresholds - self._per_class(self._chosen)
        first = np.zeros_like(mask)
        first[candidates[order[rank < room[codes[order]]]]] = True
        return first

    def select(self) -> Selection:
        """Return the selection after the checkpoints closed so far; an open one is ignored.

        Raises:
            LopsError: no checkpoint has closed; with ``strict``, a class in which nothing was
                learnt (otherwise a LopsWarning).

        """
        if not self.times:
            found = f"{self._to_see} of {len(self._codes)} samples are still to be observed"
            raise LopsError(f"no checkpoint has closed: {found}; call observe() for them first")
        open_class = np.isnan(self._closed_at)
        learnt = np.isfinite(self._learnt_at)
        mask = self._chosen
        if self.rule == "released":
            mask = mask | open_class[self._codes]
        elif self.rule == "ranked":
            mask = mask | self._first(~learnt, np.zeros(len(learnt)))
        per_class = self._reports(mask, learnt)
        self._check_learnt(per_class)
        confidence = np.where(learnt, 1.0 - self._learnt_at / self.horizon, -1.0 / self.horizon)
        stopped = self._stopped(int(open_class.sum()))
        return Selection(mask, self._learnt_at.copy(), confidence, per_class, self.rule, stopped)

    def _reports(self, mask: np.ndarray, learnt: np.ndarray) -> Dict[Hashable, ClassReport]:
        otherwise = {"released": "kept whole", "ranked": "filled up with never-learnt samples"}
        still_open = "threshold not reached, " + otherwise.get(self.rule, "kept what was learnt")
        n_learnt, n_kept = self._per_class(learnt), self._per_class(mask)
        columns = (self._counts, self._thresholds, n_learnt, n_kept, self._closed_at)
        reports = {}  # type: Dict[Hashable, ClassReport]
        for label, row in zip(self.classes, zip(*(c.tolist() for c in columns))):  # noqa: B905
            closed = row[0] > 0 and not np.isnan(row[4])
            why = "threshold reached" if closed else still_open if row[0] else "no samples"
            at = row[4] if closed else None
            reports[label] = ClassReport(row[0], row[1], row[2], row[3], at, why)
        return reports

    def _check_learnt(self, per_class: Dict[Hashable, ClassReport]) -> None:
        reports = [(c, r) for c, r in per_class.items() if r.count and not r.learnt]
        empty = [f"{c!r} ({r.count} samples, {r.kept} kept)" for c, r in reports]
        if empty:
            message = f"nothing was learnt in {len(empty)} of {len(per_class)} classes within "
            message += f"{len(self.times)} checkpoints: {', '.join(empty)}. Train the probe longer "
            message += "or with a larger learning rate, or check these pseudo-labels"
            if self.strict:
                raise LopsError(message)
            warnings.warn(message, LopsWarning, stacklevel=3)

    def _stopped(self, left: int) -> str:
        seen = f"{len(self.times)} checkpoint{'' if len(self.times) == 1 else 's'}"
        if not left:
            return f"every class reached its threshold within {seen}"
        limit = " (max_checkpoints)" if len(self.times) >= self.max_checkpoints else ""
        return f"stopped after {seen}{limit}, {left} of {len(self.classes)} classes below threshold"


def tie_hash(positions: np.ndarray, seed: int) -> np.ndarray:
    """Return uint64 hashes of (seed, position) that break ties: splitmix64, on every machine.

    >>> tie_hash(np.array([0, 1]), seed=0).tolist()
    [16294208416658607535, 7960286522194355700]
    """
    golden = 0x9E3779B97F4A7C15
    start = np.uint64((int(seed) * 0xD1342543DE82EF95 + golden) % 2**64)
    with np.errstate(over="ignore"):
        z = np.asarray(positions).astype(np.uint64) * np.uint64(golden) + start
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def _number(value: Any, what: str) -> float:
    try:
        return float("a text" if isinstance(value, (str, bytes)) else value)
    except (TypeError, ValueError, OverflowError):
        raise LopsError(f"{what} is {value!r:.80}; wanted a number") from None


def _check_flat(values: Any, what: str) -> None:
    one = isinstance(values, (str, bytes, type, Mapping, set, frozenset))
    if one or not hasattr(values, "__len__"):
        raise LopsError(f"{what} are one {type(values).__name__}; wanted a list or an array")


def _shown(classes: Sequence[Hashable]) -> str:
    return ", ".join(repr(label) for label in classes[:8]) + (", ..." if len(classes) > 8 else "")


def _missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)  # noqa: PLR0124 (NaN, NaT)
    except (TypeError, ValueError):  # pandas.NA does not compare
        return True


def _values(labels: Any) -> List[Any]:
    return list(labels.tolist() if hasattr(labels, "tolist") else labels)


def _is_whole(labels: Any) -> bool:
    return isinstance(labels, np.ndarray) and labels.dtype.kind in "iu"


def read_pseudo_labels(labels: Any, classes: Any = None) -> Tuple[List[Hashable], np.ndarray]:
    """Return the classes, by default the sorted distinct labels, and the (n,) int32 codes.

    Raises:
        LopsError: no labels, missing or unhashable ones, or labels outside the classes.

    """
    _check_flat(labels, "pseudo_labels")
    if getattr(labels, "ndim", 1) != 1:
        raise LopsError(f"labels have shape {labels.shape}; wanted one per sample, shape (n,)")
    if len(labels) == 0:
        raise LopsError("found no pseudo-labels; wanted at least one sample")
    try:
        if classes is None:
            names = _values(np.unique(labels) if _is_whole(labels) else set(_values(labels)))
        else:
            _check_flat(classes, "classes")
            names = _values(classes)
        distinct = len(set(names))
    except TypeError:
        wanted = "wanted strings, integers or other hashable class names"
        raise LopsError("labels are not hashable; " + wanted) from None
    for name in names:
        if _missing(name):
            raise LopsError(f"labels hold a missing value ({name!r}); leave unlabelled samples out")
    if distinct < len(names):
        raise LopsError(f"classes hold a name twice: {_shown(names)}; wanted distinct names")
    if classes is None:
        try:
            names = sorted(names)
        except TypeError:  # names of several types have no common order
            names = sorted(names, key=lambda name: (type(name).__name__, repr(name)))
    lookup = {label: code for code, label in enumerate(names)}
    return names, _encode(labels, lookup, "pseudo-labels")


def _encode(labels: Any, lookup: Dict[Hashable, int], what: str) -> np.ndarray:
    """Return class codes, int32 (n,); a LopsError names the first label outside the classes."""
    if _is_whole(labels) and lookup and all(type(name) is int for name in lookup):
        # No Python object per label, so that a million samples stay cheap.
        names, order = np.unique(np.array(list(lookup)), return_index=True)
        place = np.minimum(np.searchsorted(names, labels), len(names) - 1)
        codes = np.where(names[place] == labels, order[place], -1).astype(np.int32)
    else:
        values = _values(labels)
        try:
            found = [lookup.get(value, -1) for value in values]
        except TypeError:
            raise LopsError(f"{what} are not hashable; wanted a flat list of class names") from None
        codes = np.array(found, dtype=np.int32)
    outside = np.flatnonzero(codes < 0)
    if len(outside):
        label, todo = _values(labels)[outside[0]], "pass classes=... with every class of the model"
        raise LopsError(
            f"{what} hold {label!r} at position {outside[0]}, not among the classes "
            f"{_shown(list(lookup))}; {'leave unlabelled samples out' if _missing(label) else todo}"
        )
    return codes


def _as_scores(predictions: Any, lookup: Dict[Hashable, int]) -> Optional[np.ndarray]:
    """Return the predictions as a 2-d number array, or None for a flat list of labels."""
    if hasattr(predictions, "detach"):  # a tensor, perhaps on an accelerator
        predictions = predictions.detach().cpu()
    if not hasattr(predictions, "ndim"):
        _check_flat(predictions, "predictions")
        first = next(iter(predictions), None)
        one = not hasattr(first, "__len__") or isinstance(first, (str, bytes))
        if one or (type(first) in map(type, lookup) and first in list(lookup)):
            return None  # a tuple may be a class name
    elif predictions.ndim == 1:
        return None
    try:
        scores = np.asarray(predictions)
    except (TypeError, ValueError) as error:
        raise LopsError(f"scores cannot be read ({error}); wanted (n, k) floats") from None
    if scores.ndim != 2 or scores.dtype.kind not in "fiu":
        found = f"predictions have shape {scores.shape} and type {scores.dtype}"
        raise LopsError(found + "; wanted (n,) labels or (n, k) numbers")
    return scores
