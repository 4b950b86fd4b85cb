"""What the page of a selection shows, collected from the selection and the columns of its rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lops_adapters.console import unsure
from lops_adapters.core import LopsError, Selection
from lops_adapters.evaluation import area_under_noise_coverage, ideal_curve, noise_coverage_curve
from lops_adapters.report.columns import Columns, number_or_none, text_or_none
from lops_adapters.report.contents import BEST, ClassRow, Curve, NearGroup, SelectionPage, Suspect
from lops_adapters.report.measure import (
    finite,
    learnt_bins,
    least_trusted,
    own_threshold,
    thinned,
    threshold_rows,
)
from lops_adapters.report.more import CHARS, MOST, for_script, packed
from lops_adapters.report.text import cleaned, cut

GROUPS = 100  # of near-duplicates on a page
PART = 5000  # further rows made at a time
LARGEST_PLAIN = 5 * 2**20  # characters of all texts that are not packed, as the page holds them
POINTS = 200  # of a curve
COLUMNS = ("suggested", "suggested_probability", "gold", "ids")  # of a selection's rows, optional


def selection_page(
    selection: Selection,
    texts: Sequence[Any],
    labels: Any,
    *,
    numbers: Sequence[int] | None = None,
    all_rejected: bool = False,
    near: Sequence[np.ndarray] = (),
    to_check: Sequence[int] = (),
    suspects_per_class: int = 100,
    max_suspects: int = 2000,
    max_chars: int = 2000,
    **more: Any,
) -> SelectionPage:
    """Collect what the page of a selection shows.

    Args:
        selection: of n rows.
        texts, labels: n texts and pseudo-labels.
        numbers: (n,) numbers of the rows in their table, from 1; default: 1 to n.
        all_rejected: also list the other rejected rows, packed, as many as fit.
        near: groups of positions of rows with nearly the same text.
        to_check: positions of rows that a person checks, in their order; they are also listed.
        suspects_per_class: how many of the least trusted rows are listed.
        max_suspects: how many rows are listed; those to check come before others.
        max_chars: longer texts are cut.
        more: of n rows each, suggested (labels that the probe prefers), suggested_probability, gold
            (None, NaN or an empty text: missing) and ids; and title, source and other fields of
            :class:`~lops_adapters.report.contents.SelectionPage`, such as why (default: the rule
            and why training stopped).

    Raises:
        LopsError: no rows, different lengths, a label that is no class of the selection, a NaN
            confidence, gold labels that cannot be compared or are all missing, or unknown or
            repeated rows to check.

    """
    given = {name: more.pop(name, None) for name in COLUMNS}
    columns = Columns.read(selection, texts=texts, labels=labels, **given)
    rows = _Rows(selection, columns, finite(selection.confidence), numbers)
    _check_positions(to_check, len(selection.mask))
    to_check = to_check[:max_suspects]
    at = rows.listed(suspects_per_class, max_suspects, to_check)
    said = {"why": [f"Rule: {selection.rule}.", f"Training: {selection.stopped}."]}
    page = _measured(
        rows,
        suspects=list(rows.suspects(at, max_chars)),
        near=rows.near(near) if len(near) else [],
        n_near=len(near),
        to_check=[rows.number(i) for i in to_check],
        **{"settings": {}, "versions": {}, **said, **more},
    )
    return _with_all_rejected(page, rows, at, max_chars) if all_rejected else page


def _check_positions(to_check: Sequence[int], n: int) -> None:
    wrong = [i for i in to_check if not 0 <= i < n]
    if wrong:
        raise LopsError(
            f"to_check holds the position {wrong[0]}; wanted positions from 0 to {n - 1}"
        )
    if len(set(to_check)) < len(to_check):
        raise LopsError("to_check holds a position twice; give every row once")


@dataclass(frozen=True)
class _Rows:
    """The rows of a selection, to be listed; ``numbers`` as for :func:`selection_page`."""

    selection: Selection
    columns: Columns
    confidence: np.ndarray
    numbers: Sequence[int] | None

    def least_trusted(self, per_class: int | None = None, most: int = 0) -> np.ndarray:
        """Return positions, the least trusted first: of all rows, or of so many."""
        columns, mask = self.columns, self.selection.mask
        if per_class is None:
            per_class, most = len(mask), len(mask) * len(self.selection.per_class)
        return least_trusted(self.confidence, columns.codes, mask, columns.doubt, per_class, most)

    def listed(self, per_class: int, most: int, to_check: Sequence[int]) -> np.ndarray:
        """Return the positions of the rows of the list, in its order."""
        least = self.least_trusted(per_class, most)
        if not len(to_check):
            return least
        others = least[~np.isin(least, to_check)][: most - len(to_check)]
        order = self.least_trusted()
        return order[np.isin(order, [*others, *to_check])]

    def number(self, position: int) -> int:
        """Return the number of a row in its table, from 1."""
        return int(position) + 1 if self.numbers is None else int(self.numbers[position])

    def suspects(self, at: np.ndarray, max_chars: int) -> Iterator[Suspect]:
        """Yield the rows at positions, in their order."""
        columns, selection = self.columns, self.selection
        texts = [cut(str(columns.texts[i]), max_chars) for i in at.tolist()]
        size = sum(len(json.dumps(text)) for text in texts)
        if size > LARGEST_PLAIN:
            longest = max(map(len, texts))
            texts = [cut(text, max(200, longest * LARGEST_PLAIN // size)) for text in texts]
        suggested, probability = columns.suggested, columns.probability
        gold, ids, unknown = columns.gold, columns.ids, unsure(map(str, selection.per_class))
        for i, text in zip(at.tolist(), texts, strict=True):
            likely = None if probability is None else number_or_none(probability[i])
            label = cleaned(str(columns.labels[i]))
            said = None if suggested is None else text_or_none(suggested[i])
            if said == label and not selection.mask[i]:
                said, likely = unknown, None
            yield Suspect(
                position=i,
                text=text,
                label=label,
                confidence=float(self.confidence[i]),
                learnt_at=number_or_none(selection.learnt_at[i]),
                selected=bool(selection.mask[i]),
                suggested=said,
                suggested_probability=likely,
                gold=None if gold is None else text_or_none(gold[i]),
                id=None if ids is None else text_or_none(ids[i]),
                row=self.number(i),
            )

    def near(self, groups: Sequence[np.ndarray]) -> list[NearGroup]:
        """Return some groups of near-duplicates: with several labels first, then large ones."""
        labels = [
            [cleaned(str(self.columns.labels[i])) for i in group.tolist()] for group in groups
        ]
        order = sorted(
            range(len(groups)),
            key=lambda g: (len(set(labels[g])) == 1, -len(groups[g]), groups[g][0]),
        )[:GROUPS]
        shown = []
        for g in order:
            positions = groups[g].tolist()
            text = cut(str(self.columns.texts[positions[0]]), CHARS)
            shown.append(NearGroup(text, [self.number(i) for i in positions], labels[g]))
        return shown


def _measured(rows: _Rows, **own: Any) -> SelectionPage:
    """Return a page with counts, curves and thresholds; ``own`` are its other fields."""
    selection, columns, confidence = rows.selection, rows.columns, rows.confidence
    judged, timed = columns.judged, bool(np.isfinite(selection.learnt_at).any())
    threshold = own_threshold(confidence, selection.mask, timed=timed)
    return SelectionPage(
        n_rows=len(selection.mask),
        n_kept=len(selection.kept),
        classes=_classes(selection, columns),
        learnt=learnt_bins(selection.learnt_at, selection.mask),
        thresholds=threshold_rows(confidence, judged, columns.wrong, threshold),
        curves=_curves(confidence, columns),
        confused=_confused(selection.mask, columns),
        n_judged=int(judged.sum()),
        n_judged_kept=int((judged & selection.mask).sum()),
        noise_before=_share(columns.wrong, judged),
        noise_after=_share(columns.wrong, judged & selection.mask),
        own_threshold=threshold,
        **own,
    )


def _with_all_rejected(
    page: SelectionPage, rows: _Rows, at: np.ndarray, max_chars: int
) -> SelectionPage:
    """Return the page with the rejected rows that are not at the listed positions, packed."""
    mask, order = rows.selection.mask, rows.least_trusted()
    rest = order[~mask[order] & ~np.isin(order, at)]
    chars, codes = min(max_chars, CHARS), page.codes
    more, n_more = packed(
        for_script(vars(row), codes)
        for part in np.array_split(rest[:MOST], max(1, len(rest[:MOST]) // PART))
        for row in rows.suspects(part, chars)
    )
    return replace(page, more=more, n_more=n_more, n_unlisted=len(rest) - n_more)


def noise_curve(name: str, confidence: Any, labels: Any, gold: Any) -> Curve:
    """Return the noise-coverage curve of a confidence, thinned for a page.

    Arguments and errors as of :func:`lops_adapters.evaluation.noise_coverage_curve`.

    >>> noise_curve("margin", [0.9, 0.5], [0, 1], [0, 0])
    Curve(name='margin', coverage=[0.5, 1.0], noise=[0.0, 0.5], area=0.125)
    """
    curve = noise_coverage_curve(confidence, labels, gold)
    at = thinned(len(curve), POINTS)
    area = number_or_none(area_under_noise_coverage(curve))
    return Curve(name, curve.coverage[at].tolist(), curve.noise[at].tolist(), area)


def best_curve(noise: float) -> Curve:
    """Return the curve of a perfect ranking where a share ``noise`` of the labels is wrong."""
    coverage = np.linspace(0, 1, POINTS + 1)[1:]
    best = ideal_curve(coverage, 1.0 - noise)
    area = float(np.sum(np.diff(coverage) * (best[1:] + best[:-1]) / 2))
    return Curve(BEST, coverage.tolist(), best.tolist(), area)


def _curves(confidence: np.ndarray, columns: Columns) -> list[Curve]:
    if columns.wrong is None:
        return []
    wrong = columns.wrong[columns.judged].astype(np.int64)
    return [
        noise_curve("by confidence", confidence[columns.judged], wrong, np.zeros_like(wrong)),
        best_curve(float(wrong.mean())),
    ]


def _confused(mask: np.ndarray, columns: Columns) -> list[tuple[str, str, int]]:
    """Return (label, suggested label, rejected rows), the most frequent first."""
    if columns.suggested is None:
        return []
    pairs = Counter(
        (cleaned(str(columns.labels[i])), text_or_none(columns.suggested[i]))
        for i in np.flatnonzero(~mask).tolist()
    )
    rows = [(label, said, n) for (label, said), n in pairs.items() if said is not None]
    return sorted(rows, key=lambda row: (-row[2], row[0]))


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
    """Return the noise per class among rows with a gold label; None for a class without any."""
    if columns.wrong is None:
        return [None] * n_classes
    every = np.bincount(columns.codes[rows], minlength=n_classes)
    errors = np.bincount(columns.codes[rows], weights=columns.wrong[rows], minlength=n_classes)
    counts = zip(errors.tolist(), every.tolist(), strict=True)
    return [bad / of if of else None for bad, of in counts]


def _share(wrong: np.ndarray | None, rows: np.ndarray) -> float | None:
    return None if wrong is None or not rows.any() else float(wrong[rows].mean())
