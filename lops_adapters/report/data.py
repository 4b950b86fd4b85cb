"""What the pages show, as plain values that survive a trip to JSON: pages are rebuilt from these
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.evaluation import area_under_noise_coverage, ideal_curve, noise_coverage_curve
from lops_adapters.report.columns import Columns, Texts, number_or_none, text_or_none, texts_at
from lops_adapters.report.measure import (
    Threshold,
    finite,
    learnt_bins,
    least_trusted,
    own_threshold,
    thinned,
    threshold_rows,
)
from lops_adapters.report.text import cleaned, cut
from lops_adapters.storage import plain

BEST = "best possible"
POINTS = 200  # of a curve


@dataclass(frozen=True)
class Suspect:
    """A row that the selection trusts little: position from 0, what it says, pseudo-label, what the
    probe would say (None: not asked).
    """

    position: int
    text: str
    label: str
    confidence: float
    learnt_at: float | None
    selected: bool
    suggested: str | None
    suggested_probability: float | None
    gold: str | None
    id: str | None


@dataclass(frozen=True)
class ClassRow:
    """A class: pseudo-labels, how many were kept and why, share of wrong ones before and after,
    among the judged (None: unknown).
    """

    label: str
    count: int
    kept: int
    why: str
    noise_before: float | None
    noise_after: float | None


@dataclass(frozen=True)
class Curve:
    """A noise-coverage curve of at most 200 points, coverage ascending, and its area before
    thinning (None: of a single point).
    """

    name: str
    coverage: list[float]
    noise: list[float]
    area: float | None


@dataclass(frozen=True)
class SelectionPage:
    """Everything the page of a selection shows.

    Attributes:
        title, source: what was selected from.
        n_rows, n_kept: rows with a pseudo-label, and those kept.
        why: sentences: which probe, which rule, why watching stopped, what to do next.
        classes: one row a class.
        learnt: (time, kept, rejected), None as time: never learnt; at most 60, none where the
            method has no learning times.
        thresholds: (confidence, rows at or above it, those of them that have a gold label, wrong
            ones or None), descending, at most 201.
        curves: noise-coverage curves of the rows that have a gold label; none without any.
        suspects: the least trusted rows of each class, the least trusted first.
        settings, versions: what it takes to do it again.
        n_judged, n_judged_kept: rows that have a gold label, and those of them that were kept.
        noise_before, noise_after: share of wrong pseudo-labels among these, None where there are
            none.
        own_threshold: the confidence, one of ``thresholds``, that exactly the kept rows reach; None
            where there is none.

    """

    title: str
    source: str
    n_rows: int
    n_kept: int
    why: list[str]
    classes: list[ClassRow]
    learnt: list[tuple[float | None, int, int]]
    thresholds: list[Threshold]
    curves: list[Curve]
    suspects: list[Suspect]
    settings: dict[str, Any]
    versions: dict[str, Any]
    n_judged: int
    n_judged_kept: int
    noise_before: float | None
    noise_after: float | None
    own_threshold: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the page in JSON's own types."""
        return _jsonable(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> SelectionPage:
        """Return the page that :meth:`to_json` stored; keys that it does not know are left out.

        Raises:
            LopsError: a key is missing or holds something else.

        """
        tables = {"classes": ClassRow, "curves": Curve, "suspects": Suspect}
        return _read(cls, stored, tables, tuples=("learnt", "thresholds"))


@dataclass(frozen=True)
class MethodRow:
    """A method of a comparison: rows kept, share of wrong ones among them, area under its curve
    (None: unknown), seconds, a remark.
    """

    name: str
    n_kept: int
    noise_after: float | None
    area: float | None
    seconds: float | None
    note: str


@dataclass(frozen=True)
class ComparisonPage:
    """Everything the page of a comparison shows; ``noise`` is that of all rows, ``curves`` hold one
    named "best possible".
    """

    title: str
    source: str
    n_rows: int
    noise: float | None
    methods: list[MethodRow]
    curves: list[Curve]
    settings: dict[str, Any]
    versions: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the page in JSON's own types."""
        return _jsonable(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> ComparisonPage:
        """Return the page that :meth:`to_json` stored; keys that it does not know are left out.

        Raises:
            LopsError: a key is missing or holds something else.

        """
        return _read(cls, stored, {"methods": MethodRow, "curves": Curve})


def selection_page(
    selection: Selection,
    texts: Texts,
    labels: Any,
    *,
    title: str,
    source: str,
    suggested: Any = None,
    suggested_probability: Any = None,
    gold: Any = None,
    ids: Any = None,
    why: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    versions: Mapping[str, Any] | None = None,
    suspects_per_class: int = 100,
    max_suspects: int = 2000,
    max_chars: int = 2000,
) -> SelectionPage:
    """Collect what the page of a selection shows.

    Args:
        selection: of n rows.
        texts: n texts, or a function that is given sorted positions and returns their texts, so
            that not all need lie in memory.
        labels: (n,) pseudo-labels.
        title, source: headings.
        suggested: (n,) what the probe would say, None in places or as a whole where it was not
            asked.
        suggested_probability: (n,) float, how sure it is.
        gold: (n,) gold labels, only for noise and curves; None, NaN or an empty text where there is
            none.
        ids: (n,) names of the rows.
        why: sentences for people; by default the rule and why watching stopped.
        settings, versions: shown at the end.
        suspects_per_class, max_suspects: how many of the least trusted rows are listed.
        max_chars: longer texts are cut.

    Raises:
        LopsError: there are no rows, lengths differ, a label is no class of the selection, a
            confidence is NaN, gold labels cannot be compared or are all missing.

    """
    columns = Columns.read(
        selection,
        texts=texts,
        labels=labels,
        suggested=suggested,
        suggested_probability=suggested_probability,
        gold=gold,
        ids=ids,
    )
    judged, confidence = columns.judged, finite(selection.confidence)
    at = least_trusted(
        confidence, columns.codes, selection.mask, columns.doubt, suspects_per_class, max_suspects
    )
    wanted = np.sort(at).tolist()
    own = own_threshold(
        confidence, selection.mask, timed=bool(np.isfinite(selection.learnt_at).any())
    )
    said = dict(zip(wanted, texts_at(texts, wanted), strict=True))
    return SelectionPage(
        title,
        source,
        len(selection.mask),
        len(selection.kept),
        list(why) or [f"Rule: {selection.rule}.", f"Watching: {selection.stopped}."],
        _classes(selection, columns),
        learnt_bins(selection.learnt_at, selection.mask),
        threshold_rows(confidence, judged, columns.wrong, own),
        _curves(confidence, columns),
        [
            _suspect(i, cut(str(said[i]), max_chars), selection, float(confidence[i]), columns)
            for i in at.tolist()
        ],
        dict(settings or {}),
        dict(versions or {}),
        int(judged.sum()),
        int((judged & selection.mask).sum()),
        _share(columns.wrong, judged),
        _share(columns.wrong, judged & selection.mask),
        own,
    )


def noise_curve(name: str, confidence: Any, labels: Any, gold: Any) -> Curve:
    """Return the noise-coverage curve of a confidence, thinned for a page; arguments and errors as
    :func:`lops_adapters.evaluation.noise_coverage_curve`.

    >>> noise_curve("margin", [0.9, 0.5], [0, 1], [0, 0])
    Curve(name='margin', coverage=[0.5, 1.0], noise=[0.0, 0.5], area=0.125)
    """
    curve = noise_coverage_curve(confidence, labels, gold)
    at = thinned(len(curve), POINTS)
    return Curve(
        name,
        curve.coverage[at].tolist(),
        curve.noise[at].tolist(),
        number_or_none(area_under_noise_coverage(curve)),
    )


def best_curve(noise: float) -> Curve:
    """Return the curve of a ranking that knows the truth, where a share ``noise`` of the
    pseudo-labels is wrong.
    """
    coverage = np.linspace(0, 1, POINTS + 1)[1:]
    best = ideal_curve(coverage, 1.0 - noise)
    return Curve(
        BEST,
        coverage.tolist(),
        best.tolist(),
        float(np.sum(np.diff(coverage) * (best[1:] + best[:-1]) / 2)),
    )


def _curves(confidence: np.ndarray, columns: Columns) -> list[Curve]:
    if columns.wrong is None:
        return []
    wrong = columns.wrong[columns.judged].astype(np.int64)
    return [
        noise_curve("by confidence", confidence[columns.judged], wrong, np.zeros_like(wrong)),
        best_curve(float(wrong.mean())),
    ]


def _suspect(
    i: int, text: str, selection: Selection, confidence: float, columns: Columns
) -> Suspect:
    return Suspect(
        i,
        text,
        cleaned(str(columns.labels[i])),
        confidence,
        number_or_none(selection.learnt_at[i]),
        bool(selection.mask[i]),
        None if columns.suggested is None else text_or_none(columns.suggested[i]),
        None if columns.probability is None else number_or_none(columns.probability[i]),
        None if columns.gold is None else text_or_none(columns.gold[i]),
        None if columns.ids is None else text_or_none(columns.ids[i]),
    )


def _classes(selection: Selection, columns: Columns) -> list[ClassRow]:
    k = len(selection.per_class)
    before, after = (
        _shares(columns, rows, k) for rows in (columns.judged, columns.judged & selection.mask)
    )
    return [
        ClassRow(cleaned(str(label)), report.count, report.kept, report.why, *noise)
        for (label, report), *noise in zip(selection.per_class.items(), before, after, strict=True)
    ]


def _shares(columns: Columns, rows: np.ndarray, n_classes: int) -> list[float | None]:
    """Share of wrong ones among those of some judged rows that are of each class; None where there
    is none.
    """
    if columns.wrong is None:
        return [None] * n_classes
    every = np.bincount(columns.codes[rows], minlength=n_classes)
    errors = np.bincount(columns.codes[rows], weights=columns.wrong[rows], minlength=n_classes)
    return [
        bad / of if of else None for bad, of in zip(errors.tolist(), every.tolist(), strict=True)
    ]


def _share(wrong: np.ndarray | None, rows: np.ndarray) -> float | None:
    return None if wrong is None or not rows.any() else float(wrong[rows].mean())


def _jsonable(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {cleaned(str(key)): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return cleaned(value) if isinstance(value, str) else plain(value)


def _read(
    cls: Any, stored: Mapping[str, Any], tables: Mapping[str, Any], tuples: Sequence[str] = ()
) -> Any:
    try:
        values = {
            field.name: stored[field.name]
            for field in fields(cls)
            if field.name in stored or field.default is MISSING
        }
        for name, row in tables.items():
            values[name] = [
                row(**{field.name: item[field.name] for field in fields(row)})
                for item in values[name]
            ]
        for name in tuples:
            values[name] = [tuple(item) for item in values[name]]
    except (KeyError, TypeError) as error:
        raise LopsError(
            f"this is no stored {cls.__name__} ({type(error).__name__}: {error}); wanted what to_json() returned"
        ) from None
    return cls(**values)
