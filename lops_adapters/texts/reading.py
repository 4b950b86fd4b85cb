"""Texts and labels as they come, in lists, arrays or columns, read and refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import is_unlabelled

SEVERAL = 20  # texts; with fewer, hardly anything looks odd
SHOWN = 5  # positions named in a message


def read_texts(texts: Sequence[str]) -> list[str]:
    """Return texts as a list, or raise a LopsError that names the positions of what is no text."""
    if isinstance(texts, str | Set | Mapping) or getattr(texts, "ndim", 1) != 1:
        raise LopsError(
            f"texts are one {type(texts).__name__}; wanted a flat sequence of strings, such as a list or one column of a table"
        )
    read = list(texts)
    bad = [position for position, text in enumerate(read) if not isinstance(text, str)]
    if bad:
        raise LopsError(
            f"{len(bad)} of {len(read)} texts are no strings, at {_positions(bad)} (the first is {read[bad[0]]!r:.60}); "
            "fill them in, or leave these rows out"
        )
    return read


def read_labels(labels: Sequence[Hashable]) -> list[Hashable]:
    """Return labels as a list of plain values, or raise a LopsError that names the positions of
    missing ones.
    """
    if isinstance(labels, str | Set | Mapping) or getattr(labels, "ndim", 1) != 1:
        raise LopsError(
            f"labels are one {type(labels).__name__}; wanted a flat sequence of class names, one a text"
        )
    read: list[Hashable] = list(labels.tolist() if hasattr(labels, "tolist") else labels)
    if any(isinstance(label, list | dict | set | np.ndarray) for label in read):
        raise LopsError(
            "labels hold lists; wanted one class name a text (for several labels a text, select for each class by itself)"
        )
    bad = [position for position, label in enumerate(read) if is_unlabelled(label)]
    if bad:
        raise LopsError(
            f"{len(bad)} of {len(read)} labels are missing, at {_positions(bad)}; leave these rows out: only labelled texts can be selected"
        )
    examples = {type(label).__name__: label for label in reversed(read)}
    if len(examples) > 1:
        found = ", ".join(f"{name} such as {label!r}" for name, label in sorted(examples.items()))
        raise LopsError(
            f"labels are of several types ({found}); make all of them strings, or all numbers"
        )
    counts = Counter(read)
    if len(counts) == 1:
        raise LopsError(
            f"all {len(read)} labels are {read[0]!r}; wanted at least two classes: a probe learns to tell them apart"
        )
    if len(read) >= SEVERAL and 2 * len(counts) > len(read):
        raise LopsError(
            f"found {len(counts)} different labels in {len(read)} texts, such as {str(read[0])!r:.60}; wanted classes that many texts "
            "share: are these the labels?"
        )
    return read


def _positions(positions: list[int]) -> str:
    shown = ", ".join(map(str, positions[:SHOWN]))
    return f"position{'s' if len(positions) > 1 else ''} {shown}" + (
        f" and {len(positions) - SHOWN} more" if len(positions) > SHOWN else ""
    )
