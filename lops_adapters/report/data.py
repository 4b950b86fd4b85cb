"""What the page of a selection shows, collected from the selection and the columns of its rows."""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.formats.cells import valid_text
from lops_adapters.report.contents import SelectionPage, counted
from lops_adapters.report.measure import learnt_bins, own_threshold, threshold_rows
from lops_adapters.report.rows import CHARS, LISTED, LONGEST, PageRows
from lops_adapters.report.text import visible

PART = 5000  # further rows made at a time
LARGEST = 12 * 2**20  # characters in all; with all else, a page stays under 20 MB
MOST = 200_000  # rows
_ROWS = 2000  # of a part


def selection_page(
    selection: Selection,
    texts: Sequence[Any],
    labels: Any,
    *,
    title: str,
    source: str,
    suggested: Any = None,
    suggested_probability: Any = None,
    gold: Any = None,
    ids: Any = None,
    numbers: Sequence[int] | None = None,
    keys: Sequence[str] | None = None,
    why: list[str] | None = None,
    settings: dict[str, Any] | None = None,
    versions: dict[str, Any] | None = None,
    near: Sequence[np.ndarray] = (),
    to_check: Sequence[int] = (),
    suspects_per_class: int = 100,
) -> SelectionPage:
    """Collect what the page of a selection shows; further fields keep their defaults.

    The least trusted rows are listed, at most 2,000, and then the other rejected rows, packed, as
    many as fit. Long texts are cut. Columns have n entries; other fields are as in the page.

    Args:
        suggested, suggested_probability: labels that the probe prefers.
        gold: None, NaN or an empty text: missing.
        numbers: of the rows in their table, from 1; default: 1 to n.
        keys: what names the rows in corrections, if numbers do not.
        why: default: the rule and why training stopped.
        near: groups of positions of rows with nearly the same text.
        to_check: positions of rows that a person checks, in their order; they are also listed.
        suspects_per_class: how many of the least trusted rows are listed first.

    Raises:
        LopsError: no rows, different lengths, a label that is no class of the selection, a NaN
            confidence, gold labels that cannot be compared or are all missing, or unknown or
            repeated rows to check.
    """
    rows = PageRows(
        selection,
        texts,
        labels,
        suggested=suggested,
        suggested_probability=suggested_probability,
        gold=gold,
        ids=ids,
        numbers=numbers,
        keys=keys,
    )
    _check_positions(to_check, len(selection.mask))
    to_check = to_check[:LISTED]
    listed_rows = rows.listed(suspects_per_class, to_check)
    classes = [(valid_text(str(label)), one.why) for label, one in selection.per_class.items()]
    timed = bool(np.isfinite(selection.learnt_at).any())
    threshold = own_threshold(rows.confidence, selection.mask, timed=timed)
    page = SelectionPage(
        title=title,
        source=source,
        why=why or [f"Method: {selection.rule}.", f"Training: {selection.stopped}."],
        learnt=learnt_bins(selection.learnt_at, selection.mask),
        thresholds=threshold_rows(rows.confidence, rows.with_gold, rows.wrong, threshold),
        suspects=list(rows.suspects(listed_rows, LONGEST)),
        settings=settings or {},
        versions=versions or {},
        own_threshold=threshold,
        near=rows.near(near),
        n_near=len(near),
        to_check=[rows.number(i) for i in to_check],
        strata=rows.strata,
        confused=rows.confused(),
        **counted(classes, *_counts(rows)),
    )
    return replace(page, **_further(rows, listed_rows, page.codes))


def _check_positions(to_check: Sequence[int], n: int) -> None:
    wrong = [i for i in to_check if not 0 <= i < n]
    if wrong:
        raise LopsError(
            f"to_check holds the position {wrong[0]}; wanted positions from 0 to {n - 1}"
        )
    if len(set(to_check)) < len(to_check):
        raise LopsError("to_check holds a position twice; give every row once")


def _further(rows: PageRows, listed_rows: np.ndarray, codes: Mapping[str, int]) -> dict[str, Any]:
    """Return the rejected rows that are not at the listed positions, packed."""
    rest = rows.order[~rows.selection.mask[rows.order] & ~np.isin(rows.order, listed_rows)]
    packed_rows, n_more = packed(
        for_script(vars(row), codes)
        for part in np.array_split(rest[:MOST], max(1, len(rest[:MOST]) // PART))
        for row in rows.suspects(part, CHARS)
    )
    return {"more": packed_rows, "n_more": n_more, "n_unlisted": len(rest) - n_more}


def _counts(rows: PageRows) -> list[np.ndarray]:
    """Return the counts that :func:`~lops_adapters.report.contents.counted` takes."""
    mask, with_gold = rows.selection.mask, rows.with_gold
    wrong = np.zeros_like(with_gold) if rows.wrong is None else rows.wrong
    parts = (np.ones_like(with_gold), mask, with_gold, wrong, with_gold & mask, wrong & mask)
    k = len(rows.selection.per_class)
    return [np.bincount(rows.codes[part], minlength=k) for part in parts]


def packed(rows: Iterable[Mapping[str, Any]], largest: int = LARGEST) -> tuple[list[str], int]:
    """Return rows in parts, each base64 of gzip of a JSON list, and how many rows they hold.

    The part that passes ``largest`` characters in all is left out, and those after it.
    """
    parts: list[str] = []
    waiting, size, number = iter(rows), 0, 0
    while part := list(islice(waiting, _ROWS)):
        text = json.dumps(part, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        press = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
        size += len(press)
        if size > largest:
            break
        parts.append(press)
        number += len(part)
    return parts, number


def for_script(row: Mapping[str, Any], codes: Mapping[str, int]) -> dict[str, Any]:
    """Return a row as the page's script reads it.

    The row is a :class:`~lops_adapters.report.contents.Suspect` in JSON's own types; ``codes`` are
    the places of the labels among the classes.
    """
    return {
        **{
            name: visible(value) if isinstance(value, str) else value for name, value in row.items()
        },
        "code": codes.get(row["label"], -1),
        "suggested_code": codes.get(row["suggested"], -1),
    }
