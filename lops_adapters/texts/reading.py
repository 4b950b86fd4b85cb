"""Reads texts and labels from lists, arrays or columns, and refuses unusable ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set

from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import is_unlabelled

SEVERAL = 20  # texts; with fewer, hardly anything looks odd
SHOWN = 5  # positions named in a message


def read_texts(texts: Sequence[str]) -> list[str]:
    """Return texts as a list; a LopsError names the positions that hold no text."""
    if not _is_flat(texts):
        raise LopsError(
            f"texts are one {type(texts).__name__}; wanted a flat sequence of strings, such as a "
            "list or one column of a table"
        )
    read = list(texts)
    bad = [position for position, text in enumerate(read) if not isinstance(text, str)]
    if bad:
        raise LopsError(
            f"{len(bad)} of {len(read)} texts are not strings, at {_positions(bad)} (the first is "
            f"{read[bad[0]]!r:.60}); fill them in, or leave these rows out"
        )
    return read


def read_labels(labels: Sequence[Hashable]) -> list[Hashable]:
    """Return labels as a list of plain values; a LopsError names the positions of missing ones."""
    if not _is_flat(labels):
        raise LopsError(
            f"labels are one {type(labels).__name__}; wanted a flat sequence of class names, one "
            "per text"
        )
    read: list[Hashable] = list(labels.tolist() if hasattr(labels, "tolist") else labels)
    odd = next((label for label in read if not _is_name(label)), None)
    if odd is not None:
        raise LopsError(
            f"labels hold a {type(odd).__name__}; wanted one class name per text (for several "
            "labels per text, select for each class separately)"
        )
    bad = [position for position, label in enumerate(read) if is_unlabelled(label)]
    if bad:
        raise LopsError(
            f"{len(bad)} of {len(read)} labels are missing, at {_positions(bad)}; leave these rows "
            "out: only labelled texts can be selected"
        )
    _check_types(read)
    _check_classes(read)
    return read


def _is_flat(values: object) -> bool:
    if isinstance(values, str | bytes | Set | Mapping | type) or not hasattr(values, "__iter__"):
        return False
    return bool(getattr(values, "ndim", 1) == 1)


def _is_name(label: object) -> bool:
    try:
        hash(label)
    except TypeError:  # a list, a dict, or a tuple that holds one
        return False
    return True


def _check_types(labels: list[Hashable]) -> None:
    examples = {type(label).__name__: label for label in reversed(labels)}
    if len(examples) > 1:
        found = ", ".join(f"{name} such as {label!r}" for name, label in sorted(examples.items()))
        raise LopsError(
            f"labels are of several types ({found}); make all of them strings, or all numbers"
        )


def _check_classes(labels: list[Hashable]) -> None:
    n, k = len(labels), len(Counter(labels))
    if k == 1:
        raise LopsError(
            f"all {n} labels are {labels[0]!r}; wanted at least two classes for a probe to tell "
            "apart"
        )
    if n >= SEVERAL and 2 * k > n:
        raise LopsError(
            f"found {k} different labels in {n} texts, such as {str(labels[0])!r:.60}; wanted "
            "classes with many texts each: is this the label column?"
        )


def _positions(positions: list[int]) -> str:
    shown = ", ".join(map(str, positions[:SHOWN]))
    more = f" and {len(positions) - SHOWN} more" if len(positions) > SHOWN else ""
    return f"position{'s' if len(positions) > 1 else ''} {shown}{more}"
