"""``lops select`` on a table that need not fit in memory: read twice, judged block by block."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lops_adapters import storage
from lops_adapters.tables import files
from lops_adapters.tables.blocks import part_files, write_blocks
from lops_adapters.tables.fit import Fit, Given, fit, numbered
from lops_adapters.tables.readers import Table
from lops_adapters.tables.results import changed, write_pages
from lops_adapters.tables.survey import Survey
from lops_adapters.texts.totals import Totals

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage


class Places(NamedTuple):
    """Where to write: a folder, a file of kept rows or both, and the format in the folder."""

    folder: Path | None
    keep_out: Path | None
    kind: str


def run(
    table: Table, found: Survey, given: Given, places: Places, checksums: Mapping[str, str]
) -> tuple[Fit, Totals, SelectionPage]:
    """Fit to a surveyed table, judge and write it, complete or not at all.

    Args:
        table: read again.
        found: its survey.
        given: what is asked for.
        places: at least one.
        checksums: of the table's files before the survey, by the names that people know.

    Raises:
        LopsError: the table has changed, and what judging and writing raise.

    """
    classes = numbered(found.labels, given)
    fitted, judging = fit(found.sample(classes), classes, given)
    found.clear()
    done: list[tuple[Totals, SelectionPage]] = []

    def fill(place: Path | None, alone: Path | None) -> None:
        wanted = []
        if alone is not None:
            wanted.append(("kept", alone, files.format_of(places.keep_out or alone, "--keep-out")))
        if place is not None:
            wanted += part_files(place, places.kind, fitted.classes)
        totals = write_blocks(table, judging, wanted)
        if list(files.checksums(table.paths).values()) != list(checksums.values()):
            raise changed(table.paths)
        page = fitted.page(totals)
        done.append((totals, page))
        if place is not None:
            write_pages(place, page, fitted.config(totals, checksums))

    def both(alone: Path | None) -> None:
        if places.folder is None:
            fill(None, alone)
        else:
            storage.replace_folder(places.folder, lambda place: fill(place, alone))

    if places.keep_out is None:
        both(None)
    else:
        storage.replace_with(places.keep_out, both)
    return fitted, *done[0]
