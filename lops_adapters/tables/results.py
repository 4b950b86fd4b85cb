"""What a selection of a table writes: parts of rows, added columns, pages about them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lops_adapters import storage
from lops_adapters.core import LopsError
from lops_adapters.runs.surroundings import surroundings
from lops_adapters.tables.formats.base import Like
from lops_adapters.tables.formats.cells import cell_text, without_formula
from lops_adapters.texts.result import COLUMNS, TextSelection

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage
    from lops_adapters.tables.survey import Sample

PARTS = ("kept", "rejected", "relabelled")
TO_CHECK = "to_check.csv"  # rows for a person to check, of the committee
SOURCES = "sources.csv"  # of votes, what is estimated of each source
DUPLICATES = "duplicates.csv"  # near-duplicates, if there are any
ABSTAINED = "abstained"  # rows without a label, if there are any
GIVEN = "lops_given"  # the label before
LABEL = "lops_label"  # of soft labels the largest, of votes the most probable
WEIGHT = "lops_weight"
NEW = (*COLUMNS, GIVEN, LABEL, WEIGHT)  # every column that may be added
RELABEL = 0.9


def columns_of(selection: TextSelection, label: str | None, weights: bool) -> tuple[str, ...]:
    """Return the columns that are added to kept and rejected rows.

    Args:
        selection: whose method may have learning times.
        label: column of labels; None: soft labels or votes, whose label is added.
        weights: add the sample weights.

    """
    first = () if label else (LABEL,)
    return (*first, *selection.columns, *((WEIGHT,) if weights else ()))


def types_like(label: str | None, values: Iterable[Any] = ()) -> Like:
    """Return the types of added columns in Parquet.

    Args:
        label: column of labels; None: soft labels or votes.
        values: the classes.

    """
    codes = label is None and all(isinstance(value, int) for value in values)
    example: str | type | None = int if codes else label
    own = {} if example is None else dict.fromkeys(("lops_suggested", GIVEN, LABEL), example)
    return {**own, WEIGHT: float}


def changed(paths: Sequence[Path]) -> LopsError:
    """Return the error about input that is not the same in both passes."""
    named = ", ".join(map(str, paths[:3])) + (" and others" if len(paths) > 3 else "")
    return LopsError(
        f"the input changed during the run ({named}); nothing was written; "
        "run again when nothing else writes to it"
    )


def write_to_check(
    folder: Path,
    sample: Sample,
    selection: TextSelection,
    table: Mapping[str, str],
    *,
    escape: bool = False,
) -> None:
    """Write the rows to check as CSV, with an empty column for the person's label.

    Args:
        folder: that the file is written into.
        sample: of the table.
        selection: among the sample; nothing is written unless it is a committee's.
        table: column of labels and checksum, as on the page; empty: not known.
        escape: an apostrophe before cells that a spreadsheet takes for formulas.

    """
    if selection.settings["method"] != "committee":
        return
    cell = without_formula if escape else cell_text
    rows = selection.to_check().tolist()
    names = [name for name in ("column", "sha256") if name in table]
    known = [cell(table[name]) for name in names]
    lines = (
        (
            int(sample.drawn.positions[i]) + 1,
            cell(sample.labels[i]),
            cell(selection.suggested[i]),
            "",
            cell(sample.texts[i]),
            *known,
        )
        for i in rows
    )
    header = ["row", "label", "suggested", "checked", "text", *names]
    storage.write_csv(folder / TO_CHECK, header, lines, encoding="utf-8-sig")  # for spreadsheets


def write_sources(folder: Path, sample: Sample, selection: TextSelection) -> None:
    """Write what is estimated of each label source as CSV; nothing without votes.

    ``errs_in`` are rows of the table whose vote is most surely wrong, at most five.
    """
    if not selection.sources:
        return
    lines = []
    for one in sorted(selection.sources, key=lambda one: (one.votes == 0, one.accuracy, one.name)):
        rows = sample.drawn.positions[selection.source_errors(one.name)[:5]] + 1
        voted, true, share = one.error or ("", "", 0.0)
        numbers = (
            [one.coverage, one.accuracy, one.low, one.high] if one.votes else [0.0, "", "", ""]
        )
        shown = [f"{number:.4f}" if number != "" else "" for number in numbers]
        lines.append(
            (
                cell_text(one.name),
                one.votes,
                *shown,
                cell_text(voted),
                cell_text(true),
                f"{share:.4f}",
                one.alone,
                one.changed,
                " ".join(map(str, rows.tolist())),
            )
        )
    header = ["source", "votes", "coverage", "accuracy", "low", "high", "error", "true_label"]
    header += ["error_share", "alone", "changed", "errs_in"]
    storage.write_csv(folder / SOURCES, header, lines)


def write_pages(folder: Path, page: SelectionPage, config: dict[str, Any]) -> None:
    """Write ``config.json``, ``summary.json`` and ``report.html`` into a folder."""
    from lops_adapters.report.selection_page import write_selection_page

    storage.write_json(folder / "config.json", config)
    storage.write_json(folder / "summary.json", page.to_json())
    write_selection_page(folder / "report.html", page)


def describe(
    command: str, settings: dict[str, Any], seed: int, data: dict[str, Any], device: str
) -> dict[str, Any]:
    """Return the contents of ``config.json``, with the keys that every run folder has."""
    return {
        "framework": command,
        "settings": settings,
        "seed": seed,
        "dataset": data,
        "device": device,
        "command": " ".join(["lops", command, *sys.argv[2:]]),
        **surroundings(),
    }
