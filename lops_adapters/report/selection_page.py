"""The page of a selection: what was kept and why, what another threshold would keep, and which rows
to look at.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lops_adapters.console import percent
from lops_adapters.report.charts import curve_chart, histogram, threshold_chart
from lops_adapters.report.data import SelectionPage, Suspect
from lops_adapters.report.layout import (
    Markup,
    details,
    document,
    headline,
    section,
    settings_section,
    table,
)
from lops_adapters.report.text import count, cut, escaped, isolated, share, visible
from lops_adapters.storage import write_text

_STATIC_ROWS, _STATIC_CHARS = 200, 300  # of the list that is shown where scripts are off


def write_selection_page(path: Path, page: SelectionPage) -> Path:
    """Write the page of a selection as one HTML file and return its path.

    Args:
        path: of the file; its folder exists.
        page: what to show.

    """
    thresholds, places = _thresholds(page)
    parts = [
        _figures(page),
        _why(page),
        _classes(page),
        _charts(page, thresholds),
        _suspects(page),
        settings_section(page.settings, page.versions),
    ]
    sentence = f"Kept {count(page.n_kept)} of {count(page.n_rows)} rows ({share(page.n_kept, page.n_rows)})"
    header = headline(page.title, sentence, page.source)
    write_text(
        path,
        document(
            f"{sentence}: {page.title}",
            header,
            "\n".join(filter(None, parts)),
            data=_data(page, places),
        ),
    )
    return path


def _data(page: SelectionPage, places: list[list[float]]) -> dict[str, Any]:
    stored = page.to_json()
    suspects = [
        {key: visible(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in stored["suspects"]
    ]
    return {
        "rows": page.n_rows,
        "thresholds": stored["thresholds"],
        "places": places,
        "labels": [visible(label) for label in _labels(page)],
        "columns": _columns(page),
        "suggested": _has(page, "suggested"),
        "learnt": bool(page.learnt),
        "suspects": suspects,
    }


def _figures(page: SelectionPage) -> str:
    figures = [
        ("rows kept", count(page.n_kept)),
        ("rows rejected", count(page.n_rows - page.n_kept)),
    ]
    if page.noise_before is not None:
        before, after = "wrong among all rows", "wrong among the kept"
        if page.n_judged < page.n_rows:
            before = f"wrong among the {count(page.n_judged)} with a gold label"
            after = f"wrong among the {count(page.n_judged_kept)} of these kept"
        figures += [(before, percent(page.noise_before)), (after, percent(page.noise_after))]
    items = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures)
    return f'<dl class="tiles">{items}</dl>'


def _why(page: SelectionPage) -> str:
    items = "".join(f"<li>{isolated(sentence)}</li>" for sentence in page.why)
    return section("why", "How this came about", f'<ul class="why">{items}</ul>') if items else ""


def _classes(page: SelectionPage) -> str:
    gold, reasons = page.noise_before is not None, {row.why for row in page.classes}
    head = [
        "class",
        "rows",
        "kept",
        "share kept",
        *(["wrong before", "wrong after"] if gold else []),
        *(["why"] if len(reasons) > 1 else []),
    ]
    rows = []
    for row in page.classes:
        noise = [percent(row.noise_before), percent(row.noise_after)] if gold else []
        rows.append(
            [
                row.label,
                count(row.count),
                count(row.kept),
                _bar(row.kept, row.count),
                *noise,
                row.why,
            ][: len(head)]
        )
    drawn = table(
        head,
        rows,
        "What was kept of each class",
        text=(head.index("why"),) if "why" in head else (),
        stacked=True,
    )
    same = (
        ""
        if len(reasons) > 1
        else f'<p class="note">Why, in every class: {isolated(*reasons)}.</p>'
    )
    return section("classes", "By class", drawn, same)


def _bar(part: int, whole: int) -> Markup:
    width = round(72 * part / whole, 1) if whole else 0
    drawn = f'<rect class="ground" width="72" height="8" rx="4"/><rect class="part" width="{width}" height="8" rx="4"/>'
    return Markup(
        f'<span class="share">{share(part, whole)}<svg width="72" height="8" aria-hidden="true">{drawn}</svg></span>'
    )


def _thresholds(page: SelectionPage) -> tuple[str, list[list[float]]]:
    """The card with the slider, and where its markers go; nothing where one threshold is all there
    is.
    """
    if len(page.thresholds) < 2:
        return "", []
    chart, places = threshold_chart(page.thresholds, page.n_kept)
    last = len(page.thresholds) - 1
    start = last - _start(page)
    slider = (
        '<div class="slider" data-live hidden><label for="threshold">Try another: everything on the left, strict on the right</label>'
        f'<input type="range" id="threshold" min="0" max="{last}" value="{start}">'
        '<output id="threshold-says" for="threshold"></output></div>'
    )
    rows = [
        [f"{value:.4g}", count(n), share(n, page.n_rows), *_wrong(judged, wrong)]
        for value, n, judged, wrong in page.thresholds
    ]
    head = [
        "confidence",
        "rows",
        "share",
        *(["with a gold label", "wrong", "share wrong"] if page.n_judged else []),
    ]
    note = "The selection decides class by class, or among rows of equal confidence:"
    note += f" no one threshold keeps just its {count(page.n_kept)} rows, so its numbers differ."
    if page.own_threshold is not None:
        note = f"One threshold for all classes. That of the selection is {page.own_threshold:.3g}."
    numbers = details(
        "Numbers of this chart", table(head, rows, "What each confidence threshold would keep")
    )
    inside = f'<div class="halves"><div>{chart}</div><div><p class="note">{note}</p>{slider}</div></div>{numbers}'
    return _card("What another threshold would keep", inside), places


def _start(page: SelectionPage) -> int:
    """The place of the threshold that keeps what the selection does, or else as many rows as
    possible as it does.
    """
    values = [value for value, _, _, _ in page.thresholds]
    if page.own_threshold is not None:
        return values.index(page.own_threshold)
    return min(range(len(values)), key=lambda i: abs(page.thresholds[i][1] - page.n_kept))


def _wrong(judged: int, wrong: int | None) -> list[str]:
    return (
        []
        if wrong is None
        else [count(judged), count(wrong), percent(wrong / judged if judged else None)]
    )


def _charts(page: SelectionPage, thresholds: str) -> str:
    cards = [thresholds] if thresholds else []
    if page.learnt:
        rows = [
            ["never" if time is None else f"{time:.4g}", count(kept), count(rejected)]
            for time, kept, rejected in page.learnt
        ]
        numbers = details(
            "Numbers of this chart",
            table(("learnt after", "kept", "rejected"), rows, "Rows by the time they were learnt"),
        )
        note = '<p class="note">Clean pseudo-labels tend to be learnt early, wrong ones late or never.</p>'
        cards.append(
            _card("When the probe learnt the rows", note + histogram(page.learnt) + numbers)
        )
    if page.curves:
        kept = (
            []
            if page.noise_after is None
            else [(page.curves[0].name, page.n_judged_kept / page.n_judged, page.noise_after)]
        )
        only = (
            ""
            if page.n_judged == page.n_rows
            else f" Of the {count(page.n_judged)} rows that have one."
        )
        note = f"Lower is better. The gold labels were used for this chart and the shares of wrong ones only.{only}"
        cards.append(
            _card(
                "Noise against coverage",
                f'<p class="note">{note}</p>{curve_chart(page.curves, kept)}',
            )
        )
    return (
        section("charts", "Confidence", f'<div class="charts">{"".join(cards)}</div>')
        if cards
        else ""
    )


def _card(title: str, inside: str) -> str:
    return f'<div class="card"><h3>{escaped(title)}</h3>{inside}</div>'


def _labels(page: SelectionPage) -> list[str]:
    listed = {row.label for row in page.suspects}
    return [row.label for row in page.classes if row.label in listed]


def _has(page: SelectionPage, name: str) -> bool:
    return any(getattr(row, name) is not None for row in page.suspects)


def _columns(page: SelectionPage) -> list[str]:
    suggested = ["probe says"] if _has(page, "suggested") else []
    return [
        "row",
        "text",
        "pseudo-label",
        *suggested,
        "confidence",
        *(["learnt at"] if page.learnt else []),
        "state",
    ]


def _suspects(page: SelectionPage) -> str:
    if not page.suspects:
        return ""
    intro = f"The least trusted rows of each class, {count(len(page.suspects))} in all: the place to look for wrong labels."
    named = (
        "Rows are named by their ids; in the CSV, row"
        if any(row.id is not None for row in page.suspects)
        else "Row"
    )
    counted = f"{named} 1 is the first that has a pseudo-label, headings not counted."
    said = f'<p>{escaped(intro)}</p><p class="note">{counted}</p>'
    words = {"row", "text", "pseudo-label", "probe says"}
    head = "".join(
        f'<th scope="col" role="columnheader"{_words(name in words)}>{name}</th>'
        for name in _columns(page)
    )
    live = (
        f"<div data-live hidden>{_controls(page)}"
        '<div class="bar"><span role="status" id="rows-status"></span>'
        '<button type="button" id="download">Download these as CSV</button></div>'
        '<table id="rows" role="table" aria-labelledby="suspects">'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup"></tbody></table>'
        '<div class="bar"><button type="button" id="previous">Previous</button><button type="button" id="next">Next</button></div></div>'
    )
    return section(
        "suspects", "Rows to look at", said, live, f"<noscript>{_static(page)}</noscript>"
    )


def _words(yes: bool) -> str:
    return ' class="words"' if yes else ""


def _controls(page: SelectionPage) -> str:
    labels = "".join(
        f'<option value="{i}">{escaped(label)}</option>' for i, label in enumerate(_labels(page))
    )
    certain = (
        '<option value="probe">probe disagrees most</option>' if _has(page, "suggested") else ""
    )
    return (
        '<div class="controls"><label>Search<input type="search" id="search" autocomplete="off" spellcheck="false"></label>'
        f'<label>Pseudo-label<select id="label"><option value="">all</option>{labels}</select></label>'
        '<label>State<select id="state"><option value="">all</option>'
        '<option value="rejected">rejected</option><option value="kept">kept</option></select></label>'
        f'<label>Order<select id="order"><option value="">least trusted first</option>{certain}'
        '<option value="position">as in the data</option></select></label></div>'
    )


def _static(page: SelectionPage) -> str:
    """The list where scripts are off: of each class the least trusted rows."""
    labels = _labels(page)
    each = max(1, min(20, _STATIC_ROWS // len(labels)))
    parts = []
    for label in labels[:_STATIC_ROWS]:
        rows = [_static_row(row, page) for row in page.suspects if row.label == label][:each]
        head = [name for name in _columns(page) if name != "pseudo-label"]
        words = [i for i, name in enumerate(head) if name in ("text", "probe says")]
        parts.append(
            f"<h3>{isolated(label)}</h3>"
            + table(head, rows, f"Least trusted rows with the pseudo-label {label}", text=words)
        )
    return "".join(parts)


def _static_row(row: Suspect, page: SelectionPage) -> list[str]:
    learnt = (
        [] if not page.learnt else ["never" if row.learnt_at is None else f"{row.learnt_at:.3g}"]
    )
    suggested = [row.suggested or "-"] if _has(page, "suggested") else []
    name = str(row.position + 1) if row.id is None else row.id
    return [
        name,
        cut(row.text, _STATIC_CHARS),
        *suggested,
        f"{row.confidence:.3g}",
        *learnt,
        "kept" if row.selected else "rejected",
    ]
