"""The tables of classes, of suggestions for rejected rows, and of label sources."""

from collections.abc import Sequence

from lops_adapters.console import percent
from lops_adapters.report.contents import SelectionPage, SourceReport
from lops_adapters.report.layout import Markup, section, table
from lops_adapters.report.text import count, isolated, share

_MOST, _PAIRS, _SHADES = 10, 12, 4  # classes of a matrix, pairs of a list, shades of a cell
HEAD = ["source", "votes", "share of rows", "right (estimate)", "most frequent error", "changes"]


def per_class(page: SelectionPage) -> str:
    """Return the section of the classes: kept rows, and suggestions for the rejected ones."""
    totals = page.counts
    gold, reasons = totals.noise_before is not None, {row.why for row in totals.classes}
    head = ["class", "rows", "kept", "share kept", *page.wrong[:1]]
    head += ["wrong before", "wrong after"] if gold else []
    head += ["why"] if len(reasons) > 1 else []
    rows = []
    for i, row in enumerate(totals.classes, 1):
        noise = [percent(row.noise_before), percent(row.noise_after)] if gold else []
        width = round(72 * row.kept / row.count, 1) if row.count else 0
        bar = Markup(
            f'<span class="share">{share(row.kept, row.count)}'
            '<svg width="72" height="8" aria-hidden="true">'
            '<rect class="ground" width="72" height="8" rx="4"/>'
            f'<rect class="part" width="{width}" height="8" rx="4"/></svg></span>'
        )
        cells = [row.label, count(row.count), count(row.kept), bar]
        cells += [*page.wrong[i : i + 1], *noise, row.why]
        rows.append(cells[: len(head)])
    words = (head.index("why"),) if "why" in head else ()
    drawn = table(head, rows, "Kept rows per class", text=words, stacked=True)
    same = ""
    if len(reasons) == 1:
        same = f'<p class="note">Reason in every class: {isolated(*reasons)}.</p>'
    return section("classes", "Per class", drawn, same, _confused(page))


def _confused(page: SelectionPage) -> str:
    """Return the suggestions for rejected rows: a matrix, or the most frequent of many classes."""
    if not page.counts.confused:
        return ""
    matrix = len(page.counts.codes) <= _MOST
    drawn = _matrix(page) if matrix else _pairs(page)
    note = "Rows: the label. Columns: the suggested label. " if matrix else ""
    note += "Unsure: no other label is more probable."
    title = "<h3>Suggested labels of the rejected rows</h3>"
    return f'{title}{drawn}<p class="note">{note}</p>'


def _matrix(page: SelectionPage) -> str:
    names = list(page.counts.codes)
    counts = {(label, other): n for label, other, n in page.counts.confused}
    most = max(counts.values())
    rows = []
    for label in names:
        suggested = [0 if other == label else counts.get((label, other), 0) for other in names]
        rows.append([label, *(_cell(n, most) for n in suggested)])
        rows[-1].append(_cell(counts.get((label, label), 0), most))
    drawn = table(["label", *names, "unsure"], rows, "Suggested labels per label")
    return f'<div class="matrix">{drawn}</div>'


def _cell(number: int, most: int) -> Markup:
    if not number:
        return Markup("")
    return Markup(f'<span class="shade{-(-_SHADES * number // most)}">{count(number)}</span>')


def _pairs(page: SelectionPage) -> str:
    rows = [
        [label, "unsure" if other == label else other, count(n)]
        for label, other, n in page.counts.confused[:_PAIRS]
    ]
    return table(
        ["label", "suggested", "rejected rows"], rows, "Most frequent suggestions", text=(1,)
    )


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


def by_accuracy(sources: Sequence[SourceReport]) -> list[SourceReport]:
    """Return sources, the least accurate first; sources without votes last."""

    def key(one: SourceReport) -> tuple[bool, float, str]:
        return not one.votes, one.accuracy if one.votes else 0.0, one.name

    return sorted(sources, key=key)


def source_section(page: SelectionPage) -> str:
    """Return the section of the label sources; nothing if each row has one label."""
    if not page.sources:
        return ""
    rows = [source_cells(row) for row in by_accuracy(page.sources)]
    drawn = table(HEAD, rows, "Label sources, the least accurate first", text=(4,), stacked=True)
    note = isolated(
        "Right: estimated from the members and the other sources; the range holds the truth for "
        "about 80 % of the sources. "
        "Changes: rows that get another label, or none, without the source."
    )
    return section("sources", "Label sources", drawn, f'<p class="note">{note}</p>')
