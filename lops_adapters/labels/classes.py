"""The classes of a table: names at the edges, codes everywhere else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from lops_adapters.console import listed, typed, unsure
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import (
    NO_CLASS,
    Names,
    cell_text,
    is_unlabelled,
    is_whole,
    valid_text,
    whole,
)
from lops_adapters.formats.places import SHOWN, rows_of
from lops_adapters.labels.about import about_absent, about_several, check
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.missing import no_classes
from lops_adapters.labels.near_names import nearest
from lops_adapters.labels.tally import NONE, Tally

FEW = 20  # rows; with fewer, hardly anything looks odd
NO_GOLD, OTHER_GOLD = -2, -1  # codes: no gold label; a gold label that is no class


@dataclass(frozen=True)
class Classes:
    """The k classes of a table or of labels in memory; can be pickled.

    Attributes:
        names: in the order of their values, numbers by size; their places are the codes.
        counts: (k,) int64 rows.
        code_of: label as it was given -> code.
        values: name -> label as it was given.
        rows: label as it was given, as text -> rows; several may name one class.
        notes: sentences about rows without a class or a gold label.
        read_as: of ``notes``, what labels are read as another class.
    """

    names: tuple[str, ...]
    counts: np.ndarray
    code_of: dict[Hashable, int]
    values: dict[str, Hashable]
    rows: dict[str, int]
    abstained: int
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    read_as: list[str] = field(default_factory=list)

    def codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the (m,) int64 codes of labels as they were given; -1: no class."""
        return np.fromiter(map(self.code_of.get, labels, repeat(-1)), np.int64, len(labels))

    def given(self, codes: np.ndarray) -> list[Any]:
        """Return labels as they were given; None for -1, the word for unsure for -2."""
        values = [self.values[name] for name in self.names]
        values += [unsure(values), None]
        return [values[code] for code in codes.tolist()]

    def gold_codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the (m,) int64 codes of gold labels, or :data:`NO_GOLD`, :data:`OTHER_GOLD`."""
        codes_of = {name: code for code, name in enumerate(self.names)}
        codes = (
            NO_GOLD if is_unlabelled(label) else codes_of.get(self.gold_name(label), OTHER_GOLD)
            for label in labels
        )
        return np.fromiter(codes, np.int64, len(labels))

    def gold_name(self, label: Any) -> str:
        """Return the name of a gold label: a label's in either spelling (1.0 and 1), or its own."""
        code = self.code_of.get(label)
        if code is not None:
            return self.names[code]
        name = valid_text(str(label))
        return self._by_number.get(whole(name), name)

    def meant(self, checked: Iterable[str]) -> dict[str, str | None]:
        """Return label by a person, as text -> the name of its class; None: none of the classes."""
        names = {cell_text(self.values[name]): name for name in self.names}
        known, meant = Names(names), dict[str, str | None]()
        for text in checked:
            name = known.meant(text)
            none = text.strip() in ("", NO_CLASS) and text not in names
            meant[text] = None if none else text if name is None else names[name]
        return meant

    def with_checked(self, checked: Iterable[str]) -> Classes:
        """Return the classes with those at the end that only checked rows have, given as text."""
        known = Names(cell_text(self.values[name]) for name in self.names)
        kinds = {type(value) for value in self.values.values()}
        allowed = kinds | {int} if float in kinds else kinds
        new: dict[str, Hashable] = {}
        for text in sorted(set(checked)):
            if text.strip() in ("", NO_CLASS) or known.meant(text) is not None:
                continue
            value = text if str in kinds else _parsed(text)
            if type(value) not in allowed:
                raise LopsError(
                    f"a row is checked as {text!r:.80}, and the labels are of type "
                    f"{listed(sorted(kind.__name__ for kind in kinds), 3)}; wanted one of them, or "
                    f"{NO_CLASS} if no class fits"
                )
            new[text] = value
            known.add(text)
        return replace(
            self,
            names=(*self.names, *new),
            counts=np.append(self.counts, np.zeros(len(new), dtype=np.int64)),
            values={**self.values, **new},
        )

    @cached_property
    def _by_number(self) -> dict[str, str]:
        return {whole(name): name for name in self.names}


def read_classes(tally: Tally, columns: Columns) -> Classes:
    """Return the classes of the whole table."""
    if not tally.rows:
        raise LopsError("the table has no rows; wanted rows of at least two classes")
    gone = no_classes(tally.labels[1:], columns.abstain, soft=bool(columns.soft_labels))
    numbers = [i for i, label in enumerate(tally.labels) if i and label not in gone]
    absent = [NONE, *(i for i, label in enumerate(tally.labels) if i and label in gone)]
    check(tally, numbers, columns)
    names, about = _names(tally, numbers, columns)
    counts: Counter[str] = Counter()
    values: dict[str, Hashable] = {}
    of_labels: Counter[str] = Counter()
    for number, name in names.items():
        label = tally.labels[number]
        counts[name] += int(tally.counts[number])
        of_labels[valid_text(str(label))] += int(tally.counts[number])
        values.setdefault(name, _value(label, name))
    if len(counts) < 2:
        raise LopsError(
            f"all {counts.total():,} rows have the label {next(iter(values.values()))!r}; wanted "
            "at least two classes"
        )
    n, k = counts.total(), len(counts)
    if n >= FEW and 2 * k > n:
        raise LopsError(
            f"found {k:,} different labels in {n:,} texts, such as "
            f"{str(tally.labels[numbers[0]])!r:.60}; wanted classes with many texts each: is this "
            "the label column?"
        )
    ordered = in_order(values)
    codes = {name: code for code, name in enumerate(ordered)}
    code_of = {tally.labels[number]: codes[name] for number, name in names.items()}
    rows = np.array([counts[name] for name in ordered], dtype=np.int64)
    notes = [*tally.notes, *about, *about_absent(tally, columns, absent)]
    problems = about_several(of_labels)
    if tally.words:
        spelt = listed((f"{word} ({n:,})" for word, n in sorted(tally.words.items())), SHOWN)
        give = typed("keep_na", True)
        problems.append(f"Read as no label: {spelt}. If one of them is a class, give {give}.")
    abstained = int(tally.counts[absent].sum())
    counted = (ordered, rows, code_of, values, of_labels, abstained)
    classes = Classes(*counted, notes, problems, about)
    _about_gold(tally, columns, classes, numbers)
    return classes


def _value(label: Hashable, name: str) -> Hashable:
    """Return a label as its class is written: 3 for 3.0 where the class is 3, as numbers or text.

    >>> _value(3.0, "3"), _value("Sports.", "sport"), _value(2.5, "2.5")
    (3, 'sport', 2.5)
    """
    if isinstance(label, str):
        whole_pairs = label.encode("utf-16-le", "surrogatepass").decode(
            "utf-16-le", "surrogatepass"
        )
        return whole_pairs if valid_text(label) == name else name
    is_whole = isinstance(label, float) and str(label) != name and whole(str(label)) == name
    return int(name) if is_whole else label


def _names(
    tally: Tally, numbers: Sequence[int], columns: Columns
) -> tuple[dict[int, str], list[str]]:
    names = {number: valid_text(str(tally.labels[number])) for number in numbers}
    if columns.classes is None:
        meant: Mapping[str, Hashable] = one_spelling(names.values())
    else:
        first = {name: number for number, name in names.items()}
        classes = {str(name): name for name in columns.classes}
        meant = nearest(list(first), list(classes), lambda name: tally.shown([first[name]]))
    of_labels = tally.votes if columns.votes else tally.counts
    pairs = [(name, int(of_labels[number])) for number, name in names.items()]
    others = sorted(
        (pair for pair in pairs if pair[0] != meant[pair[0]]), key=lambda one: (-one[1], one[0])
    )
    shown = listed((f"{name!r} as {meant[name]} ({n:,})" for name, n in others), SHOWN)
    about = [f"Read as classes: {shown}."] if others else []
    return {number: str(meant[name]) for number, name in names.items()}, about


def one_spelling(names: Collection[str]) -> dict[str, str]:
    """Return the class of each name: 3 and 3.0, as data frames write it beside blanks, are one.

    >>> one_spelling(["3", "3.0", "4.0"]), one_spelling(["3.0", "4.0"])
    ({'3': '3', '3.0': '3', '4.0': '4'}, {'3.0': '3.0', '4.0': '4.0'})
    >>> one_spelling(["3", "4.0", "4.1"])  # such as versions
    {'3': '3', '4.0': '4.0', '4.1': '4.1'}
    """
    plain = {name for name in names if is_whole(name)}
    every = bool(plain) and all(is_whole(whole(name)) for name in names)
    return {name: whole(name) if every or whole(name) in plain else name for name in names}


def _about_gold(tally: Tally, columns: Columns, classes: Classes, numbers: Sequence[int]) -> None:
    if columns.gold is None:
        return
    rows, with_gold = int(tally.counts[numbers].sum()), int(tally.with_gold[numbers].sum())
    if not with_gold:
        raise LopsError(
            f"none of the {rows} rows has a gold label in column {columns.gold!r}; "
            f"fill in some, or leave out {typed('gold')}"
        )
    true: Counter[str] = Counter()
    known = set(numbers)
    for (number, label), count in tally.gold.items():
        if number in known:
            true[classes.gold_name(label)] += count
    others = {name: count for name, count in true.most_common() if name not in classes.names}
    if len(others) == len(true):
        gold, names = listed(map(repr, others), SHOWN), listed(map(repr, classes.names), SHOWN)
        raise LopsError(
            f"the gold labels in column {columns.gold!r} are {gold}, and the classes are "
            f"{names}; wanted the same names in both columns: check {typed('gold')}, or rename them"
        )
    if others:
        shown = [f"{name!r} ({rows_of(count)})" for name, count in others.items()]
        classes.problems.append(
            f"Never predicted: {listed(shown, SHOWN)}, a gold label that is no row's label."
        )
    if with_gold < rows:
        classes.notes.append(
            f"{with_gold:,} of {rows:,} rows have a gold label; noise is measured on these."
        )


def _parsed(text: str) -> Any:
    """Return a text as a number, or whatever else it is in JSON; None for NaN and Infinity."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return text


def in_order(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of classes in the order of their values: numbers by size.

    >>> in_order({"10": 10, "9": 9}), in_order({"b": "b", "a": "a"})
    (('9', '10'), ('a', 'b'))
    """
    try:
        return tuple(sorted(values, key=lambda name: values[name]))
    except TypeError:  # objects without an order
        return tuple(sorted(values, key=lambda name: repr(values[name])))
