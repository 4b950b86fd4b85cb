"""What ``lops select`` writes: kept, rejected and relabelled rows, and the pages about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import storage
from lops_adapters.cli.duplicates import write_duplicates
from lops_adapters.cli.ordering import Ordered
from lops_adapters.tables import files, readers
from lops_adapters.tables.replacing import replaced
from lops_adapters.tables.results import (
    ABSTAINED,
    DUPLICATES,
    GIVEN,
    LABEL,
    PARTS,
    WEIGHT,
    changed,
    types_like,
    write_pages,
)
from lops_adapters.tables.rows import Rows
from lops_adapters.tables.writers import Writer, writer_for
from lops_adapters.texts.result import TextSelection

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage


@dataclass(frozen=True)
class Judged:
    """A table, its column of labels, its rows, and what a selection says of them.

    Attributes:
        table: of N rows.
        label: its column of labels; None: soft labels, so that the label is an added column.
        rows: the n labelled ones.
        selection: of these.
        relabel: smallest probability of a suggestion that relabels a rejected row.
        weights: add a column of sample weights.
        near: groups of near-duplicates, positions among the n.
        by_suspicion: write rejected rows in that order, not in the table's.

    """

    table: readers.Table
    label: str | None
    rows: Rows
    selection: TextSelection
    relabel: float
    weights: bool = False
    by_suspicion: bool = False
    near: Sequence[np.ndarray] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are added to kept and rejected rows."""
        columns = self.selection.columns if self.label else (LABEL, *self.selection.columns)
        return (*columns, WEIGHT) if self.weights else columns


class Output:
    """The second pass over the table: its rows go to their files.

    Attributes:
        relabelled: (n,) bool over the labelled rows.
        abstained: number of rows without a label.
        duplicates: whether there are near-duplicates.

    """

    def __init__(self, judged: Judged, unchanged: Callable[[], bool], escape: bool) -> None:
        self._judged, self._unchanged, self._escape = judged, unchanged, escape
        rows, selection = judged.rows, judged.selection
        # Position of each row of the table among the labelled rows; -1: without a label.
        self._position = np.where(rows.labelled, np.cumsum(rows.labelled) - 1, -1)
        suggested = selection.suggested.tolist()
        self._suggested = [rows.values[name] for name in suggested]
        self._given = [rows.values[name] for name in rows.labels]
        self._like = types_like(judged.label, rows.values.values())
        other = np.array([a != b for a, b in zip(suggested, rows.labels, strict=True)], dtype=bool)
        sure = selection.suggested_probability >= judged.relabel
        self.relabelled = ~selection.mask & other & sure
        self.duplicates = bool(judged.near)
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
                wanted.append(("kept", alone, files.format_of(keep_out or alone, "--keep-out")))
            if place is not None:
                parts = (*PARTS, ABSTAINED) if self.abstained else PARTS
                wanted += [(part, place / f"{part}.{suffix}", suffix) for part in parts]
            self._stream(wanted)
            if place is not None:
                if self._judged.near:
                    write_duplicates(place / DUPLICATES, self._judged, self._escape)
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
        table, columns = self._judged.table, self._judged.columns
        with ExitStack() as stack:
            writers = []
            for part, path, kind in wanted:
                new = {"relabelled": (*columns, GIVEN), ABSTAINED: ()}.get(part, columns)
                writer = writer_for(path, kind, table, new, self._like, self._escape)
                if part == "rejected" and self._judged.by_suspicion:
                    writer = Ordered(writer, suspicion(self._judged))
                writers.append((part, writer))
                stack.enter_context(writer)
            start = 0
            for block in table.blocks():
                positions = self._position[start : start + len(block)]
                if len(positions) < len(block):
                    self._changed()
                start += len(block)
                for part, writer in writers:
                    self._part(part, writer, block, positions)
        if start != len(self._position) or not self._unchanged():
            self._changed()

    def _part(self, part: str, writer: Writer, block: readers.Block, positions: np.ndarray) -> None:
        """Write the rows of a block that belong to a part."""
        if part == ABSTAINED:
            writer.write(block, np.flatnonzero(positions < 0), {})
            return
        rows = np.flatnonzero((positions >= 0) & self._parts[part][positions])
        added = self._added(positions[rows])
        if part == "relabelled":
            block, rows, added = self._relabel(block, rows, positions[rows], added)
        writer.write(block, rows, added)

    def _relabel(
        self, block: readers.Block, rows: np.ndarray, own: np.ndarray, added: dict[str, list[Any]]
    ) -> tuple[readers.Block, np.ndarray, dict[str, list[Any]]]:
        """Return the rows with the suggestion as their label."""
        judged = self._judged
        added[GIVEN] = [self._given[position] for position in own.tolist()]
        if WEIGHT in added:
            added[WEIGHT] = judged.selection.suggested_probability[own].tolist()
        if judged.label is None:
            added[LABEL] = added["lops_suggested"]
            return block, rows, added
        other = replaced(judged.table, block, rows, judged.label, added["lops_suggested"])
        return other, np.arange(len(rows)), added

    def _added(self, positions: np.ndarray) -> dict[str, list[Any]]:
        selection = self._judged.selection
        at = positions.tolist()
        found: dict[str, list[Any]] = {
            LABEL: [self._given[position] for position in at],
            "lops_learnt_at": [
                time if np.isfinite(time) else None for time in selection.learnt_at[at].tolist()
            ],
            "lops_confidence": selection.confidence[at].tolist(),
            "lops_selected": selection.mask[at].tolist(),
            "lops_suggested": [self._suggested[position] for position in at],
        }
        if self._judged.weights:
            found[WEIGHT] = np.asarray(selection.sample_weight)[at].tolist()
        return {name: found[name] for name in self._judged.columns}

    def _changed(self) -> None:
        raise changed(self._judged.table.paths)


def suspicion(judged: Judged) -> np.ndarray:
    """Return the order of the rejected rows, (m,) int64: the least trusted first.

    Ties: the most probable other label first, then as in the table.
    """
    selection = judged.selection
    at = selection.rejected
    other = [
        float(probability) if suggested != judged.rows.labels[i] else 0.0
        for i, suggested, probability in zip(
            at.tolist(),
            selection.suggested[at].tolist(),
            selection.suggested_probability[at].tolist(),
            strict=True,
        )
    ]
    return np.lexsort((-np.array(other), selection.confidence[at]))


def written(
    folder: Path | None,
    keep_out: Path | None,
    suffix: str,
    relabelled: int,
    abstained: int,
    duplicates: bool = False,
) -> list[str]:
    """Return lines with the paths of what was written, and the number of relabelled rows."""
    lines = [] if keep_out is None else [f"Kept rows: {keep_out}"]
    if folder is not None:
        for part in PARTS:
            lines.append(f"{part.capitalize()} rows: {folder / f'{part}.{suffix}'}")
        lines[-1] += f" ({_advice(relabelled)})"
        if duplicates:
            lines.append(f"Near-duplicates: {folder / DUPLICATES}")
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
