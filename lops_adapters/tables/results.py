"""What a selection of a table writes: names of parts, files and added columns, and their types."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.formats.base import Added, Block, Like, Writer
from lops_adapters.formats.cells import cell_texts
from lops_adapters.labels.classes import Classes
from lops_adapters.labels.naming import COUNTS, GIVEN, OURS, TABLE
from lops_adapters.selection import Method
from lops_adapters.texts.result import COLUMNS

PARTS = ("kept", "rejected", "relabelled")
TO_CHECK = "to_check.csv"  # rows for a person to check, of the committee
SOURCES = "sources.csv"  # of votes, what is estimated of each source
SEND_BACK = "send_back.csv"  # rows whose label is most probably wrong, per source
DUPLICATES = "duplicates.csv"  # near-duplicates, if there are any
CORRECTED = "corrected"  # the whole table, with other labels where they are known
TRAIN = "train"  # corrected labels with weights, of the committee
ABSTAINED = "abstained"  # rows without a label, if there are any
ROW = f"{OURS}row"  # of a relabelled row: its number in the table, from 1
LABEL = "lops_label"  # of soft labels the largest, of votes the most probable
LABELS = ("lops_suggested", GIVEN, LABEL)  # columns of labels
OF_TABLE = {f"{OURS}{name}": name for name in (COUNTS, TABLE)}  # of relabelled rows
NEW = (*COLUMNS, GIVEN, LABEL, ROW, *OF_TABLE)  # every column that may be added
RELABEL = 0.9
Files = Sequence[tuple[str, Path, str]]  # part, path, format


def types_like(label: str | None, values: Collection[Any] = ()) -> Like:
    """Return the types of added columns in Parquet.

    ``label``: column of labels, None: soft labels or votes; ``values``: the classes, all of one
    type, or integers and floats.
    """
    kinds = {type(value): None for value in values}
    kind = float if float in kinds else next(iter(kinds), str)
    example = kind if label is None else label
    return {**dict.fromkeys(LABELS, example), ROW: int}


def part_files(folder: Path, kind: str, classes: Classes, method: Method) -> Files:
    """Return the files of a folder: kept, rejected, relabelled and, if any, abstained rows.

    And, of a method that assesses labels, what to train on, always as CSV.
    """
    parts = (*PARTS, ABSTAINED) if classes.abstained else PARTS
    files = [(part, folder / f"{part}.{kind}", kind) for part in parts]
    return [*files, (TRAIN, folder / f"{TRAIN}.csv", "csv")] if method.assesses else files


class TrainRows(Writer):
    """Write, as CSV, texts with the most probable label, and the probability that it is right.

    ``text`` is the column of texts; None: rows are numbered from 1 in their place. ``escape``:
    cells that a spreadsheet would run as formulas are marked.
    """

    def __init__(self, path: Path, text: str | None, escape: bool) -> None:
        super().__init__(path, "utf-8")
        self._text, self._escape = text, escape
        self._rows = storage.csv_writer(self._file, ",")
        self._rows.writerow(("text" if text is not None else "row", "label", "weight"))

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write rows of a block; ``added`` holds ``label``, ``weight``, and ``row`` from 1."""
        texts: Iterable[Any] = added["row"]
        if self._text is not None:
            (cells,) = block.cells([self._text])
            texts = (cells[row] for row in rows.tolist())
        for text, label, weight in zip(texts, added["label"], added["weight"], strict=True):
            self._rows.writerow([*cell_texts((text, label), self._escape), f"{weight:.6g}"])
