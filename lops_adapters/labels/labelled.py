"""What is known about the labels of samples, read once: the only form from here on."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np

from lops_adapters.console import listed
from lops_adapters.core import LopsError, read_pseudo_labels
from lops_adapters.formats.cells import Names, cell_text, is_unlabelled
from lops_adapters.formats.places import rows_of
from lops_adapters.labels.votes import Votes


@dataclass(frozen=True)
class Labelled:
    """Samples with what is known about their labels.

    Attributes:
        samples: n of them.
        codes: (n,) int64 places among the classes; -1: no label.
        classes: k labels as they were given, in the order of their codes.
        votes: of label sources; None: each sample has one label.
        groups: (n,) int64 codes; samples of a group do not score each other; None: no groups.
        copies: (n,) int64 codes of the texts, copies share one; None: no copies, or not looked for.
        checked: position -> code of the label by a person, -1: none of the classes; -2 - place: one
            of the others.
        others: classes that only a person names, the label of no sample.
        places: (n,) int64, positions in what the samples were cut from; None: nothing was cut.
    """

    samples: Any
    codes: np.ndarray
    classes: Sequence[Hashable]
    votes: Votes | None = None
    groups: np.ndarray | None = None
    checked: Mapping[int, int] = field(default_factory=dict)
    places: Any = None
    others: Sequence[Hashable] = ()
    copies: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        samples: Any,
        pseudo_labels: Any,
        *,
        votes: Votes | None = None,
        groups: np.ndarray | None = None,
        checked: Mapping[int, Hashable | None] = MappingProxyType({}),
        known: bool = True,
    ) -> Labelled:
        """Read pseudo-labels, one per sample, as a framework has them.

        Args:
            samples: n of them.
            pseudo_labels: n hashable class names; the classes are the sorted distinct ones.
            votes, groups: see :class:`Labelled`.
            checked: position -> label by a person, None: none of the classes.
            known: refuse a checked label that no sample has; else it counts as no class.

        Raises:
            LopsError: no pseudo-label per sample, and checked rows or labels that are not there.

        >>> Labelled.of(["a", "b"], ["y", "x"]).codes.tolist()
        [1, 0]
        """
        n = len(samples)
        if n != len(pseudo_labels):
            raise LopsError(
                f"found {n} samples and {len(pseudo_labels)} pseudo-labels; wanted one per sample"
            )
        classes, codes = read_pseudo_labels(pseudo_labels)
        code_of = {None: -1, **{label: code for code, label in enumerate(classes)}}
        for position, label in checked.items():
            if not 0 <= position < n:
                raise LopsError(
                    f"checked holds the position {position} for {n} samples; wanted positions from "
                    f"0 to {n - 1}"
                )
            if known and label not in code_of:
                raise LopsError(
                    f"checked holds {label!r:.80}, a label that no sample has; wanted None or a "
                    "label of the samples"
                )
        checks = {position: code_of.get(label, -1) for position, label in checked.items()}
        return cls(samples, codes.astype(np.int64), classes, votes, groups, checks)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def labels(self) -> list[Hashable | None]:
        """The n labels as they were given; None: no label."""
        values = [*self.classes, None]
        return [values[code] for code in self.codes.tolist()]

    @property
    def checked_labels(self) -> dict[int, Hashable | None]:
        """Position -> the label by a person; None: none of the classes."""
        values = [*self.classes, *reversed(self.others), None]
        return {row: values[code] for row, code in self.checked.items()}

    def at(self, rows: np.ndarray) -> Labelled:
        """Return the samples at (m,) int64 distinct positions, in this order."""
        new = np.full(len(self.codes), -1, dtype=np.int64)
        new[rows] = np.arange(len(rows))
        checked = {int(new[row]): code for row, code in self.checked.items() if new[row] >= 0}
        return replace(
            self,
            samples=taken(self.samples, rows),
            codes=self.codes[rows],
            votes=None if self.votes is None else self.votes.at(rows),
            groups=None if self.groups is None else self.groups[rows],
            copies=None if self.copies is None else self.copies[rows],
            checked=checked,
            places=rows if self.places is None else self.places[rows],
        )

    def with_label(self) -> Labelled:
        """Return the samples that have a label, with the classes that are one's label.

        >>> some = Labelled(["a", "b", "c"], np.array([2, -1, 0]), ["x", "y", "z"])
        >>> known = some.with_label()
        >>> known.samples, known.codes.tolist(), known.classes, known.places.tolist()
        (['a', 'c'], [1, 0], ['x', 'z'], [0, 2])
        """
        known = self.at(np.flatnonzero(self.codes >= 0))
        present = np.unique(known.codes)
        new = np.full(len(self.classes) + 1, -1, dtype=np.int64)
        new[present] = np.arange(len(present))
        return replace(
            known,
            codes=new[known.codes],
            classes=[self.classes[code] for code in present.tolist()],
            checked={
                row: code if code < 0 else int(new[code]) for row, code in known.checked.items()
            },
        )


def taken(rows: Any, order: np.ndarray) -> Any:
    """Return the rows of an array, list, tuple or column at (m,) positions."""
    if isinstance(rows, np.ndarray):
        return rows[order]
    listed = rows.tolist() if hasattr(rows, "iloc") else rows  # a column is indexed by its index
    return [listed[i] for i in order.tolist()]


def codes_among(labels: Any, classes: Sequence[Hashable]) -> np.ndarray:
    """Return the (n,) int64 codes of labels; LopsError: one is none of the classes.

    >>> codes_among(["b", "a", "b"], ["a", "b"]).tolist()
    [1, 0, 1]
    """
    code_of = {label: code for code, label in enumerate(classes)}
    named = labels.tolist() if hasattr(labels, "tolist") else labels
    codes = np.fromiter((code_of.get(label, -1) for label in named), np.int64, len(named))
    if codes.min(initial=0) < 0:
        i = int(codes.argmin())
        raise LopsError(
            f"label {named[i]!r:.80} at position {i} is no class; wanted one of "
            f"{listed(map(repr, classes), 5)}"
        )
    return codes


class Groups:
    """Codes of the groups of n rows; can be pickled.

    Args:
        names: n names or values that name a group; a missing one is a group of its own.

    Attributes:
        codes: (n,) int64.

    >>> groups = Groups(["b", None, "a", "b", float("nan")])
    >>> groups.codes.tolist(), groups.of(["a", "c", None, "b"]).tolist()
    ([1, 2, 0, 1, 3], [0, -1, -1, 1])
    """

    def __init__(self, names: Sequence[Any]) -> None:
        known = sorted({str(name) for name in names if not is_unlabelled(name)})
        self._code_of = {name: code for code, name in enumerate(known)}
        self.codes = self.of(names)
        missing = np.flatnonzero(self.codes < 0)
        self.codes[missing] = np.arange(len(missing)) + len(known)

    def of(self, names: Sequence[Any]) -> np.ndarray:
        """Return the codes of further rows, (m,) int64; -1: a missing or another name."""
        codes = (-1 if is_unlabelled(one) else self._code_of.get(str(one), -1) for one in names)
        return np.fromiter(codes, dtype=np.int64, count=len(names))


def with_checked(
    labelled: Labelled, checked: Any, where: Callable[[Sequence[int]], str]
) -> Labelled:
    """Return samples with what a person says of some.

    Args:
        labelled: n samples.
        checked: position -> label by a person, None: none of the classes; or None: no checked rows.
        where: names samples, given their positions, in a LopsError about no mapping, a position
            outside the samples, a sample without a label, or a label of another type.
    """
    if checked is None:
        return labelled
    codes = labelled.codes
    occur = np.unique(codes[codes >= 0]).tolist()
    checks, others = read_checks(checked, len(codes), [labelled.classes[i] for i in occur], where)
    for position in checks:
        if codes[position] < 0:
            raise LopsError(
                f"checked names {where([position])}, which has no label; leave it out, or give it "
                "a label first"
            )
    known = {row: code if code < 0 else occur[code] for row, code in checks.items()}
    return replace(labelled, checked=known, others=others)


def read_checks(
    checked: Any, n: int, classes: Sequence[Hashable], where: Callable[[Sequence[int]], str]
) -> tuple[dict[int, int], list[Hashable]]:
    """Return what a person says of some of n samples, and the classes that only a person names.

    A label is the class that it spells, see :class:`~lops_adapters.formats.cells.Names`, or a new
    one. Position -> its place among the classes; -1: none of them; -2 - place: of the others.

    Raises a LopsError about no mapping, a position outside the samples, or a label of another type.

    >>> read_checks({0: "A ", 1: None, 2: "c", 3: "C"}, 4, ["a", "b"], str)
    ({0: 0, 1: -1, 2: -2, 3: -2}, ['C'])
    """
    if not isinstance(checked, Mapping):
        raise LopsError(
            f"checked is {checked!r:.80}; wanted a dict, position of a text to its right label"
        )
    for position in checked:
        is_position = isinstance(position, Integral) and not isinstance(position, bool)
        if not is_position or not 0 <= position < n:
            raise LopsError(
                f"checked has the position {position!r:.40}; wanted one of 0 to {n - 1:,}"
            )
    names = {cell_text(label): code for code, label in enumerate(classes)}
    known = Names(names)
    kinds = {type(label) for label in classes}
    others: list[Hashable] = []
    codes: dict[Any, int] = {None: -1}
    for position, label in sorted(checked.items(), key=lambda one: str(one[1])):
        place = where([int(position)])
        if not isinstance(label, Hashable):
            raise LopsError(f"{place} is checked as {label!r:.80}; wanted a label, or None")
        if label not in codes:
            name = known.meant(cell_text(label))
            if name is None and not any(issubclass(type(label), kind) for kind in kinds):
                raise LopsError(
                    f"{place} is checked as {label!r:.80} ({type(label).__name__}), and the labels "
                    f"are of type {listed(sorted(kind.__name__ for kind in kinds), 3)}; wanted one "
                    "of the labels, a new one of their type, or None if no class fits"
                )
            if name is None:
                name = cell_text(label)
                others.append(label)
                names[name] = -1 - len(others)
                known.add(name)
            codes[label] = names[name]
    return {int(row): codes[label] for row, label in checked.items()}, others


def about_others(labelled: Labelled) -> list[str]:
    """Return a sentence about classes that only checked rows have; none without such a class."""
    if not labelled.others:
        return []
    rows, known = Counter(labelled.checked.values()), list(map(str, labelled.classes))
    shown = []
    for place, label in enumerate(labelled.others):
        near = difflib.get_close_matches(str(label), known, n=1)
        hint = f", nearly {near[0]!r}" if near and near[0] != str(label) else ""
        shown.append(f"{label!r:.80} ({rows_of(rows[-2 - place])}{hint})")
    return [f"Checked as a class that no row has as its label: {listed(shown, 5)}."]


def with_copies(labelled: Labelled) -> Labelled:
    """Return texts whose copies with the same label are also checked; vectors as they are.

    >>> import numpy as np
    >>> some = Labelled(["x", "x", "x", "y"], np.array([0, 0, 1, 0]), ["a", "b"], checked={0: 1})
    >>> with_copies(some).checked
    {0: 1, 1: 1}
    """
    if not labelled.checked or isinstance(labelled.samples, np.ndarray):
        return labelled
    samples, codes = labelled.samples, labelled.codes.tolist()
    by_content = {(samples[row], codes[row]): code for row, code in labelled.checked.items()}
    pairs = enumerate(zip(samples, codes, strict=True))
    return replace(
        labelled, checked={row: by_content[pair] for row, pair in pairs if pair in by_content}
    )
