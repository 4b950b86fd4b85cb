"""Selection in a table: survey, sample, fit, score block by block, write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lops_adapters import storage
from lops_adapters.tables import formats, results
from lops_adapters.tables.files import states
from lops_adapters.tables.fit import Fit, Job, check_sample, fit
from lops_adapters.tables.formats.lines import is_packed
from lops_adapters.tables.readers import Table, rehearse
from lops_adapters.tables.scoring import part_files, write_parts
from lops_adapters.tables.survey import survey_of
from lops_adapters.texts.near_duplicates import write_groups
from lops_adapters.texts.totals import Totals

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

IN_MEMORY = 64 * 2**20  # bytes of files that are held, so that they are read once


class Output(NamedTuple):
    """What to write: a folder, a file of kept rows or both, and the format in the folder."""

    folder: Path | None
    keep_out: Path | None
    kind: str

    @property
    def formats(self) -> set[str]:
        """The formats of all files."""
        found = set() if self.folder is None else {self.kind}
        return found if self.keep_out is None else {*found, self.keep_kind}

    @property
    def keep_kind(self) -> str:
        """The format of the file of kept rows."""
        return formats.to_write(self.keep_out or Path(), "--keep-out")


class Done(NamedTuple):
    """A table that is written: its fit, its counts and its page."""

    fit: Fit
    totals: Totals
    page: SelectionPage


def run(table: Table, job: Job, output: Output) -> Done:
    """Select in a table and write the output, complete or not at all.

    Raises:
        LopsError: what cannot be read, scored or written, or a table that changes meanwhile.

    """
    before = states(table.paths)
    if not any(map(is_packed, table.paths)) and sum(n for n, _ in before.values()) <= IN_MEMORY:
        table = table.loaded()
    for kind in output.formats:
        rehearse(table, kind, results.NEW)
    found = survey_of(table, job.wanted, most=job.most, seed=job.seed, checked=job.checked)
    classes = found.classes()
    check_sample(classes, job)
    fitted, scoring = fit(found.sample(classes), job, near=output.folder is not None)
    done: list[Done] = []

    def fill(folder: Path | None, alone: Path | None) -> None:
        files = [] if alone is None else [("kept", alone, output.keep_kind)]
        if folder is not None:
            files += part_files(folder, output.kind, classes)
        totals = write_parts(table, scoring, files)
        if states(table.paths) != before:
            raise results.changed(table.paths)
        page = fitted.page(totals)
        done.append(Done(fitted, totals, page))
        if folder is not None:
            write_about(folder, done[0])

    def both(alone: Path | None) -> None:
        if output.folder is None:
            fill(None, alone)
        else:
            storage.replace_folder(output.folder, lambda folder: fill(folder, alone))

    if output.keep_out is None:
        both(None)
    else:
        storage.replace_with(output.keep_out, both)
    return done[0]


def write_about(folder: Path, done: Done) -> None:
    """Write what a folder holds beside the rows: pages, settings, rows to check, duplicates."""
    fitted, sample = done.fit, done.fit.sample
    if fitted.near:
        write_groups(
            folder / results.DUPLICATES,
            fitted.near,
            sample.drawn.positions + 1,
            sample.labels,
            sample.texts,
            fitted.selection.mask,
            escape=fitted.job.escape,
        )
    results.write_to_check(
        folder, sample, fitted.selection, fitted.job.page.get("table", {}), escape=fitted.job.escape
    )
    results.write_sources(folder, sample, fitted.selection)
    results.write_pages(folder, done.page, fitted.config(done.totals))
