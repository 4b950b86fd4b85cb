"""The labels of a table that is read block by block: counted, checked, then numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import is_unlabelled, valid_text
from lops_adapters.formats.places import SHOWN, Place, rows_of, shown_places
from lops_adapters.selection.canonical import name_keys
from lops_adapters.tables.columns import Wanted
from lops_adapters.texts.abstentions import minus_one
from lops_adapters.texts.multiple import about_several, check_single
from lops_adapters.texts.near_classes import about_nearest, nearest
from lops_adapters.texts.totals import NO_GOLD, OTHER_GOLD

MOST = 100_000  # different labels


@dataclass
class Labels:
    """The different labels of a column, with the number of their rows.

    Attributes:
        unit: of the numbers of rows: line or row.
        paths: of the files; messages name the file if there are several.
        counts: label -> rows; without missing labels.
        missing: rows without a label.
        gold: label -> rows that also have a gold label.
        true: gold label -> rows with it.
        words: NULL, N/A and such -> missing labels that are spelt so.
        notes: sentences about how the files are read.
        first: (type, label) -> its first row. 1 and 1.0 are two entries.
        answers: label that is not spelt like a class -> its first rows.
        absent: label that may be no class, None for a missing one -> its first rows, with their
            positions in the table.

    """

    unit: str = "row"
    paths: set[Path] = field(default_factory=set)
    counts: dict[Hashable, int] = field(default_factory=dict)
    missing: int = 0
    gold: Counter[Hashable] = field(default_factory=Counter)
    true: Counter[Hashable] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    first: dict[tuple[type, Hashable], Place] = field(default_factory=dict)
    answers: dict[Hashable, list[Place]] = field(default_factory=dict)
    absent: dict[Hashable, list[tuple[int, Place]]] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """All rows."""
        return self.missing + sum(self.counts.values())

    def add(self, label: Any, path: Path, number: int) -> bool:
        """Count the label of a row and return whether there is one.

        Raises:
            LopsError: a list or an object, or very many different labels.

        """
        if isinstance(label, list | dict):
            raise LopsError(
                f"{path}, {self.unit} {number}: the label is {label!r:.60}, which holds several "
                "classes or none; wanted one class name per row"
            )
        known = self.counts.get(label)
        if known is not None and (type(label), label) in self.first:
            self.counts[label] = known + 1
            return True
        if is_unlabelled(label):
            self.missing += 1
            return False
        self.counts[label] = 1 + (known or 0)
        self.first.setdefault((type(label), label), (path, number))
        if len(self.counts) > MOST:
            raise LopsError(
                f"found more than {MOST:,} different labels, such as {label!r:.60}; check --label"
            )
        return True

    def note_voted(self, votes: Sequence[Any], path: Path, numbers: Sequence[int]) -> None:
        """Note labels that a source votes for; they are classes even if no row gets them."""
        for label in dict.fromkeys(vote for vote in votes if not isinstance(vote, list | dict)):
            if not is_unlabelled(label):
                self.counts.setdefault(label, 0)
                if (type(label), label) not in self.first:
                    self.first[type(label), label] = path, numbers[votes.index(label)]
        odd = next((i for i, vote in enumerate(votes) if isinstance(vote, list | dict)), None)
        if odd is not None:
            raise LopsError(
                f"{path}, {self.unit} {numbers[odd]}: the vote is {votes[odd]!r:.60}; wanted one "
                "class name"
            )

    def add_gold(self, label: Hashable, true: Hashable) -> None:
        """Count the gold label of a row."""
        self.gold[label] += 1
        if len(self.true) < MOST:
            self.true[true] += 1

    def note_answer(self, label: Hashable, place: Place) -> None:
        """Note where a label stands that is not spelt like a class."""
        places = self.answers.setdefault(label, [])
        if len(places) < SHOWN:
            places.append(place)

    def note_absent(self, label: Hashable, position: int, path: Path, number: int) -> None:
        """Note where a row stands that may have no class."""
        places = self.absent.setdefault(label, [])
        if len(places) < SHOWN:
            places.append((position, (path, number)))

    def join(self, later: Labels) -> None:
        """Add the counts of rows that follow."""
        before = self.rows
        for label, count in later.counts.items():
            self.counts[label] = self.counts.get(label, 0) + count
        self.missing += later.missing
        self.paths |= later.paths
        self.unit = later.unit if later.paths else self.unit
        self.gold.update(later.gold)
        self.true.update(later.true)
        self.words.update(later.words)
        self.notes = self.notes or later.notes
        for typed, place in later.first.items():
            self.first.setdefault(typed, place)
        for label, shown in later.answers.items():
            for place in shown:
                self.note_answer(label, place)
        for label, places in later.absent.items():
            for position, (path, number) in places:
                self.note_absent(label, before + position, path, number)

    def shown(self, places: Sequence[Place], count: int) -> str:
        """Return the places of ``count`` rows for a message, the first of them."""
        return shown_places(places, self.unit, count, len(self.paths) > 1)

    def numbered(self, wanted: Wanted) -> Classes:
        """Return the classes of the whole table.

        Raises:
            LopsError: no labels or gold labels, labels of several types, or one class only.

        """
        if not self.rows:
            raise LopsError("the table has no rows; wanted rows of at least two classes")
        gone = self._gone(wanted)
        label_counts = {label: count for label, count in self.counts.items() if label not in gone}
        if not label_counts:
            what = f"label in column {wanted.label!r}; check --label"
            if wanted.soft:
                what = "largest soft label: all are ties or zero; check --soft-labels"
            raise LopsError(f"none of the {self.rows} rows has a {what}")
        kinds: dict[type, str] = {}
        for (kind, label), place in self.first.items():
            if label not in gone:
                shown = self.shown([place], 1)
                kinds.setdefault(kind, f"{kind.__name__} ({label!r} in {shown})")
        columns = (wanted.label,) if wanted.label is not None else (*wanted.votes, *wanted.soft)
        if len(kinds) > 1:
            raise LopsError(
                f"labels in {listed(map(repr, columns), 5)} have several types: "
                f"{', '.join(kinds.values())}; make them all strings or all numbers"
            )
        check_single(label_counts)
        names, said = self._names(list(label_counts), wanted)
        counts: dict[str, int] = {}
        for label, count in label_counts.items():
            counts[names[label]] = counts.get(names[label], 0) + count
        if len(counts) < 2:
            only = next(iter(label_counts))
            raise LopsError(
                f"all {counts[names[only]]} rows have the label {only!r}; wanted at least two "
                "classes"
            )
        values: dict[str, Hashable] = {}
        for label, name in names.items():
            is_text = wanted.classes is not None and isinstance(label, str)
            values.setdefault(name, name if is_text else label)
        ordered = tuple(sorted(counts))
        numbers = np.array([counts[name] for name in ordered], dtype=np.int64)
        abstained = self.missing + sum(self.counts[label] for label in gone)
        notes = [*self.notes, *said, *self._about_absent(wanted, gone)]
        problems = [*about_several(label_counts), *self._about_words()]
        classes = Classes(ordered, numbers, names, values, abstained, notes, problems)
        self._about_gold(wanted, classes)
        return classes

    def _names(
        self, labels: Sequence[Hashable], wanted: Wanted
    ) -> tuple[dict[Hashable, str], list[str]]:
        """Return the class of each label, and a sentence about labels that nearly name one."""
        names = {label: valid_text(str(label)) for label in labels}
        if wanted.classes is None:
            return names, []
        counts = {label: self.counts[label] for label in labels}
        counts_of = {names[label]: count for label, count in counts.items()}
        places = {
            names[label]: self.answers.get(label, [place])
            for (_, label), place in self.first.items()
            if label in names
        }
        meant = nearest(
            [names[label] for label in labels],
            wanted.classes,
            lambda name: self.shown(places[name], counts_of[name]),
        )
        meaning = {label: str(meant[name]) for label, name in names.items()}
        return meaning, about_nearest(names.values(), meant, list(counts.values()))

    def _about_absent(self, wanted: Wanted, gone: set[Hashable]) -> list[str]:
        """Return a sentence about rows without a class, if any."""
        count = self.missing + sum(self.counts[label] for label in gone)
        if not count:
            return []
        places = sorted(one for label in (None, *gone) for one in self.absent.get(label, ()))
        shown = self.shown([one for _, one in places], count)
        why = "Without a label"
        if wanted.soft or wanted.votes:
            why = "Without a largest soft label" if wanted.soft else "Without a vote"
        said = f"{why}: {rows_of(count)} ({shown}), neither kept nor rejected."
        if gone and wanted.abstain is None:
            said += " -1 counts as no label; if it is a class, give --abstain ''."
        return [said]

    def _about_words(self) -> list[str]:
        """Return a sentence about missing labels that are words, if any."""
        if not self.words:
            return []
        spelt = listed((f"{word} ({n:,})" for word, n in sorted(self.words.items())), SHOWN)
        return [f"Read as no label: {spelt}. If one of them is a class, give --keep-na."]

    def _about_gold(self, wanted: Wanted, classes: Classes) -> None:
        """Add sentences about gold labels that are missing or no class.

        Raises:
            LopsError: no row has a gold label, or none of them is a class.

        """
        if wanted.gold is None:
            return
        rows, judged = 0, 0
        for label in classes.name_of:
            rows, judged = rows + self.counts[label], judged + self.gold[label]
        if not judged:
            raise LopsError(
                f"none of the {rows} rows has a gold label in column {wanted.gold!r}; "
                "fill in some, or leave out --gold"
            )
        true: Counter[str] = Counter()
        for label, count in self.true.items():
            true[classes.gold_name(label)] += count
        others = {name: count for name, count in true.most_common() if name not in classes.names}
        if len(others) == len(true):
            gold, known = listed(map(repr, others), SHOWN), listed(map(repr, classes.names), SHOWN)
            raise LopsError(
                f"the gold labels in column {wanted.gold!r} are {gold}, and the classes are "
                f"{known}; wanted the same names in both columns: check --gold, or rename them"
            )
        if others:
            shown = [f"{name!r} ({rows_of(count)})" for name, count in others.items()]
            classes.problems.append(
                f"Never predicted: {listed(shown, SHOWN)}, a gold label that is no row's label."
            )
        if judged < rows:
            classes.notes.append(
                f"{judged:,} of {rows:,} rows have a gold label; noise is measured on these."
            )

    def _gone(self, wanted: Wanted) -> set[Hashable]:
        """Return the labels that are no class; see :mod:`lops_adapters.texts.abstentions`."""
        if wanted.soft:
            return set()
        if wanted.abstain is None:
            return set(minus_one(set(self.counts)))
        return set(filter(wanted.is_named, self.counts))


@dataclass(frozen=True)
class Classes:
    """The classes of a table; can be pickled.

    Attributes:
        names: k names, sorted; their places are the codes.
        counts: (k,) int64 rows.
        name_of: label as in the table -> name.
        values: name -> label as in the table.
        abstained: rows without a class.
        notes: sentences about rows without a class or a gold label.
        problems: sentences about labels that are probably not meant so.

    """

    names: tuple[str, ...]
    counts: np.ndarray
    name_of: dict[Hashable, str]
    values: dict[str, Hashable]
    abstained: int
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the (m,) int64 codes of labels as in the table; -1: no class."""
        place = {name: code for code, name in enumerate(self.names)}
        code_of = {label: place[name] for label, name in self.name_of.items()}
        return np.fromiter((code_of.get(label, -1) for label in labels), np.int64, len(labels))

    def gold_codes(self, labels: Sequence[Any]) -> np.ndarray:
        """Return the (m,) int64 codes of gold labels, see :class:`~lops_adapters.texts.totals`."""
        place = {name: code for code, name in enumerate(self.names)}
        codes = (
            NO_GOLD if is_unlabelled(label) else place.get(self.gold_name(label), OTHER_GOLD)
            for label in labels
        )
        return np.fromiter(codes, np.int64, len(labels))

    def gold_name(self, label: Any) -> str:
        """Return the name of a gold label; one equal to a label (1.0 and 1) gets its name."""
        return self.name_of.get(label, valid_text(str(label)))

    def settled(self, wanted: Wanted) -> Wanted:
        """Return what is wanted, with the rule about -1 decided, so that no part has to."""
        if wanted.abstain is not None:
            return wanted
        is_class = any(minus_one({label, 0, 1}) for label in self.name_of)
        return replace(wanted, abstain=() if is_class else ("-1",))

    def rows_by_key(self) -> dict[int, int]:
        """Return the hash of each name -> its rows."""
        return dict(zip(self.keys().tolist(), self.counts.tolist(), strict=True))

    def keys(self) -> np.ndarray:
        """Return (k,) uint64 hashes of the names."""
        return name_keys(self.names)
