"""``lops compare``: several selection methods on one table that has gold labels, too."""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lops_adapters import extras, storage
from lops_adapters.cli import files, outputs, standard_input, tables
from lops_adapters.cli import options as shared
from lops_adapters.cli.rows import Rows, Wanted, read_rows
from lops_adapters.console import aligned, percent, progress
from lops_adapters.core import LopsError, Selection
from lops_adapters.evaluation import area_under_noise_coverage, noise, noise_coverage_curve
from lops_adapters.probes import Probe
from lops_adapters.selection import METHODS, build
from lops_adapters.texts.choices import choose_probe, device_of
from lops_adapters.texts.copies import copies, sentences

if TYPE_CHECKING:
    from lops_adapters.report.contents import ComparisonPage

USUAL = (
    "standard",
    "automatic",
    "lops",
    "learning-order",
    "probability",
    "stability",
    "margin",
    "random",
)
LATE = 0.05  # the area of a curve that begins at a larger coverage is not comparable
KNOWN = tuple(name for name, method in METHODS.items() if not method.needs_gold)
EXAMPLES = """examples:
  lops compare checked.csv --text body --label weak --gold category
  lops compare checked.csv --text body --label weak --gold category --tau 0.8 --seeds 3
  lops compare checked.csv --text body --label weak --gold category --methods automatic,margin"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops compare``."""
    found = argparse.ArgumentParser(
        prog="lops compare",
        description="Compare selection methods by the wrong labels they keep. "
        "Gold labels are used only afterwards, to measure the result.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    data = shared.add_table(found)
    data.add_argument("--gold", required=True, metavar="COLUMN", help="column of true labels")
    choice = found.add_argument_group("selection")
    usual = ",".join(USUAL)
    choice.add_argument(
        "--methods",
        default=usual,
        metavar="NAMES",
        help=f"comma-separated list of {', '.join(KNOWN)} (default: {usual})",
    )
    shared.add_probe(choice)
    choice.add_argument(
        "--tau",
        type=shared.number,
        default=0.5,
        metavar="F",
        help="share to keep, for methods that take one (default: 0.5)",
    )
    choice.add_argument(
        "--seeds",
        type=int,
        default=1,
        metavar="N",
        help="number of seeds S, S+1, ... to average over (default: 1)",
    )
    out = found.add_argument_group("output")
    out.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder to write (default: ./FILE-comparison, by the first file's name)",
    )
    shared.add_run(out)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the methods, print their table and write the page."""
    options = parser().parse_args(arguments)
    shared.set_up()
    names = read_methods(options.methods)
    if options.seeds < 1:
        raise LopsError(f"--seeds is {options.seeds}; wanted at least 1")
    with standard_input.given(options.files) as paths:
        table = shared.opened(options, paths)
        _checked(options, names, table)
    return 0


def _checked(options: argparse.Namespace, names: Sequence[str], table: tables.Table) -> None:
    """Check columns and output, then compare."""
    paths = table.paths
    wanted = Wanted(options.text, options.label, options.gold, None, options.abstain)
    wanted.check(table)
    folder = options.output or Path(f"{files.bare(paths[0]).stem}-comparison")
    with storage.claimed(folder):
        outputs.check_folder(folder, "compare", options.force, paths)
        _compare(options, names, table, wanted, folder)


def _compare(
    options: argparse.Namespace,
    names: Sequence[str],
    table: tables.Table,
    wanted: Wanted,
    folder: Path,
) -> None:
    paths = table.paths
    checksums = outputs.checksums(paths)
    rows = read_rows(table, wanted)
    probe, which = choose_probe(options.probe, len(rows.texts), quiet=True)
    for name in names:  # raises now instead of after the first methods have run
        build(name, probe, tau=options.tau, seed=options.seed)
    results = _run_all(names, probe, rows, options)
    settings = _settings(options, probe, names)
    title = f"Selection methods on {paths[0].name}"
    source = standard_input.named(options.files, paths)
    page = comparison(rows, results, title, source, settings)
    dataset = outputs.dataset(rows, standard_input.keyed(options.files, checksums))
    config = outputs.describe("compare", settings, options.seed, dataset, device_of(probe))
    with outputs.writing(folder):
        storage.replace_folder(folder, lambda place: write_pages(place, page, config))
    print(text_table(page, [name for name, runs in results.items() if runs[0].is_late]))
    said = [*rows.notes, *sentences(copies(rows.texts, rows.labels), rows.place)]
    print("\n".join(["", which, *said, f"Report: {folder / 'report.html'}"]))


def _run_all(
    names: Sequence[str], probe: Probe, rows: Rows, options: argparse.Namespace
) -> dict[str, list[Result]]:
    """Run every method with every seed; a progress bar on standard error."""
    results: dict[str, list[Result]] = {name: [] for name in names}
    with progress(total=len(names) * options.seeds, unit="run", quiet=options.quiet) as bar:
        for name in names:
            bar.set_description(name)
            for seed in _seeds(options):
                results[name].append(run(name, probe, rows, options.tau, seed))
                bar.update()
    return results


def _settings(options: argparse.Namespace, probe: Probe, names: Sequence[str]) -> dict[str, Any]:
    chosen = {"probe": repr(probe), "methods": names, "tau": options.tau}
    columns = {key: getattr(options, key) for key in ("text", "label", "gold", "abstain")}
    return {**chosen, "seeds": list(_seeds(options)), **columns}


def _seeds(options: argparse.Namespace) -> range:
    return range(options.seed, options.seed + options.seeds)


def read_methods(text: str) -> list[str]:
    """Return the names of methods in a comma-separated list.

    >>> read_methods("lops, margin")
    ['lops', 'margin']
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    wrong = [name for name in names if name not in KNOWN]
    if wrong or not names:
        what = f"{wrong[0]!r} is unknown" if wrong else "it names no method"
        raise LopsError(
            f"--methods is {text!r}; {what}; wanted a comma-separated list of {', '.join(KNOWN)}"
        )
    return names


class Result(NamedTuple):
    """A selection and its measurement by gold labels.

    Attributes:
        noise: share of wrong labels among the kept rows.
        area: area under the noise-coverage curve; None where all rows have the same confidence.
        start: coverage at which the curve begins.
        seconds: time of the selection.

    """

    selection: Selection
    noise: float | None
    area: float | None
    start: float
    seconds: float

    @property
    def is_late(self) -> bool:
        """Whether the curve begins too late for its area to be comparable."""
        return self.area is not None and self.start > LATE


def run(name: str, probe: Probe, rows: Rows, tau: float, seed: int) -> Result:
    """Select with one method and measure."""
    selector = build(name, probe, tau=tau, seed=seed)
    start = time.perf_counter()
    selection = selector(rows.texts, rows.labels)
    seconds = time.perf_counter() - start
    at, labels, gold = judged(rows)
    kept = selection.mask[at]
    after = noise(labels[kept], gold[kept]) if kept.any() else None
    curve = noise_coverage_curve(selection.confidence[at], labels, gold)
    area = area_under_noise_coverage(curve) if len(curve) > 1 else None
    return Result(selection, after, area, float(curve.coverage[0]), seconds)


def judged(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of the rows with a gold label, their pseudo-labels and gold labels."""
    gold = np.array(rows.gold, dtype=object)
    at = np.flatnonzero([label is not None for label in gold])
    return at, np.array(rows.labels, dtype=object)[at], gold[at]


def comparison(
    rows: Rows, results: dict[str, list[Result]], title: str, source: str, settings: dict[str, Any]
) -> ComparisonPage:
    """Return what the page shows: means over the seeds, and the curves of the first seed."""
    from lops_adapters.report.contents import ComparisonPage, MethodRow
    from lops_adapters.report.data import best_curve, noise_curve

    at, labels, gold = judged(rows)
    wrong = noise(labels, gold)
    methods, curves = [], [best_curve(wrong)]
    for name, runs in results.items():
        remark = METHODS[name].summary
        after = [found.noise for found in runs if found.noise is not None]
        if len(after) > 1:
            remark += f"; noise after ± {percent(stdev(after))} over {len(after)} seeds"
        if runs[0].is_late:
            remark += f"; many ties: its curve begins at coverage {percent(runs[0].start)}, "
            remark += "so its area is not comparable"
        kept = round(fmean(len(found.selection.kept) for found in runs))
        areas = _mean([found.area for found in runs])
        methods.append(
            MethodRow(
                name, kept, _mean(after), areas, fmean(found.seconds for found in runs), remark
            )
        )
        if runs[0].area is not None:
            curves.append(noise_curve(name, runs[0].selection.confidence[at], labels, gold))
    return ComparisonPage(
        title, source, len(rows.texts), wrong, methods, curves, settings, extras.versions()
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def text_table(page: ComparisonPage, late: Collection[str]) -> str:
    """Return the methods as aligned text with notes; methods in ``late`` get a star."""

    def number(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    rows = [["method", "kept", "noise after", "area", "seconds"]]
    for m in page.methods:
        area = number(m.area, ".4f") + ("*" if m.name in late else "")
        rows.append([m.name, str(m.n_kept), percent(m.noise_after), area, number(m.seconds, ".1f")])
    notes = []
    if any(m.area is not None for m in page.methods):
        notes.append("area: under the noise-coverage curve; lower is better")
    if late:
        notes.append(
            "* many ties: the curve begins at a larger coverage, so the area is not comparable"
        )
    head = f"{page.n_rows} labels, {percent(page.noise)} wrong"
    return "\n".join([head, "", aligned(rows), *notes])


def write_pages(folder: Path, page: ComparisonPage, config: dict[str, Any]) -> None:
    """Write ``config.json``, ``comparison.json`` and ``report.html`` into a folder."""
    from lops_adapters.report.comparison_page import write_comparison_page

    storage.write_json(folder / "config.json", config)
    storage.write_json(folder / "comparison.json", page.to_json())
    write_comparison_page(folder / "report.html", page)
