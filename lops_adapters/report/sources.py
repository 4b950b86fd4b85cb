"""The card of the label sources: how often each is right, and what it changes."""

from lops_adapters.console import percent
from lops_adapters.report.contents import SelectionPage, SourceReport
from lops_adapters.report.layout import section, table
from lops_adapters.report.text import count, isolated, visible

HEAD = ["source", "votes", "share of rows", "right (estimate)", "most frequent error", "changes"]


def source_cells(row: SourceReport) -> list[str]:
    """Return the cells of a source under ``HEAD``."""
    right, error = "no votes", ""
    if row.votes:
        right = f"{percent(row.accuracy)} ({percent(row.low)} to {percent(row.high)})"
    if row.error is not None:
        voted, true, part = row.error
        error = f"{voted} for {true}, {percent(part)} of its votes"
    votes, changed = count(row.votes), count(row.changed)
    return [row.name, votes, percent(row.coverage), right, error, changed]


def by_accuracy(page: SelectionPage) -> list[SourceReport]:
    """Return the sources of a page, the least accurate first; sources without votes last."""

    def key(one: SourceReport) -> tuple[bool, float, str]:
        return not one.votes, one.accuracy if one.votes else 0.0, one.name

    return sorted(page.sources, key=key)


def source_section(page: SelectionPage) -> str:
    """Return the section of the label sources; nothing if each row has one label."""
    if not page.sources:
        return ""
    rows = [[visible(cell) for cell in source_cells(row)] for row in by_accuracy(page)]
    drawn = table(HEAD, rows, "Label sources, the least accurate first", text=(4,), stacked=True)
    note = isolated(
        "Right: estimated from the members and the other sources; the range holds the truth for "
        "about 80 % of the sources. "
        "Changes: rows that get another label, or none, without the source."
    )
    return section("sources", "Label sources", drawn, f'<p class="note">{note}</p>')
