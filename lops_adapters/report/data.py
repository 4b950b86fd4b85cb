"""What the page of a selection shows, collected from the selection and the columns of its rows."""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.report.contents import Charts, Listed, SelectionPage, SourceReport
from lops_adapters.report.measure import learnt_bins, own_threshold, threshold_rows
from lops_adapters.report.rows import CHARS, LISTED, LONGEST, PageRows
from lops_adapters.report.text import visible
from lops_adapters.report.totals import Totals

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
    why: list[str] | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
    versions: Mapping[str, Any] = MappingProxyType({}),
    table: Mapping[str, str] = MappingProxyType({}),
    sources: Sequence[SourceReport] = (),
    estimate: Sequence[float] = (),
    wrong: Sequence[str] = (),
    n_checked: int = 0,
    is_probability: bool = False,
    totals: Totals | int = 0,
    near: Sequence[np.ndarray] = (),
    to_check: Sequence[int] = (),
    suspects_per_class: int = 100,
    **columns: Any,
) -> SelectionPage:
    """Return what the page of a selection shows; fields are as in the page.

    The least trusted rows are listed, as many as there are wrong labels at most, and some of each
    class, 2,000 in all; and then the other rejected rows, packed, as
    many as fit. Long texts are cut.

    Args:
        why: default: the rule and why training stopped.
        totals: counts of a whole table of which these rows are a sample; or how many rows have no
            label.
        near: groups of positions of rows with nearly the same text.
        to_check: positions of rows that a person checks, in their order; they are also listed.
        suspects_per_class: how many of the least trusted rows are listed first.
        columns: suggested, suggested_probability, gold, ids, numbers and keys of
            :class:`~lops_adapters.report.rows.PageRows`, n entries each.

    LopsError: a NaN confidence, gold labels that cannot be compared or are all missing.
    """
    rows, to_check = PageRows(selection, texts, labels, **columns), to_check[:LISTED]
    most_wrong = int(estimate[-1] * len(rows.codes)) if estimate else 0
    places = rows.listed(suspects_per_class, to_check, most_wrong)
    totals = rows.totals(totals) if isinstance(totals, int) else totals
    timed = bool(np.isfinite(selection.learnt_at).any())
    threshold = own_threshold(rows.confidence, selection.mask, timed=timed)
    thresholds = threshold_rows(rows.confidence, rows.with_gold, rows.wrong, threshold)
    learnt = learnt_bins(selection.learnt_at, selection.mask)
    counts = totals.counts(rows.reports())
    more, n_more, n_rest = _further(rows, places, counts.codes)
    return SelectionPage(
        title=title,
        source=source,
        why=why or [f"Method: {selection.rule}.", f"Training: {selection.stopped}."],
        settings=dict(settings),
        versions=dict(versions),
        table=dict(table),
        counts=counts,
        charts=Charts(learnt, thresholds, threshold, is_probability),
        rows=Listed(
            list(rows.suspects(places, LONGEST)),
            more,
            n_more,
            n_rest - n_more,
            [rows.number(i) for i in to_check],
            rows.near(near),
            len(near),
        ),
        sources=sources,
        estimate=estimate,
        wrong=wrong,
        ladder=totals.ladder if estimate else [],
        n_checked=n_checked,
    )


def _further(
    rows: PageRows, places: np.ndarray, codes: Mapping[str, int]
) -> tuple[list[str], int, int]:
    rest = rows.order[~rows.selection.mask[rows.order] & ~np.isin(rows.order, places)]
    packed_rows, n_more = packed(
        for_script(vars(row), codes)
        for part in np.array_split(rest[:MOST], max(1, len(rest[:MOST]) // PART))
        for row in rows.suspects(part, CHARS)
    )
    return packed_rows, n_more, len(rest)


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
