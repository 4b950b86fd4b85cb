"""The classes of a table: names at the edges, codes everywhere else."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from lops_adapters.formats.cells import is_unlabelled, valid_text

NO_GOLD, OTHER_GOLD = -2, -1  # codes: no gold label; a gold label that is no class


@dataclass(frozen=True)
class Classes:
    """The k classes of a table or of labels in memory; can be pickled.

    Attributes:
        names: in the order of their values, numbers by size; their places are the codes.
        counts: (k,) int64 rows.
        code_of: label as it was given -> code.
        values: name -> label as it was given.
        abstained: rows without a class.
        notes: sentences about rows without a class or a gold label.
        problems: sentences about labels that are probably not meant so.

    """

    names: tuple[str, ...]
    counts: np.ndarray
    code_of: dict[Hashable, int]
    values: dict[str, Hashable]
    abstained: int
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the (m,) int64 codes of labels as they were given; -1: no class."""
        return np.fromiter(map(self.code_of.get, labels, repeat(-1)), np.int64, len(labels))

    def given(self, codes: np.ndarray) -> list[Any]:
        """Return labels as they were given; None for -1."""
        values = [*(self.values[name] for name in self.names), None]
        return [values[code] for code in codes.tolist()]

    def gold_codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the (m,) int64 codes of gold labels, or :data:`NO_GOLD`, :data:`OTHER_GOLD`."""
        place = {name: code for code, name in enumerate(self.names)}
        codes = (
            NO_GOLD if is_unlabelled(label) else place.get(self.gold_name(label), OTHER_GOLD)
            for label in labels
        )
        return np.fromiter(codes, np.int64, len(labels))

    def gold_name(self, label: Any) -> str:
        """Return the name of a gold label; one equal to a label (1.0 and 1) gets its name."""
        code = self.code_of.get(label)
        return valid_text(str(label)) if code is None else self.names[code]
