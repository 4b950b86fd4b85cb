# lops_adapters.core 0.1.0
# SPDX-License-Identifier: Apache-2.0
# Origin: the lops_adapters package, file lops_adapters/core.py
# Made to be copied: this one file is the whole of the LOPS selection. It needs Python >= 3.6 and
# numpy, nothing else.
"""Learning-order-based pseudo-label selection (LOPS) for any training loop.

A classifier learns correctly pseudo-labelled samples before wrong ones. Train a probing classifier
on all pseudo-labelled samples, tell a :class:`LearningOrder` after every epoch what it predicts,
and keep the samples learnt earliest::

    order = LearningOrder(pseudo_labels)
    for epoch in range(4):
        ...                                # one epoch of the caller's own training
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
    At each checkpoint and for each open class: if at least floor(tau |D_c|) samples are predicted
    as w(x) *at this checkpoint*, the class closes and keeps exactly these, without a cap. A class
    that never closes is kept whole. The threshold is at least one sample, so a class of one sample
    does not vanish when it is mispredicted once (in the released code it does).
``algorithm1`` (the paper's Algorithm 1)
    Samples are added when learnt until ceil(tau |D_c|) of the class are in; the rest are refused.
``stop-and-take-all`` (the paper's introduction)
    Stop when ceil(tau |D_c|) samples of *every* class are learnt; keep all samples learnt by then.
    Once learnt stays learnt.
``ranked`` (the paper's method section)
    Rank each class by the time of learning and keep the first ceil(tau |D_c|);
    where fewer are learnt, never-learnt samples fill up, by hash.

Ties: wherever ``algorithm1`` or ``ranked`` must cut between samples learnt at the same checkpoint,
the larger score of the pseudo-label at that checkpoint wins (when scores were given), then the
smaller hash of (seed, position). File order never decides. Products tau |D_c| are exact decimals:
0.29 of 100 samples are 29. Where several classes share the largest score, the first in ``classes``
is the prediction.
"""

import math
import warnings
from fractions import Fraction
from typing import Any, Dict, Hashable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

__version__ = "0.1.0"
__all__ = [
    "RULES",
    "ClassReport",
    "LearningOrder",
    "LopsError",
    "LopsWarning",
    "Selection",
    "tie_hash",
]

RULES = ("released", "algorithm1", "stop-and-take-all", "ranked")
_BLOCK = 2**22  # scores looked at in one go, so that memory stays O(n) whatever k is


class LopsError(ValueError):
    """Bad input: the message says what was found, what was wanted and the way out."""


class LopsWarning(UserWarning):
    """Something that changes what a selection means, such as a class in which nothing was learnt."""


class ClassReport(NamedTuple):
    """What became of one class: samples, the number needed to close, learnt, kept, closing time
    (None: never closed) and the reason.
    """

    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
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
        mask: (n,) bool, True where kept.
        learnt_at: (n,) float64, time of the first checkpoint at which the sample was predicted as
            its pseudo-label; inf: never while its class was open.
        confidence: (n,) float64, larger is more trusted; for learning order 1 - learnt_at / T
            (equation 1) and -1 / T where never learnt.
        per_class: class -> :class:`ClassReport`.
        rule: name of the rule.
        stopped: why watching ended, in words.

    """

    def __init__(
        self,
        mask: np.ndarray,
        learnt_at: np.ndarray,
        confidence: np.ndarray,
        per_class: Dict[Hashable, ClassReport],
        rule: str,
        stopped: str,
    ) -> None:
        self.mask = np.array(mask, dtype=bool)
        self.kept, self.rejected = (
            np.flatnonzero(self.mask).astype(np.int64),
            np.flatnonzero(~self.mask).astype(np.int64),
        )
        self.learnt_at, self.confidence, self.per_class = learnt_at, confidence, per_class
        self.rule, self.stopped = rule, stopped

    def __repr__(self) -> str:
        return f"Selection(kept {len(self.kept)} of {len(self.learnt_at)}, rule={self.rule!r}, stopped={self.stopped!r})"


class LearningOrder:
    """Watches a probing classifier and selects the pseudo-labels it learns first.

    Args:
        pseudo_labels: n class names, any hashable values, in a list, array, tensor or pandas
            column. No missing values: leave unlabelled samples out.
        tau: fraction of each class, 0 < tau <= 1.
        rule: one of :data:`RULES`, see the module's text.
        max_checkpoints: the probe is watched at most this often.
        classes: the label set, in the order of score columns. Default: the sorted distinct
            pseudo-labels.
        horizon: T of equation 1, in the unit of ``time``. Default: ``max_checkpoints``.
        seed: decides ties that scores leave open.
        strict: raise instead of warning when nothing was learnt in some class.

    Raises:
        LopsError: no samples, missing labels, labels outside ``classes``, numbers out of range,
            unknown rule.

    >>> order = LearningOrder(["cat", "cat", "dog", "dog"])
    >>> order.observe(["cat", "dog", "dog", "dog"])
    >>> order.done, order.select().kept.tolist()
    (True, [0, 2, 3])

    """

    def __init__(
        self,
        pseudo_labels: Sequence[Hashable],
        tau: float = 0.5,
        rule: str = "released",
        max_checkpoints: int = 4,
        classes: Optional[Sequence[Hashable]] = None,
        horizon: Optional[float] = None,
        seed: int = 0,
        strict: bool = False,
    ) -> None:
        if rule not in RULES:
            raise LopsError(f"rule is {rule!r}; wanted one of {', '.join(RULES)}")
        if not 0 < tau <= 1:
            raise LopsError(f"tau is {tau!r}; wanted a fraction above 0 and at most 1, such as 0.5")
        if int(max_checkpoints) != max_checkpoints or max_checkpoints < 1:
            raise LopsError(
                f"max_checkpoints is {max_checkpoints!r}; wanted a whole number, at least 1"
            )
        self.tau, self.rule, self.seed, self.strict = float(tau), rule, int(seed), bool(strict)
        self.max_checkpoints = int(max_checkpoints)
        self.horizon = float(self.max_checkpoints if horizon is None else horizon)
        if not 0 < self.horizon < np.inf:
            raise LopsError(f"horizon is {horizon!r}; wanted a positive number in the unit of time")
        self.times = []  # type: List[float]
        self.classes, self._codes = _read_pseudo_labels(pseudo_labels, classes)
        self._lookup = {label: code for code, label in enumerate(self.classes)}
        self._counts = np.bincount(self._codes, minlength=len(self.classes)).astype(np.int64)
        self._thresholds = np.array(
            [self._threshold(int(count)) for count in self._counts], dtype=np.int64
        )
        n = len(self._codes)
        self._learnt_at = np.full(n, np.inf)
        self._chosen = np.zeros(n, dtype=bool)
        self._closed_at = np.where(
            self._counts == 0, 0.0, np.nan
        )  # a class without samples has nothing to wait for
        self._open_checkpoint()

    def _threshold(self, count: int) -> int:
        exact = Fraction(repr(self.tau)) * count
        return (
            max(min(1, count), math.floor(exact)) if self.rule == "released" else math.ceil(exact)
        )

    def _open_checkpoint(self) -> None:
        n = len(self._codes)
        self._seen, self._to_see = np.zeros(n, dtype=bool), n
        self._correct = np.zeros(n, dtype=bool)
        self._score_now = np.full(n, -np.inf)
        self._time_now = None  # type: Optional[float]

    @property
    def done(self) -> bool:
        """Whether further checkpoints cannot change the selection, or ``max_checkpoints`` is
        reached.
        """
        return len(self.times) >= self.max_checkpoints or not np.isnan(self._closed_at).any()

    @property
    def undecided(self) -> np.ndarray:
        """Sorted int64 positions whose next prediction can still change the selection; the others
        need not be evaluated.
        """
        return np.flatnonzero(self._undecided()).astype(np.int64)

    def _undecided(self) -> np.ndarray:
        if self.done:
            return np.zeros(len(self._codes), dtype=bool)
        live = np.isnan(self._closed_at)[self._codes]  # type: np.ndarray
        return live if self.rule == "released" else live & np.isinf(self._learnt_at)

    def observe(
        self,
        predictions: Any,
        time: Optional[float] = None,
        positions: Any = None,
        close: bool = False,
    ) -> None:
        """Record what the probe predicts now; a checkpoint closes when every sample was seen.

        Args:
            predictions: (m,) predicted labels, or (m, k) scores with columns in the order of
                ``classes``. Give probabilities rather than logits: ties compare them between
                samples.
            time: of this checkpoint, increasing, at most ``horizon``. Default: the checkpoint's
                number, 1.0, 2.0, ...
            positions: (m,) positions the predictions belong to. Default: all samples, in order.
            close: close the checkpoint now; allowed once all of ``undecided`` was seen. For callers
                that skip the others.

        Raises:
            LopsError: wrong shape or length, NaN, labels outside the classes, a sample seen twice
                in one checkpoint, time that does not increase or lies beyond the horizon, more than
                ``max_checkpoints`` checkpoints. Nothing is recorded then.

        After every class has closed further checkpoints are counted and change nothing.

        """
        where = self._positions(positions)
        moment = self._moment(time)
        predicted, score = self._predicted(predictions, where)
        if close:
            missing = self._undecided() & ~self._seen
            missing[where] = False
            if missing.any():
                raise LopsError(
                    f"checkpoint {len(self.times) + 1} cannot close: {int(missing.sum())} samples that still matter were not observed, the "
                    f"first at position {int(missing.argmax())}; observe all of `undecided` first"
                )
        self._time_now = moment
        self._seen[where] = True
        self._to_see -= len(where)
        self._correct[where] = predicted == self._codes[where]
        self._score_now[where] = score
        if close or not self._to_see:
            self._close_checkpoint(moment)

    def _positions(self, positions: Any) -> np.ndarray:
        n, number = len(self._codes), len(self.times) + 1
        if number > self.max_checkpoints:
            raise LopsError(
                f"this is checkpoint {number}, max_checkpoints is {self.max_checkpoints}; stop when `done` is true, or raise it"
            )
        where = np.arange(n) if positions is None else np.asarray(positions)  # type: np.ndarray
        if where.shape == (0,):
            where = where.astype(np.int64)
        if where.ndim != 1 or where.dtype.kind not in "iu":
            raise LopsError(
                f"positions have shape {where.shape} and type {where.dtype}; wanted a flat list of integers"
            )
        if len(where) and (where.min() < 0 or where.max() >= n):
            raise LopsError(
                f"positions run from {where.min()} to {where.max()}; wanted 0 to {n - 1}: there are {n} pseudo-labels"
            )
        distinct, times = np.unique(where, return_counts=True)
        twice = distinct[(times > 1) | self._seen[distinct]]
        if len(twice):
            raise LopsError(
                f"position {twice[0]} was observed twice in checkpoint {number}, while {self._to_see} samples were not observed yet; "
                "wanted every sample once a checkpoint: check for dropped last batches and padded samplers"
            )
        return where

    def _moment(self, time: Optional[float]) -> float:
        if time is None:
            time = len(self.times) + 1.0 if self._time_now is None else self._time_now
        time = float(time)
        if self._time_now is not None and time != self._time_now:
            raise LopsError(
                f"time is {time}, but the open checkpoint began with time {self._time_now} and {self._to_see} samples are still to be "
                "observed; finish it first"
            )
        last = self.times[-1] if self.times else 0.0
        if not last < time <= self.horizon:
            raise LopsError(
                f"time is {time}; wanted more than {last} (the last checkpoint) and at most {self.horizon} (the horizon; pass horizon=... "
                "in the unit of your times)"
            )
        return time

    def _predicted(self, predictions: Any, where: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Return predicted class codes (m,) and the score of the pseudo-label (m,), -inf without
        scores.
        """
        scores = _as_scores(predictions, self._lookup)
        m, k = len(where), len(self.classes)
        if scores is None:
            codes = _encode(predictions, self._lookup, "predicted labels")
            if len(codes) != m:
                raise LopsError(
                    f"found {len(codes)} predictions, wanted {m}, one for each sample observed"
                )
            return codes, np.full(m, -np.inf)
        columns = list(getattr(predictions, "columns", self.classes))
        if columns != self.classes and set(columns) == set(self.classes):
            raise LopsError(
                f"score columns are {_shown(columns)}; wanted the order of the classes: {_shown(self.classes)}. Reorder them"
            )
        if scores.shape != (m, k):
            raise LopsError(
                f"scores have shape {scores.shape}; wanted ({m}, {k}): {m} samples and the {k} classes {_shown(self.classes)}. Pass "
                "classes=... when constructing if your model knows other classes"
            )
        predicted, score = np.empty(m, dtype=np.int32), np.empty(m)
        step = max(1, _BLOCK // k)
        for rows in (slice(start, start + step) for start in range(0, m, step)):
            block, here = scores[rows], where[rows]
            bad = np.isnan(block).any(axis=1)
            if bad.any():
                raise LopsError(
                    f"scores of sample {here[bad.argmax()]} hold NaN; wanted numbers. Has the probe's training diverged?"
                )
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
            now = self._per_class(correct)
            closing = open_class & (now >= self._thresholds)
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
        """Mask of those samples within ``mask`` that fill their class up to its threshold: by
        larger score, then by the tie hash.
        """
        candidates = np.flatnonzero(mask)
        codes = self._codes[candidates]
        order = np.lexsort((tie_hash(candidates, self.seed), -score[candidates], codes))
        starts = np.concatenate(
            [[0], np.cumsum(np.bincount(codes, minlength=len(self.classes)))[:-1]]
        )
        rank = np.arange(len(candidates)) - starts[codes[order]]
        room = self._thresholds - self._per_class(self._chosen)
        first = np.zeros_like(mask)
        first[candidates[order[rank < room[codes[order]]]]] = True
        return first

    def select(self) -> Selection:
        """Return the selection after the checkpoints closed so far (one still open is left out).

        Raises:
            LopsError: no checkpoint has closed; with ``strict``, a class in which nothing was
                learnt (otherwise a LopsWarning).

        """
        if not self.times:
            missing = f"{self._to_see} of {len(self._codes)} samples are still to be observed"
            raise LopsError(
                f"no checkpoint has closed: {missing}; call observe() for every sample first"
            )
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
        return Selection(
            mask,
            self._learnt_at.copy(),
            confidence,
            per_class,
            self.rule,
            self._stopped(int(open_class.sum())),
        )

    def _reports(self, mask: np.ndarray, learnt: np.ndarray) -> Dict[Hashable, ClassReport]:
        still_open = {
            "released": "kept whole",
            "ranked": "filled up with never-learnt samples",
        }.get(self.rule, "kept what was learnt")
        columns = (
            self._counts,
            self._thresholds,
            self._per_class(learnt),
            self._per_class(mask),
            self._closed_at,
        )
        rows = zip(self.classes, *(column.tolist() for column in columns))  # noqa: B905 (strict= is newer than Python 3.6)
        reports = {}  # type: Dict[Hashable, ClassReport]
        for label, count, threshold, n_learnt, n_kept, closed_at in rows:
            closed = count > 0 and not np.isnan(closed_at)
            why = (
                "threshold reached"
                if closed
                else "threshold not reached, " + still_open
                if count
                else "no samples"
            )
            reports[label] = ClassReport(
                count, threshold, n_learnt, n_kept, closed_at if closed else None, why
            )
        return reports

    def _check_learnt(self, per_class: Dict[Hashable, ClassReport]) -> None:
        empty = [
            f"{c!r} ({r.count} samples, {r.kept} kept)"
            for c, r in per_class.items()
            if r.count and not r.learnt
        ]
        if empty:
            message = (
                f"nothing was learnt in {len(empty)} of {len(per_class)} classes within {len(self.times)} checkpoints: {', '.join(empty)}. "
                "Train the probe longer or with a larger learning rate, or look at these pseudo-labels"
            )
            if self.strict:
                raise LopsError(message)
            warnings.warn(message, LopsWarning, stacklevel=3)

    def _stopped(self, n_open: int) -> str:
        seen = f"{len(self.times)} checkpoint{'' if len(self.times) == 1 else 's'}"
        if not n_open:
            return f"every class reached its threshold within {seen}"
        reason = (
            "max_checkpoints reached"
            if len(self.times) >= self.max_checkpoints
            else "watching ended"
        )
        return (
            f"{reason} after {seen}, {n_open} of {len(self.classes)} classes below their threshold"
        )


def tie_hash(positions: np.ndarray, seed: int) -> np.ndarray:
    """Hash of (seed, position) that breaks ties: splitmix64, the same on every machine. Returns
    uint64 of the shape of ``positions``.

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


def _shown(classes: Sequence[Hashable]) -> str:
    return ", ".join(repr(label) for label in classes[:8]) + (", ..." if len(classes) > 8 else "")


def _missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)  # noqa: PLR0124 (NaN and NaT differ from themselves)
    except (TypeError, ValueError):  # pandas.NA does not compare
        return True


def _values(labels: Any) -> List[Any]:
    return list(labels.tolist() if hasattr(labels, "tolist") else labels)


def _read_pseudo_labels(
    labels: Any, classes: Optional[Sequence[Hashable]]
) -> Tuple[List[Hashable], np.ndarray]:
    if getattr(labels, "ndim", 1) != 1:
        raise LopsError(
            f"pseudo_labels have shape {tuple(labels.shape)}; wanted one label a sample, shape (n,)"
        )
    if len(labels) == 0:
        raise LopsError("found no pseudo-labels; wanted at least one sample")
    whole = isinstance(labels, np.ndarray) and labels.dtype.kind in "iu"
    try:
        names = (
            _values(np.unique(labels) if whole else set(_values(labels)))
            if classes is None
            else _values(classes)
        )
        distinct = len(set(names))
    except TypeError:
        raise LopsError(
            "labels are not hashable; wanted strings, integers or other hashable class names"
        ) from None
    for name in names:
        if _missing(name):
            raise LopsError(f"labels hold a missing value ({name!r}); leave unlabelled samples out")
    if distinct < len(names):
        raise LopsError(f"classes hold a name twice: {_shown(names)}; wanted distinct names")
    if classes is None:
        try:
            names = sorted(names)
        except TypeError:  # names of several types have no order of their own
            names = sorted(names, key=lambda name: (type(name).__name__, repr(name)))
    return names, _encode(
        labels, {label: code for code, label in enumerate(names)}, "pseudo-labels"
    )


def _encode(labels: Any, lookup: Dict[Hashable, int], what: str) -> np.ndarray:
    """Class codes of the labels, int32 (n,); LopsError names the first label outside the classes."""
    if (
        isinstance(labels, np.ndarray)
        and labels.dtype.kind in "iu"
        and lookup
        and all(type(name) is int for name in lookup)
    ):
        names, order = np.unique(
            np.array(list(lookup)), return_index=True
        )  # no Python object a label: a million samples stay cheap
        place = np.minimum(np.searchsorted(names, labels), len(names) - 1)
        codes = np.where(names[place] == labels, order[place], -1).astype(np.int32)
    else:
        values = _values(labels)
        try:
            codes = np.fromiter(
                (lookup.get(value, -1) for value in values), dtype=np.int32, count=len(values)
            )
        except TypeError:
            raise LopsError(f"{what} are not hashable; wanted a flat list of class names") from None
    outside = np.flatnonzero(codes < 0)
    if len(outside):
        found = _values(labels)[outside[0]]
        way_out = (
            "leave unlabelled samples out"
            if _missing(found)
            else "pass classes=... with every class the model knows"
        )
        raise LopsError(
            f"{what} hold {found!r} at position {outside[0]}, not among the classes {_shown(list(lookup))}; {way_out}"
        )
    return codes


def _as_scores(predictions: Any, lookup: Dict[Hashable, int]) -> Optional[np.ndarray]:
    """Return the predictions as a 2-d number array, or None where they are a flat list of labels."""
    if hasattr(predictions, "detach"):  # a tensor, perhaps on an accelerator
        predictions = predictions.detach().cpu()
    if not hasattr(predictions, "ndim"):
        first = next(iter(predictions), None)
        nested = hasattr(first, "__len__") and not isinstance(first, (str, bytes))
        if not nested or (
            isinstance(first, Hashable) and first in lookup
        ):  # a tuple may be a class name
            return None
    elif predictions.ndim == 1:
        return None
    try:
        scores = np.asarray(predictions)
    except (TypeError, ValueError) as error:
        raise LopsError(
            f"predictions cannot be read as scores ({error}); wanted (n, k) floats"
        ) from None
    if scores.ndim != 2 or scores.dtype.kind not in "fiu":
        raise LopsError(
            f"predictions have shape {scores.shape} and type {scores.dtype}; wanted (n,) labels or (n, k) numbers"
        )
    return scores
