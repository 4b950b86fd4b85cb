"""A table in parts that are read on their own: files, or row groups of Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lops_adapters import storage
from lops_adapters.scale.vectors import Forward, Stored
from lops_adapters.selection.draw import Limits
from lops_adapters.tables.blocks import Judging, part_files, write_blocks
from lops_adapters.tables.classes import Labels
from lops_adapters.tables.readers import Table, import_pyarrow
from lops_adapters.tables.rows import Wanted
from lops_adapters.tables.survey import Survey, text_of

PART_ROWS = 100_000  # of Parquet, about
ENCODED_ROWS = 2000  # likewise, with an encoder, which takes far longer per row


class Placed(NamedTuple):
    """A part, its number, the row of the table that it begins at, and the file of its vectors."""

    part: Any
    number: int
    start: int
    vectors: str | None = None


def part_of(placed: Placed) -> Any:
    """Return the part: a table, which is read where the work is done."""
    return placed.part


@dataclass(frozen=True)
class Counted:
    """The first look at a part: rows, and the labels among them."""

    rows: int
    labels: Labels


def split(table: Table, rows: int) -> list[Table]:
    """Return the parts of a table, in its order.

    CSV, TSV and JSONL files cannot be cut, since a quoted cell may hold line ends.

    Args:
        table: of any format.
        rows: of a part of a Parquet file, at least; its row groups are not cut.

    """
    parts: list[Table] = []
    for path in table.paths:
        alone = replace(table, paths=(path.absolute(),), quiet=True)  # workers have other folders
        if table.format == "parquet":
            _, parquet = import_pyarrow(path)
            about = parquet.read_metadata(path)
            sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
            parts += [replace(alone, groups=g, before=b) for g, b in _grouped(sizes, rows)]
        else:
            parts.append(alone)
    return parts


def _grouped(sizes: Iterable[int], least: int) -> list[tuple[tuple[int, ...], int]]:
    """Return consecutive row groups of at least so many rows, and the rows before them.

    >>> _grouped([60_000, 60_000, 5], 100_000)
    [((0, 1), 0), ((2,), 120000)]
    """
    found: list[tuple[tuple[int, ...], int]] = []
    groups: list[int] = []
    before = rows = 0
    for number, size in enumerate(sizes):
        groups.append(number)
        rows += size
        if rows >= least:
            found.append((tuple(groups), before))
            before, groups, rows = before + rows, [], 0
    return [*found, (tuple(groups), before)] if groups or not found else found


def count(part: Any, wanted: Wanted) -> Counted:
    """Count the labels of a part; errors name file and row."""
    labels, rows = Labels(), 0
    for path, number, (text, label) in part.cells([str(wanted.text), str(wanted.label)]):
        place = f"{path}, {part.unit} {number}"
        if labels.add(label, place):
            text_of(text, place)
        rows += 1
    return Counted(rows, labels)


def joined(counted: Sequence[Counted]) -> tuple[Labels, list[int]]:
    """Return all labels, and the row that each part begins at."""
    labels, starts, rows = Labels(), [], 0
    for one in counted:
        labels.join(one.labels)
        starts.append(rows)
        rows += one.rows
    return labels, starts


def draw(placed: Placed, wanted: Wanted, most: int, seed: int, limits: Limits) -> Survey:
    """Return the survey of a part: which of its rows may be in the sample."""
    found = Survey(most, seed, limits)
    found.read(placed.part, wanted, placed.start)
    return found


@dataclass(frozen=True)
class Ready:
    """What judging takes on a worker; can be pickled.

    Attributes:
        judging: the fitted committee.
        encoder: the one object that the members ask for vectors; None: no encoder.

    """

    judging: Judging
    encoder: Stored | None = None

    def of(self, placed: Placed) -> Judging:
        """Return the committee with the vectors of a part."""
        if self.encoder is not None:
            self.encoder.source = Forward(str(placed.vectors))
        return self.judging


def judge(placed: Placed, ready: Ready, folder: str, kind: str) -> dict[str, Any]:
    """Judge a part, write it into a folder of its own, and return its totals for JSON.

    A part that is there already is not judged again.
    """
    place = Path(folder) / f"part-{placed.number:05d}"
    if not (place / "totals.json").exists():
        judging = ready.of(placed)

        def fill(temporary: Path) -> None:
            files = part_files(temporary, kind, judging.classes)
            totals = write_blocks(placed.part, judging, files, placed.start)
            storage.write_json(temporary / "totals.json", totals.to_json())

        storage.replace_folder(place, fill)
    stored: dict[str, Any] = json.loads((place / "totals.json").read_text(encoding="utf-8"))
    return stored
