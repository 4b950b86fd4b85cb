"""The near-duplicates of a table: their file, and a sentence about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lops_adapters import storage
from lops_adapters.tables.writers import cell_text, without_formula

if TYPE_CHECKING:
    from lops_adapters.cli.select_files import Judged


def write_duplicates(path: Path, judged: Judged, escape: bool) -> None:
    """Write the groups of near-duplicates: one row of the table per line, its number from 1."""
    rows, kept = judged.rows, judged.selection.mask
    cell = without_formula if escape else cell_text
    numbers = np.flatnonzero(rows.labelled) + 1
    lines = (
        (group, int(numbers[i]), cell(rows.labels[i]), int(kept[i]), cell(rows.texts[i]))
        for group, positions in enumerate(judged.near, 1)
        for i in positions.tolist()
    )
    storage.write_csv(path, ["group", "row", "label", "lops_selected", "text"], lines)


def sentences(judged: Judged) -> list[str]:
    """Return a sentence about near-duplicates; none without any."""
    if not judged.near:
        return []
    rows = sum(map(len, judged.near))
    torn = sum(len({judged.rows.labels[i] for i in own.tolist()}) > 1 for own in judged.near)
    groups = "1 group" if len(judged.near) == 1 else f"{len(judged.near):,} groups"
    return [f"Near-duplicates: {groups} of {rows:,} rows, {torn:,} with several labels."]
