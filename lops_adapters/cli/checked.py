"""Checked rows from files: downloaded from a report, or ``to_check.csv`` with a filled column."""

from collections.abc import Callable, Sequence
from pathlib import Path

from lops_adapters.cli.corrections import CHECKED, by_row, check_table, read_corrections
from lops_adapters.core import LopsError


def read_checked_files(
    paths: Sequence[Path],
    label: str | None,
    checksums: Callable[[], dict[str, str]],
    encoding: str = "utf-8",
) -> dict[int, str]:
    """Return row of the table, from 0 -> label by a person; nothing or -: none of the classes.

    ``label`` is the table's column of labels; ``checksums`` returns the checksums of its files,
    if a file names its table; ``encoding`` is of files that are neither UTF-8 nor UTF-16.

    Raises a LopsError about a file that cannot be read or was made for another table or column, no
    checked row, and a row that is checked twice with different labels.
    """
    labels: dict[int, str] = {}
    source: dict[int, Path] = {}
    for path in paths:
        corrections = read_corrections(path, by_id=False, filled=True, encoding=encoding)
        if corrections.sha256 is not None:
            check_table(corrections, checksums())
        if corrections.column not in (None, label):
            raise LopsError(
                f"{path} holds labels of the column {corrections.column!r}, and --label is "
                f"{label!r}; give the file that was made for this column"
            )
        for key, entry in by_row(corrections).items():
            row, text = int(key[:18]) - 1, entry.label  # int() refuses thousands of digits
            if labels.get(row, text) != text:
                raise LopsError(
                    f"{corrections.place(entry)}: row {key} is checked as {text!r:.80}, and as "
                    f"{labels[row]!r:.80} in {source[row]}; correct one of them"
                )
            labels[row], source[row] = text, path
    if paths and not labels:
        raise LopsError(
            f"{paths[0]}: no row is checked yet; fill in the column {CHECKED}, or leave --checked "
            "out"
        )
    return labels
