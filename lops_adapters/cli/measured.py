"""What ``lops compare`` measures of a method, and the table that it prints."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lops_adapters import extras
from lops_adapters.console import aligned, percent
from lops_adapters.core import Selection
from lops_adapters.evaluation import (
    Detection,
    area_under_noise_coverage,
    detection,
    noise,
    noise_coverage_curve,
    noise_of_best,
)
from lops_adapters.probes import Probe
from lops_adapters.selection import METHODS, build
from lops_adapters.tables.sample import Sample

if TYPE_CHECKING:
    from lops_adapters.report.contents import ComparisonPage

FOUND = ("precision", "recall", "auroc", "average_precision")
LATE = 0.05  # the area of a curve that begins at a larger coverage is not comparable


class Result(NamedTuple):
    """A selection and its measurement by gold labels.

    Attributes:
        noise: share of wrong labels among the kept rows.
        area: area under the noise-coverage curve; None where all rows have the same confidence.
        start: coverage at which the curve begins.
        found: how well wrong labels are found.
        seconds: time of the selection.
    """

    selection: Selection
    noise: float | None
    area: float | None
    start: float
    seconds: float
    found: Detection

    @property
    def is_late(self) -> bool:
        """Whether the curve begins too late for its area to be comparable."""
        return self.area is not None and self.start > LATE


def keep_of(name: str, keep: float | str) -> float | str | None:
    """Return the share to keep if the method takes one, else None."""
    return keep if METHODS[name].takes_keep else None


def run(
    name: str, probe: Probe, rows: Sample, keep: float | str, seed: int, options: Mapping[str, Any]
) -> Result:
    """Select with one method and measure; ``options`` are its own arguments."""
    selector = build(name, probe, keep=keep_of(name, keep), seed=seed, **options)
    start = time.perf_counter()
    selection = selector(rows.texts, rows.labels)
    seconds = time.perf_counter() - start
    rows_with_gold, labels, gold = with_gold(rows)
    kept, confidence = selection.mask[rows_with_gold], selection.confidence[rows_with_gold]
    after = noise(labels[kept], gold[kept]) if kept.any() else None
    curve = noise_coverage_curve(confidence, labels, gold)
    area = area_under_noise_coverage(curve) if len(curve) > 1 else None
    detected = detection(confidence, kept, labels != gold)
    return Result(selection, after, area, float(curve.coverage[0]), seconds, detected)


def with_gold(rows: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of the rows with a gold label, their pseudo-labels and gold labels."""
    gold = np.array(rows.gold, dtype=object)
    positions = np.flatnonzero([label is not None for label in gold])
    return positions, np.array(rows.labels, dtype=object)[positions], gold[positions]


def comparison(
    rows: Sample,
    results: dict[str, list[Result]],
    title: str,
    source: str,
    settings: dict[str, Any],
) -> ComparisonPage:
    """Return what the page shows: means over the seeds, and the curves of the first seed."""
    from lops_adapters.report.contents import ComparisonPage, MethodRow
    from lops_adapters.report.data import best_curve, noise_curve

    at, labels, gold = with_gold(rows)
    wrong = noise(labels, gold)
    methods, curves = [], [best_curve(wrong)]
    everything = [run for runs in results.values() for run in runs]
    equal = max(1, min(int(run.selection.mask[at].sum()) for run in everything))
    for name, runs in results.items():
        remark = METHODS[name].summary
        after = [run.noise for run in runs if run.noise is not None]
        if len(after) > 1:
            remark += f"; noise after ± {percent(stdev(after))} over {len(after)} seeds"
        if runs[0].is_late:
            remark += f"; many ties: its curve begins at coverage {percent(runs[0].start)}, "
            remark += "so its area is not comparable"
        best = [noise_of_best(run.selection.confidence[at], labels != gold, equal) for run in runs]
        methods.append(
            MethodRow(
                name,
                round(fmean(len(run.selection.kept) for run in runs)),
                _mean(after),
                _mean([run.area for run in runs]),
                fmean(run.seconds for run in runs),
                remark,
                noise_equal=fmean(best),
                **{key: _mean([getattr(run.found, key) for run in runs]) for key in FOUND},
            )
        )
        if runs[0].area is not None:
            curves.append(noise_curve(name, runs[0].selection.confidence[at], labels, gold))
    return ComparisonPage(
        title, source, len(rows.texts), wrong, methods, curves, settings, extras.versions(), equal
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def text_table(page: ComparisonPage, late: Collection[str]) -> str:
    """Return the methods as aligned text with notes; methods in ``late`` get a star."""

    def number(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    equal = f"noise at {page.n_equal}"
    rows = [["method", "kept", "noise after", "precision", "recall", "AUROC", "AP", equal]]
    rows[0] += ["area", "seconds"]
    for m in page.methods:
        area = number(m.area, ".4f") + ("*" if m.name in late else "")
        cells = [percent(m.precision), percent(m.recall), number(m.auroc, ".3f")]
        cells += [number(m.average_precision, ".3f"), percent(m.noise_equal)]
        after = percent(m.noise_after)
        rows.append([m.name, str(m.n_kept), after, *cells, area, number(m.seconds, ".1f")])
    notes = [
        "precision: wrong labels among the rejected; recall: rejected among the wrong labels",
        "AUROC, AP (average precision): of ranking wrong labels first",
        f"{equal}: wrong labels among the {page.n_equal} most trusted, for rankings of all methods",
    ]
    if any(m.area is not None for m in page.methods):
        notes.append("area: under the noise-coverage curve; lower is better")
    if late:
        notes.append(
            "* many ties: the curve begins at a larger coverage, so the area is not comparable"
        )
    head = f"{page.n_rows} labels, {percent(page.noise)} wrong"
    return "\n".join([head, "", aligned(rows), *notes])
