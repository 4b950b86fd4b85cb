"""The card of the label sources: how often each is right, and what it changes."""

from __future__ import annotations

from typing import Any

from lops_adapters.console import percent
from lops_adapters.report.contents import SelectionPage, SourceRow
from lops_adapters.report.layout import section, table
from lops_adapters.report.text import count, isolated, visible

HEAD = ["source", "votes", "share of rows", "right (estimate)", "most frequent error", "changes"]


def source_row(report: Any) -> SourceRow:
    """Return the row of a :class:`lops_adapters.texts.votes.SourceReport`."""
    error = ""
    if report.error is not None:
        voted, true, part = report.error
        error = f"{voted} for {true}, {percent(part)} of its votes"
    return SourceRow(
        report.name,
        report.votes,
        report.coverage,
        report.accuracy if report.votes else None,
        report.low,
        report.high,
        error,
        report.alone,
        report.changed,
    )


def source_cells(row: SourceRow) -> list[str]:
    """Return the cells of a source under ``HEAD``."""
    right = "no votes"
    if row.accuracy is not None:
        right = f"{percent(row.accuracy)} ({percent(row.low)} to {percent(row.high)})"
    votes, changed = count(row.votes), count(row.changed)
    return [row.name, votes, percent(row.coverage), right, row.error, changed]


def by_accuracy(page: SelectionPage) -> list[SourceRow]:
    """Return the sources of a page, the least accurate first; sources without votes last."""
    return sorted(page.sources, key=lambda row: (row.accuracy is None, row.accuracy or 0, row.name))


def source_section(page: SelectionPage) -> str:
    """Return the section of the label sources; nothing if each row has one label."""
    if not page.sources:
        return ""
    rows = [[visible(cell) for cell in source_cells(row)] for row in by_accuracy(page)]
    drawn = table(HEAD, rows, "Label sources, the least accurate first", text=(4,), stacked=True)
    note = isolated(
        "Right: estimated from the members and the other sources; the 95 % interval does not hold "
        "errors that they share. "
        "Changes: rows that get another label, or none, without the source."
    )
    return section("sources", "Label sources", drawn, f'<p class="note">{note}</p>')
