"""Reads texts from lists, arrays or columns, and refuses unusable ones."""

from collections.abc import Sequence
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.formats.cells import is_missing
from lops_adapters.labels.given import is_flat
from lops_adapters.texts.copies import positions

_BYTES = 100  # per text and class, at the peak of a selection, as measured


def read_texts(texts: Sequence[str]) -> list[str]:
    """Return texts as a list; a missing one (None, NaN) is empty, as in a file.

    Raises a LopsError about no flat sequence, no text, or values that are no strings.
    """
    if hasattr(texts, "columns") or hasattr(texts, "column_names"):
        raise LopsError(
            f"texts are a {type(texts).__name__}, a whole table; give two of its columns, or use "
            "lops_adapters.integrations.frames.select_frame(table, text=..., label=...)"
        )
    if not is_flat(texts):
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


def free_memory() -> int | None:
    """Return the bytes of memory that programs can still have; None: unknown."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return None
    sizes = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else None
