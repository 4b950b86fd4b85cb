"""Reads texts and labels from lists, arrays or columns, and refuses unusable ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.formats.cells import is_missing, single
from lops_adapters.texts.abstentions import abstaining, named
from lops_adapters.texts.copies import positions
from lops_adapters.texts.multiple import check_single

SEVERAL = 20  # texts; with fewer, hardly anything looks odd
_BYTES = 100  # per text and class, at the peak of a selection, as measured


def read_texts(texts: Sequence[str]) -> list[str]:
    """Return texts as a list; a missing one (None, NaN) is empty, as in a file.

    Raises:
        LopsError: no flat sequence, no text, or values that are not strings; it names their
            positions.

    """
    if hasattr(texts, "columns") or hasattr(texts, "column_names"):
        raise LopsError(
            f"texts are a {type(texts).__name__}, a whole table; give two of its columns, or use "
            "lops_adapters.integrations.frames.select_frame(table, text=..., label=...)"
        )
    if not _is_flat(texts):
        raise LopsError(
            f"texts are one {type(texts).__name__}; wanted a flat sequence of strings, such as a "
            "list or one column of a table"
        )
    # pandas.NA is no float, and comparing it with itself is no answer.
    read = ["" if is_missing(one) or type(one).__name__ == "NAType" else one for one in texts]
    bad = [position for position, text in enumerate(read) if not isinstance(text, str)]
    if bad:
        raise LopsError(
            f"{len(bad)} of {len(read)} texts are not strings, at {positions(bad)} (the first is "
            f"{read[bad[0]]!r:.60}); fill them in, or leave these rows out"
        )
    if read and not any(map(str.strip, read)):
        raise LopsError(f"all {len(read)} texts are empty; is this the column of texts?")
    return read


def read_labels(labels: Sequence[Hashable], abstain: Any = None) -> tuple[list[Any], np.ndarray]:
    """Return labels as a list of n plain values, and which of them are a class, (n,) bool.

    Args:
        labels: as the user gave them.
        abstain: see :func:`lops_adapters.select`.

    Raises:
        LopsError: no flat sequence of names, no labels, labels of several types, one class only, or
            nearly as many classes as labels.

    """
    read: list[Hashable] = [
        single(label) for label in flat_list(labels, "labels", "class names, one per text")
    ]
    check_names(read)
    labelled = ~abstaining(read, named(abstain))
    classes = Counter(read[i] for i in np.flatnonzero(labelled).tolist())
    n, k = sum(classes.values()), len(classes)
    if not n:
        raise LopsError(f"none of the {len(read)} labels is a class; wanted at least two classes")
    check_single(classes)
    examples = {type(read[i]).__name__: read[i] for i in np.flatnonzero(labelled)[::-1].tolist()}
    if len(examples) > 1:
        shown = ", ".join(f"{name} such as {label!r}" for name, label in sorted(examples.items()))
        raise LopsError(
            f"labels are of several types ({shown}); make all of them strings, or all numbers"
        )
    first = next(iter(classes))
    if k == 1:
        raise LopsError(
            f"all {n} labels are {first!r}; wanted at least two classes for a probe to tell apart"
        )
    if n >= SEVERAL and 2 * k > n:
        raise LopsError(
            f"found {k} different labels in {n} texts, such as {str(first)!r:.60}; wanted "
            "classes with many texts each: is this the label column?"
        )
    return read, labelled


def flat_list(values: Any, name: str, wanted: str) -> list[Any]:
    """Return the values of a list, array or column as plain ones of Python; LopsError: no such.

    >>> flat_list(np.array([1, 2]), "labels", "codes")
    [1, 2]
    """
    if not _is_flat(values):
        raise LopsError(
            f"{name} are one {type(values).__name__}; wanted a flat sequence of {wanted}"
        )
    return [plain_value(one) for one in (values.tolist() if hasattr(values, "tolist") else values)]


def plain_value(value: Any) -> Any:
    """Return a number or text of numpy or pyarrow as one of Python; others as they are."""
    if isinstance(value, np.generic):
        return value.item()
    return value.as_py() if hasattr(value, "as_py") else value


def check_names(labels: Sequence[Any]) -> None:
    """Raise a LopsError about a label that is no name, such as a list."""
    odd = next((label for label in labels if not _is_name(label)), None)
    if odd is not None:
        raise LopsError(f"labels hold a {type(odd).__name__}; wanted one class name per text")


def check_memory(n: int, n_classes: int) -> None:
    """Raise a LopsError if the probabilities of n texts and their classes exceed the memory.

    >>> check_memory(1000, 10)
    """
    needed, free = n * n_classes * _BYTES, free_memory()
    if free is not None and needed > free:
        raise LopsError(
            f"{n:,} texts of {n_classes:,} classes take about {needed / 1e9:.1f} GB of memory, and "
            f"{free / 1e9:.1f} GB are free; select among fewer classes or texts at a time"
        )


def read_groups(groups: Any, n: int) -> list[str | None] | None:
    """Return the names of groups of n texts, None: missing; or None: there are no groups.

    Raises:
        LopsError: no flat sequence, or another number of groups than texts.

    """
    if groups is None:
        return None
    names = flat_list(groups, "groups", "names, one per text")
    if len(names) != n:
        raise LopsError(f"found {len(names)} groups and {n} texts; wanted one group per text")
    missing = abstaining(names, frozenset()).tolist()
    return [None if gone else str(name) for name, gone in zip(names, missing, strict=True)]


def group_codes(
    groups: Any, n: int, rows: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return :class:`Groups` codes of (m,) sorted rows among n, and of the others; or None twice.

    >>> [codes.tolist() for codes in group_codes(["b", None, "a", "b"], 4, np.array([0, 1]))]
    [[0, 1], [-1, 0]]
    """
    names = read_groups(groups, n)
    if names is None:
        return None, None
    known = Groups([names[i] for i in rows.tolist()])
    others = np.setdiff1d(np.arange(n), rows)
    return known.codes, known.of([names[i] for i in others.tolist()])


class Groups:
    """Codes of the groups of m rows; can be pickled.

    Args:
        names: m names; a missing one is a group of its own.

    Attributes:
        codes: (m,) int64.

    >>> groups = Groups(["b", None, "a", "b", None])
    >>> groups.codes.tolist(), groups.of(["a", "c", None, "b"]).tolist()
    ([1, 2, 0, 1, 3], [0, -1, -1, 1])
    """

    def __init__(self, names: Sequence[str | None]) -> None:
        known = sorted({name for name in names if name is not None})
        self._code_of = {name: code for code, name in enumerate(known)}
        self.codes = self.of(names)
        missing = np.flatnonzero(self.codes < 0)
        self.codes[missing] = np.arange(len(missing)) + len(known)

    def of(self, names: Sequence[str | None]) -> np.ndarray:
        """Return the codes of further rows, (n,) int64; -1: a missing or another name."""
        codes = (-1 if name is None else self._code_of.get(name, -1) for name in names)
        return np.fromiter(codes, dtype=np.int64, count=len(names))


def free_memory() -> int | None:
    """Return the bytes of memory that programs can still have; None: unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return None
    sizes = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None


def _is_flat(values: object) -> bool:
    if isinstance(values, str | bytes | Set | Mapping | type) or not hasattr(values, "__iter__"):
        return False
    return bool(getattr(values, "ndim", 1) == 1)


def _is_name(label: object) -> bool:
    """Return whether a label can be looked up and compared."""
    if isinstance(label, str | int | float | None):
        return True
    try:
        hash(label)
        bool(label == label)  # noqa: PLR0124
    except Exception:  # a list, a dict, or an object with a comparison of its own
        return type(label).__name__ == "NAType"  # of pandas: a missing label
    return True
