"""What ``lops select`` writes: kept, rejected and relabelled rows, and the pages about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import storage
from lops_adapters.cli import files, tables
from lops_adapters.cli.outputs import ABSTAINED, PARTS
from lops_adapters.cli.replacing import replaced
from lops_adapters.cli.rows import Rows
from lops_adapters.cli.writers import writer_for
from lops_adapters.core import LopsError
from lops_adapters.texts.result import COLUMNS, TextSelection

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

GIVEN = "lops_given"  # the label before
RELABEL = 0.9


def types_like(label: str) -> dict[str, str]:
    """Return the added columns that have the type of the labels, in Parquet."""
    return {"lops_suggested": label, GIVEN: label}


@dataclass(frozen=True)
class Judged:
    """A table, its column of labels, its rows, and what a selection says of them.

    ``relabel`` is the smallest probability of a suggestion that relabels a rejected row.
    """

    table: tables.Table
    label: str
    rows: Rows
    selection: TextSelection
    relabel: float


class Output:
    """The second pass over the table: its rows go to their files.

    Attributes:
        relabelled: (n,) bool over the labelled rows.
        abstained: number of rows without a label.

    """

    def __init__(self, judged: Judged, unchanged: Callable[[], bool], escape: bool) -> None:
        self._judged, self._unchanged, self._escape = judged, unchanged, escape
        rows, selection = judged.rows, judged.selection
        # Position of each row of the table among the labelled rows; -1: without a label.
        self._position = np.where(rows.labelled, np.cumsum(rows.labelled) - 1, -1)
        suggested = selection.suggested.tolist()
        self._suggested = [rows.values[name] for name in suggested]
        self._given = [rows.values[name] for name in rows.labels]
        other = np.array([a != b for a, b in zip(suggested, rows.labels, strict=True)], dtype=bool)
        sure = selection.suggested_probability >= judged.relabel
        self.relabelled = ~selection.mask & other & sure
        self.abstained = int((~rows.labelled).sum())
        self._parts = dict(
            zip(PARTS, (selection.mask, ~selection.mask, self.relabelled), strict=True)
        )

    def write(
        self,
        folder: Path | None,
        keep_out: Path | None,
        kind: str | None,
        page: SelectionPage,
        config: dict[str, Any],
    ) -> None:
        """Write a folder, a file, or both, complete or not at all."""
        suffix = kind or self._judged.table.format

        def fill(place: Path | None, alone: Path | None) -> None:
            wanted = []
            if alone is not None:
                wanted.append(("kept", alone, files.format_of(keep_out or alone)))
            if place is not None:
                parts = (*PARTS, ABSTAINED) if self.abstained else PARTS
                wanted += [(part, place / f"{part}.{suffix}", suffix) for part in parts]
            self._stream(wanted)
            if place is not None:
                write_pages(place, page, config)

        def both(alone: Path | None) -> None:
            if folder is None:
                fill(None, alone)
            else:
                storage.replace_folder(folder, lambda place: fill(place, alone))

        if keep_out is None:
            both(None)
        else:
            storage.replace_with(keep_out, both)

    def _stream(self, wanted: Sequence[tuple[str, Path, str]]) -> None:
        """Write (part, path, format) files in one pass over the table."""
        table, label = self._judged.table, self._judged.label
        with ExitStack() as stack:
            writers = []
            for part, path, kind in wanted:
                new = {"relabelled": (*COLUMNS, GIVEN), ABSTAINED: ()}.get(part, COLUMNS)
                writer = writer_for(path, kind, table, new, types_like(label), self._escape)
                writers.append((part, writer))
                stack.enter_context(writer)
            start = 0
            for block in table.blocks():
                positions = self._position[start : start + len(block)]
                if len(positions) < len(block):
                    self._changed()
                start += len(block)
                for part, writer in writers:
                    if part == ABSTAINED:
                        writer.write(block, np.flatnonzero(positions < 0), {})
                        continue
                    rows = np.flatnonzero((positions >= 0) & self._parts[part][positions])
                    own, added = positions[rows], self._added(positions[rows])
                    if part != "relabelled":
                        writer.write(block, rows, added)
                        continue
                    added[GIVEN] = [self._given[position] for position in own.tolist()]
                    other = replaced(table, block, rows, label, added["lops_suggested"])
                    writer.write(other, np.arange(len(rows)), added)
        if start != len(self._position) or not self._unchanged():
            self._changed()

    def _added(self, positions: np.ndarray) -> dict[str, list[Any]]:
        selection = self._judged.selection
        times = selection.learnt_at[positions].tolist()
        return {
            "lops_learnt_at": [time if np.isfinite(time) else None for time in times],
            "lops_confidence": selection.confidence[positions].tolist(),
            "lops_selected": selection.mask[positions].tolist(),
            "lops_suggested": [self._suggested[position] for position in positions.tolist()],
        }

    def _changed(self) -> None:
        raise changed(self._judged.table.paths)


def changed(paths: Sequence[Path]) -> LopsError:
    """Return the error about input that is not the same in both passes."""
    named = ", ".join(map(str, paths[:3])) + (" and others" if len(paths) > 3 else "")
    return LopsError(
        f"the input changed during the run ({named}); nothing was written; "
        "run again when nothing else writes to it"
    )


def write_pages(folder: Path, page: SelectionPage, config: dict[str, Any]) -> None:
    """Write ``config.json``, ``summary.json`` and ``report.html`` into a folder."""
    from lops_adapters.report.selection_page import write_selection_page

    storage.write_json(folder / "config.json", config)
    storage.write_json(folder / "summary.json", page.to_json())
    write_selection_page(folder / "report.html", page)


def written(
    folder: Path | None, keep_out: Path | None, suffix: str, relabelled: int, abstained: int
) -> list[str]:
    """Return lines with the paths of what was written, and the number of relabelled rows."""
    lines = [] if keep_out is None else [f"Kept rows: {keep_out}"]
    if folder is not None:
        for part in PARTS:
            lines.append(f"{part.capitalize()} rows: {folder / f'{part}.{suffix}'}")
        lines[-1] += f" ({_advice(relabelled)})"
        if abstained:
            lines.append(f"Rows without a label: {folder / f'{ABSTAINED}.{suffix}'}")
        lines.append(f"Report: {folder / 'report.html'}")
    return lines


def _advice(relabelled: int) -> str:
    if not relabelled:
        return "none: no suggestion is sure enough"
    rows, them = ("row", "it") if relabelled == 1 else ("rows", "them")
    return (
        f"{relabelled:,} rejected {rows} with the suggested label; add {them} to the kept rows "
        "after a look"
    )
