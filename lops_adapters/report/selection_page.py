"""The page of a selection: what was kept and why, other thresholds, and rows to look at."""

import hashlib
import json
from collections import Counter
from functools import partial
from pathlib import Path
from re import sub
from typing import Any

from lops_adapters.console import percent
from lops_adapters.report import classes, suspects
from lops_adapters.report.charts import histogram, threshold_chart
from lops_adapters.report.contents import SelectionPage
from lops_adapters.report.data import for_script
from lops_adapters.report.layout import (
    card,
    details,
    document,
    headline,
    section,
    settings_section,
    table,
    tiles,
)
from lops_adapters.report.text import count, cut, isolated, share, threshold, visible
from lops_adapters.storage import write_text

_MEMBERS, _NEAR_CHARS = 20, 200  # rows of a group that are named, and characters of a text


def write_selection_page(path: Path, page: SelectionPage) -> Path:
    """Write the page of a selection as one HTML file into an existing folder; return its path."""
    totals = page.counts
    thresholds, places = _thresholds(page)
    cards = thresholds + _learnt(page)
    parts = [
        suspects.checked(page),
        _figures(page),
        classes.per_class(page),
        classes.source_section(page),
        section("charts", "Confidence", f'<div class="charts">{cards}</div>') if cards else "",
        suspects.listed(page),
        _near(page),
        _why(page),
        settings_section(page.settings, page.versions),
    ]
    rows, n = count(totals.n_rows), totals.n_kept
    sentence = f"{count(totals.n_rows - n)} of {rows} labels are probably wrong"
    if not page.estimate:
        sentence = f"Kept {count(n)} of {rows} rows ({share(n, totals.n_rows)})"
    header = headline(page.title, sentence, page.source)
    main = "\n".join(filter(None, parts))
    data = _data(page, places)
    write_text(path, document(f"{sentence}: {page.title}", header, main, data=data))
    return path


def _data(page: SelectionPage, places: list[list[float]]) -> dict[str, Any]:
    totals = page.counts
    stored, codes = page.to_json(), totals.codes
    rows = [for_script(row, codes) for row in stored["suspects"]]
    # A name for the corrections of this selection in the browser's storage.
    listed = [
        (row["position"], row["row"], row["label"], row["text"]) for row in stored["suspects"]
    ]
    about = json.dumps([page.source, stored["table"].get("sha256"), totals.n_rows, listed])
    key = f"lops-corrections-{hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]}"
    return {
        "rows": totals.n_rows,
        "thresholds": stored["thresholds"],
        "places": places,
        "labels": [visible(label) for label in suspects.labels(page)],
        "columns": [*suspects.columns(page), suspects.CORRECTION],
        "classes": [{"label": label, "shown": visible(label)} for label in codes],
        "table": stored["table"],
        "key": key,
        "suggested": suspects.has(page, "suggested"),
        "learnt": bool(page.charts.learnt),
        "probability": page.charts.is_probability,
        "suspects": rows,
        "to_check": stored["to_check"],
        "more": page.rows.more,
        "listed": len(rows) + page.rows.n_more,
    }


def _figures(page: SelectionPage) -> str:
    totals = page.counts
    figures = [("rows kept", count(totals.n_kept))]
    figures.append(("rows rejected", count(totals.n_rows - totals.n_kept)))
    if totals.n_abstained:
        figures.append(("rows without a label", count(totals.n_abstained)))
    if page.estimate:
        rate, low, high = page.estimate
        how, caveat = "estimated", "; more if errors are shared"
        if page.n_checked:
            how, caveat = f"by {count(page.n_checked)} checked rows", ""
        figures.append(
            (
                f"wrong, {how} ({100 * low:.1f} to {percent(high)}{caveat})".replace(" %", "\xa0%"),
                percent(rate),
            )
        )
    if totals.noise_before is not None:
        before, after = "wrong by gold labels", "kept rows wrong by gold labels"
        if totals.n_gold < totals.n_rows:
            before = f"wrong among the {count(totals.n_gold)} with a gold label"
            after = f"wrong among the {count(totals.n_gold_kept)} of these kept"
        figures += [(before, percent(totals.noise_before)), (after, percent(totals.noise_after))]
    return tiles(figures)


def _why(page: SelectionPage) -> str:
    if not page.why:
        return ""
    marked = (sub("`([^`]+)`", r"<code>\1</code>", isolated(sentence)) for sentence in page.why)
    items = "".join(f"<li>{sentence}</li>" for sentence in marked)
    return section("why", "How the rows were selected", f'<ul class="why">{items}</ul>')


def _near(page: SelectionPage) -> str:
    near, n_near = page.rows.near, page.rows.n_near
    if not near:
        return ""
    rows = [
        [
            ", ".join(map(str, group.rows[:_MEMBERS]))
            + (f" and {count(len(group.rows) - _MEMBERS)} more" if group.rows[_MEMBERS:] else ""),
            ", ".join(f"{label} ({count(n)})" for label, n in Counter(group.labels).most_common(9)),
            cut(group.text, _NEAR_CHARS),
        ]
        for group in near
    ]
    torn = sum(len(set(group.labels)) > 1 for group in near)
    sentence = f"{count(n_near)} group{'' if n_near == 1 else 's'} of nearly equal texts"
    sentence += f"; groups with several labels first ({count(torn)})" if torn else ""
    shown = f", {count(len(near))} of them here" if len(near) < n_near else ""
    drawn = table(("rows", "labels", "text"), rows, "Near-duplicates", text=(1, 2), stacked=True)
    folded = details("Groups", drawn)
    note = "Near-duplicates confirm each other's labels."
    note += " All are in duplicates.csv." if page.table else ""
    return section("near", "Near-duplicates", f"<p>{sentence}{shown}. {note}</p>", folded)


def _thresholds(page: SelectionPage) -> tuple[str, list[list[float]]]:
    charts = page.charts
    totals = page.counts
    if len(charts.thresholds) < 2:
        return "", []
    shown = partial(threshold, is_probability=charts.is_probability)
    chart, places = threshold_chart(charts.thresholds, totals.n_kept, percent=charts.is_probability)
    values, last = [value for value, *_ in charts.thresholds], len(charts.thresholds) - 1
    if charts.own_threshold is not None:
        start = values.index(charts.own_threshold)
    else:  # the one that keeps nearly as many rows
        start = min(range(len(values)), key=lambda i: abs(charts.thresholds[i][1] - totals.n_kept))
    slider = (
        '<div class="slider" data-live hidden>'
        '<label for="threshold">Threshold: keep all (left) to strict (right)</label>'
        f'<input type="range" id="threshold" min="0" max="{last}" value="{last - start}">'
        '<output id="threshold-says" for="threshold"></output></div>'
    )
    if charts.own_threshold is None:
        note = "The selection cuts per class or breaks ties: no single threshold keeps exactly its"
        note += f" {count(totals.n_kept)} rows."
    else:
        note = f"One threshold for all classes. The selection's is {shown(charts.own_threshold)}."
    rows = []
    for value, n, with_gold, wrong in charts.thresholds:
        rows.append([shown(value), count(n), share(n, totals.n_rows)])
        if wrong is not None:
            rows[-1] += [
                count(with_gold),
                count(wrong),
                percent(wrong / with_gold if with_gold else None),
            ]
    head = ["confidence", "rows", "share"]
    head += ["with a gold label", "wrong", "share wrong"] if totals.n_gold else []
    numbers = table(head, rows, "Rows at or above each confidence threshold")
    halves = f'<div>{chart}</div><div><p class="note">{note}</p>{slider}</div>'
    inside = f'<div class="halves">{halves}</div>'
    title = "What another threshold would keep"
    return card(title, inside, _ladder(page), details("Numbers of this chart", numbers)), places


def _ladder(page: SelectionPage) -> str:
    rows = [
        [f"--sure {sure:g}", count(rejected), count(round(right))]
        for sure, rejected, right in page.ladder
    ]
    head = ("option", "rejected", "expected right among these")
    return table(head, rows, "Rows that each threshold rejects") if rows else ""


def _learnt(page: SelectionPage) -> str:
    charts = page.charts
    if not charts.learnt:
        return ""
    rows = [
        ["never" if time is None else f"{time:.4g}", count(kept), count(rejected)]
        for time, kept, rejected in charts.learnt
    ]
    numbers = table(("learnt at", "kept", "rejected"), rows, "Rows by learning time")
    note = "Right labels tend to be learnt early, wrong ones late or never."
    chart = f'<p class="note">{note}</p>{histogram(charts.learnt)}'
    return card("When the probe learnt the rows", chart, details("Numbers of this chart", numbers))
