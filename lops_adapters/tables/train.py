"""What to train on, as one CSV file: a text, its label and a weight per row."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.formats.base import Added, Block, Writer
from lops_adapters.formats.cells import cell_texts

HEADER = ("text", "label", "weight")


class TrainRows(Writer):
    """Write texts with the most probable label, and the probability that it is right.

    Args:
        path: of the file.
        text: column of the texts; None: rows are numbered from 1 in their place.
        escape: mark cells that a spreadsheet would run as formulas.
    """

    def __init__(self, path: Path, text: str | None, escape: bool) -> None:
        super().__init__(path, "utf-8")
        self._text, self._escape = text, escape
        self._rows = storage.csv_writer(self._file, ",")
        self._rows.writerow(HEADER if text is not None else ("row", *HEADER[1:]))

    def write(self, block: Block, rows: np.ndarray, added: Added) -> None:
        """Write rows of a block; ``added`` holds ``label``, ``weight``, and ``row`` from 1."""
        texts: Iterable[Any] = added["row"]
        if self._text is not None:
            (cells,) = block.cells([self._text])
            texts = (cells[row] for row in rows.tolist())
        for text, label, weight in zip(texts, added["label"], added["weight"], strict=True):
            self._rows.writerow([*cell_texts((text, label), self._escape), f"{weight:.6g}"])
