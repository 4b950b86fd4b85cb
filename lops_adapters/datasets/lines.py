"""Text files of a data set: names, numbers and folders; errors name the line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.formats.lines import raw_lines


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn a system error about a path into a LopsError."""
    try:
        yield
    except UnicodeDecodeError as error:  # in Parquet
        raise LopsError(f"{path}: a text that is not UTF-8 ({error}); write it again") from None
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else path
        raise LopsError(
            f"{name}: cannot be read ({error.strerror or error}); give a readable file or folder"
        ) from None


def stripped_lines(path: Path, quiet: bool = False) -> list[str]:
    """Read a UTF-8 file as a list of stripped lines; blank lines stay."""
    return [line.strip() for line in raw_lines(path, quiet)]


def filled_lines(path: Path) -> list[str]:
    """Read a list of names or numbers, one per line; blank lines are allowed only at the end.

    Raises a LopsError if there is nothing in the file, or a blank line before the last entry.
    """
    lines = stripped_lines(path)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise LopsError(f"{path}: nothing in it; wanted one entry per line")
    if "" in lines:
        raise LopsError(f"{path}, line {lines.index('') + 1}: blank; wanted an entry in every line")
    return lines


def indices(path: Path, n_classes: int) -> list[int]:
    """Read class indices from 0 to ``n_classes`` - 1, one per line; LopsError: another line."""
    numbers = []
    for number, line in enumerate(filled_lines(path), 1):
        if not (line.isascii() and line.isdigit()) or int(line) >= n_classes:
            raise LopsError(
                f"{path}, line {number}: found {line!r}; "
                f"wanted a class index from 0 to {n_classes - 1}"
            )
        numbers.append(int(line))
    return numbers
