"""The labels of a table that is read block by block: counted, checked, then numbered."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import is_unlabelled
from lops_adapters.selection.canonical import content_keys
from lops_adapters.tables.repairs import valid_text
from lops_adapters.tables.rows import Wanted
from lops_adapters.tables.writers import cell_text
from lops_adapters.texts.abstentions import minus_one
from lops_adapters.texts.totals import NO_GOLD, OTHER_GOLD

MOST = 100_000  # different labels


@dataclass
class Labels:
    """The different labels of a column, with the number of their rows.

    Attributes:
        counts: label -> rows; without missing labels.
        missing: rows without a label.
        first: (type, label) -> its first row, in words. 1 and 1.0 are two entries.

    """

    counts: dict[Hashable, int] = field(default_factory=dict)
    missing: int = 0
    first: dict[tuple[type, Hashable], str] = field(default_factory=dict)

    def add(self, label: Any, place: str) -> bool:
        """Count the label of a row and return whether there is one.

        ``place`` is where the row stands, in words.

        Raises:
            LopsError: a list or an object, or very many different labels.

        """
        if isinstance(label, list | dict):
            raise LopsError(f"{place}: the label is {label!r:.60}; wanted one class name per row")
        known = self.counts.get(label)
        if known is not None and (type(label), label) in self.first:
            self.counts[label] = known + 1
            return True
        if is_unlabelled(label):
            self.missing += 1
            return False
        self.counts[label] = 1 + (known or 0)
        self.first.setdefault((type(label), label), place)
        if len(self.counts) > MOST:
            raise LopsError(
                f"found more than {MOST:,} different labels, such as {label!r:.60}; check --label"
            )
        return True

    def join(self, later: Labels) -> None:
        """Add the counts of rows that follow."""
        for label, count in later.counts.items():
            self.counts[label] = self.counts.get(label, 0) + count
        self.missing += later.missing
        for label, place in later.first.items():
            self.first.setdefault(label, place)

    def numbered(self, wanted: Wanted) -> Classes:
        """Return the classes of the whole table.

        Raises:
            LopsError: no labels, labels of several types, or one class only.

        """
        if not self.counts and not self.missing:
            raise LopsError("the table has no rows; wanted rows of at least two classes")
        gone = self._gone(wanted)
        own = {label: count for label, count in self.counts.items() if label not in gone}
        if not own:
            rows = self.missing + sum(self.counts.values())
            raise LopsError(
                f"none of the {rows} rows has a label in column {wanted.label!r}; check --label"
            )
        kinds: dict[type, str] = {}
        for (kind, label), place in self.first.items():
            if label not in gone:
                kinds.setdefault(kind, f"{kind.__name__} ({label!r} in {place})")
        if len(kinds) > 1:
            found = ", ".join(kinds.values())
            raise LopsError(
                f"labels in column {wanted.label!r} have several types: {found}; "
                "make them all strings or all numbers"
            )
        names = {label: valid_text(str(label)) for label in own}
        counts: dict[str, int] = {}
        for label, count in own.items():
            counts[names[label]] = counts.get(names[label], 0) + count
        if len(counts) < 2:
            only = next(iter(own))
            raise LopsError(
                f"all {counts[names[only]]} rows have the label {only!r}; wanted at least two "
                "classes"
            )
        values: dict[str, Hashable] = {}
        for label, name in names.items():
            values.setdefault(name, label)
        ordered = tuple(sorted(counts))
        numbers = np.array([counts[name] for name in ordered], dtype=np.int64)
        abstained = self.missing + sum(self.counts[label] for label in gone)
        return Classes(ordered, numbers, names, values, abstained)

    def _gone(self, wanted: Wanted) -> set[Hashable]:
        """Return the labels that are no class; see :mod:`lops_adapters.texts.abstentions`."""
        if wanted.abstain is None:
            return set(minus_one(set(self.counts)))
        return {label for label in self.counts if cell_text(label) in wanted.abstain}


@dataclass(frozen=True)
class Classes:
    """The classes of a table; can be pickled.

    Attributes:
        names: k names, sorted; their places are the codes.
        counts: (k,) int64 rows.
        name_of: label as in the table -> name.
        values: name -> label as in the table.
        abstained: rows without a class.

    """

    names: tuple[str, ...]
    counts: np.ndarray
    name_of: dict[Hashable, str]
    values: dict[str, Hashable]
    abstained: int

    def codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the (m,) int64 codes of labels as in the table; -1: no class."""
        place = {name: code for code, name in enumerate(self.names)}
        code_of = {label: place[name] for label, name in self.name_of.items()}
        return np.fromiter((code_of.get(label, -1) for label in labels), np.int64, len(labels))

    def gold_codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the (m,) int64 codes of gold labels, see :class:`~lops_adapters.texts.totals`."""
        place = {name: code for code, name in enumerate(self.names)}
        found = (
            NO_GOLD if is_unlabelled(label) else place.get(self.gold_name(label), OTHER_GOLD)
            for label in labels
        )
        return np.fromiter(found, np.int64, len(labels))

    def gold_name(self, label: Any) -> str:
        """Return the name of a gold label; one equal to a label (1.0 and 1) gets its name."""
        return self.name_of.get(label, valid_text(str(label)))

    def settled(self, wanted: Wanted) -> Wanted:
        """Return what is wanted, with the rule about -1 decided, so that no part has to."""
        if wanted.abstain is not None:
            return wanted
        is_class = any(minus_one({label, 0, 1}) for label in self.name_of)
        return replace(wanted, abstain=() if is_class else ("-1", "-1.0"))

    def keys(self) -> np.ndarray:
        """Return (k,) uint64 hashes of the names."""
        return content_keys(self.names, 0)
