"""Selection in a table: survey, sample, fit, score block by block, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lops_adapters import formats, storage
from lops_adapters.formats.cells import cell_texts
from lops_adapters.formats.files import changed, states
from lops_adapters.formats.lines import is_packed
from lops_adapters.formats.readers import Table, rehearse
from lops_adapters.labels.naming import CHECKED, LABEL, ROW, TEXT, naming
from lops_adapters.report.classes import by_accuracy
from lops_adapters.tables import parts
from lops_adapters.tables.fit import Done, Fit, check_sample, fit
from lops_adapters.tables.parts import part_files, rehearse_labels, write_parts
from lops_adapters.tables.survey import TableJob, survey_of

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

IN_MEMORY = 64 * 2**20  # bytes of files that are held, so that they are read once


class Output(NamedTuple):
    """What to write: a folder, the format of its files, and the corrected table."""

    folder: Path
    kind: str
    corrected: Path | None = None


def run(table: Table, job: TableJob, output: Output) -> Done:
    """Select in a table and write the output, complete or not at all."""
    state = states(table.paths)
    if not any(map(is_packed, table.paths)) and sum(n for n, _ in state.values()) <= IN_MEMORY:
        table = table.loaded(IN_MEMORY)
    rehearse(table, output.kind, parts.NEW)
    whole = None
    if output.corrected is not None:
        whole = formats.to_write(output.corrected, "corrected")
        rehearse(table, whole, ())
    survey = survey_of(table, job.columns, **job.drawn, checked=job.checked)
    classes = survey.classes().with_checked(one.label for one in survey.checked.values())
    check_sample(classes, job)
    rehearse_labels(table, output.kind, job, classes)
    fitted = fit(survey.sample(classes), job)
    with ExitStack() as stack:
        files = []
        if output.corrected is not None and whole is not None:
            path = stack.enter_context(storage.replacing(output.corrected))
            files.append((parts.CORRECTED, path, whole))
        folder = stack.enter_context(storage.replacing_folder(output.folder))
        files += part_files(folder, output.kind, classes, job.choice.row)
        done = Done(fitted, write_parts(table, fitted.scoring, files))
        finish(table, state, done, folder)
        return done


def finish(table: Table, state: Mapping[str, Any], done: Done, folder: Path) -> None:
    """Write what a folder holds next to the rows: pages, settings, rows to check, duplicates."""
    if states(table.paths) != state:
        raise changed(table.paths)
    fitted = done.fit
    if fitted.near:
        write_duplicates(folder / parts.DUPLICATES, fitted)
    if fitted.job.choice.row.assesses:
        write_to_check(folder / parts.TO_CHECK, fitted)
    if fitted.selection.sources:
        write_sources(folder / parts.SOURCES, fitted)
    write_pages(folder, done.page, done.config())


def write_duplicates(path: Path, fitted: Fit) -> None:
    """Write groups of near-duplicates as CSV: one text per line, the number of its row from 1."""
    sample, selection = fitted.sample, fitted.selection
    numbers, (names, cells) = (sample.drawn.positions + 1).tolist(), _naming(fitted)
    lines = (
        [group, numbers[i], selection.labels[i], int(selection.mask[i]), sample.texts[i], *cells(i)]
        for group, positions in enumerate(fitted.near, 1)
        for i in positions.tolist()
    )
    _write_csv(path, fitted, ["group", ROW, LABEL, "lops_selected", TEXT, *names], lines)


def write_to_check(path: Path, fitted: Fit) -> None:
    """Write the rows to check as CSV, with an empty column for the person's label."""
    sample, selection, (names, cells) = fitted.sample, fitted.selection, _naming(fitted)
    numbers, suggestion = (sample.drawn.positions + 1).tolist(), selection.shown_suggestion
    lines = (
        [numbers[i], selection.labels[i], suggestion(i), "", sample.texts[i], *cells(i)]
        for i in selection.to_check().tolist()
    )
    header = [ROW, LABEL, "suggested", CHECKED, TEXT, *names]
    _write_csv(path, fitted, header, lines, encoding="utf-8-sig")  # for spreadsheets


def _naming(fitted: Fit) -> tuple[list[str], Callable[[int], list[str]]]:
    table = fitted.job.page.get("table", {})
    return naming(table, fitted.sample.keys(table))


def write_sources(path: Path, fitted: Fit) -> None:
    """Write what is estimated of each label source as CSV.

    ``errs_in`` are rows of the table whose vote is most surely wrong, at most five.
    """
    sample, selection, lines = fitted.sample, fitted.selection, []
    for one in by_accuracy(selection.sources):
        rows = sample.drawn.positions[selection.source_errors(one.name)[:5]] + 1
        voted, true, share = one.error or ("", "", 0.0)
        shown = ["0.0000", "", "", ""]
        if one.votes:
            numbers = one.coverage, one.accuracy, one.low, one.high
            shown = [f"{number:.4f}" for number in numbers]
        errs_in = " ".join(map(str, rows.tolist()))
        error = voted, true, f"{share:.4f}"
        lines.append((one.name, one.votes, *shown, *error, one.alone, one.changed, errs_in))
    header = ["source", "votes", "coverage", "accuracy", "low", "high", "error", "true_label"]
    header += ["error_share", "alone", "changed", "errs_in"]
    _write_csv(path, fitted, header, lines)


def _write_csv(
    path: Path,
    fitted: Fit,
    header: Sequence[str],
    lines: Iterable[Sequence[Any]],
    encoding: str = "utf-8",
) -> None:
    rows = (cell_texts(line, fitted.job.escape) for line in lines)
    storage.write_csv(path, header, rows, encoding)


def write_pages(folder: Path, page: SelectionPage, config: dict[str, Any]) -> None:
    """Write ``config.json``, ``summary.json`` and ``report.html`` into a folder."""
    from lops_adapters.report.selection_page import write_selection_page

    storage.write_json(folder / "config.json", config)
    storage.write_json(folder / "summary.json", page.to_json())
    write_selection_page(folder / "report.html", page)
