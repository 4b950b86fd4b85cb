"""The page of a comparison: several selection methods on the same rows."""

from pathlib import Path

import numpy as np

from lops_adapters.console import percent
from lops_adapters.report.charts import curve_chart
from lops_adapters.report.contents import BEST, ComparisonPage
from lops_adapters.report.layout import (
    details,
    document,
    headline,
    section,
    settings_section,
    table,
)
from lops_adapters.report.text import count, share
from lops_adapters.storage import write_text

_COVERAGES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def write_comparison_page(path: Path, page: ComparisonPage) -> Path:
    """Write the page of a comparison as one HTML file into an existing folder; return its path."""
    sentence = _sentence(page)
    parts = [_methods(page), _curves(page), settings_section(page.settings, page.versions)]
    header = headline(page.title, sentence, page.source)
    write_text(path, document(f"{sentence}: {page.title}", header, "\n".join(filter(None, parts))))
    return path


def _sentence(page: ComparisonPage) -> str:
    number = f"{len(page.methods)} method{'' if len(page.methods) == 1 else 's'}"
    methods = f"{number} on {count(page.n_rows)} rows"
    return methods if page.noise is None else f"{methods}, {percent(page.noise)} wrong"


def _methods(page: ComparisonPage) -> str:
    head = ["method", "kept", "share kept", "wrong after", "area", "seconds", "note"]
    rows = [
        [
            row.name,
            count(row.n_kept),
            share(row.n_kept, page.n_rows),
            percent(row.noise_after),
            "-" if row.area is None else f"{row.area:.4f}",
            "-" if row.seconds is None else f"{row.seconds:.1f}",
            row.note,
        ]
        for row in page.methods
    ]
    if not any(row.note for row in page.methods):
        head, rows = head[:-1], [row[:-1] for row in rows]
    note = (
        '<p class="note">Area under the noise-coverage curve; lower is better. It begins at the '
        "smallest coverage that a method can tell apart, so compare areas only between curves that "
        "begin alike.</p>"
    )
    drawn = table(head, rows, "Methods of the comparison", text=(6,), stacked=True)
    return section("methods", "Methods", drawn, note, _found(page))


def _found(page: ComparisonPage) -> str:
    """Return the table of how well wrong labels are found; nothing where it was not measured."""
    if page.n_equal is None:
        return ""
    equal = f"wrong among the {count(page.n_equal)} most trusted"
    head = ["method", "precision", "recall", "AUROC", "average precision", equal]
    rows = [
        [
            row.name,
            percent(row.precision),
            percent(row.recall),
            *("-" if v is None else f"{v:.3f}" for v in (row.auroc, row.average_precision)),
            percent(row.noise_equal),
        ]
        for row in page.methods
    ]
    note = (
        '<p class="note">Wrong labels found. Precision: wrong among the rejected rows. Recall: '
        "rejected among the wrong labels. AUROC and average precision: of the ranking, the least "
        "trusted first. Last column: rankings compared at equal numbers of kept rows.</p>"
    )
    return (
        f"<h3>Wrong labels found</h3>{table(head, rows, 'Wrong labels found', stacked=True)}{note}"
    )


def _curves(page: ComparisonPage) -> str:
    if not page.curves:
        return ""
    names = {curve.name for curve in page.curves}
    kept = [
        (row.name, row.n_kept / page.n_rows, row.noise_after)
        for row in page.methods
        if row.noise_after is not None and row.name in names
    ]
    note = (
        '<p class="note">Wrong pseudo-labels among the rows kept. Lower is better; the '
        f"{BEST} curve is the bound for any ranking. Dots: the rows that each method keeps.</p>"
    )
    head = ["method", *(f"{100 * coverage:.0f} %" for coverage in _COVERAGES)]
    rows = [
        [curve.name, *(_noise_at(curve.coverage, curve.noise, coverage) for coverage in _COVERAGES)]
        for curve in page.curves
    ]
    numbers = table(head, rows, "Share of wrong pseudo-labels at some coverages")
    folded = details("Numbers of this chart", numbers)
    drawn = f'<div class="card single">{note}{curve_chart(page.curves, kept)}{folded}</div>'
    return section("curves", "Noise against coverage", drawn)


def _noise_at(coverage: list[float], noise: list[float], target: float) -> str:
    """Return the noise of a curve at a coverage; ``-`` before its first point."""
    if target < coverage[0] - 1e-9:
        return "-"
    return percent(float(np.interp(target, coverage, noise)))
