"""Options that commands share."""

from __future__ import annotations

import argparse
from typing import Any

from lops_adapters.console import set_up_logging


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a table and its columns."""
    data = parser.add_argument_group("data")
    data.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="CSV, TSV, JSONL or Parquet; several files, or a pattern such as 'part-*.csv'",
    )
    data.add_argument("--text", required=True, metavar="COLUMN", help="the texts")
    data.add_argument("--label", required=True, metavar="COLUMN", help="their noisy labels")
    data.add_argument(
        "--drop-unlabelled",
        action="store_true",
        help="leave out rows without a label instead of refusing the table",
    )
    data.add_argument(
        "--delimiter",
        type=delimiter,
        metavar="C",
        help="of CSV or TSV; tab is a tab (default: by the suffix)",
    )
    data.add_argument(
        "--encoding", default="utf-8", metavar="NAME", help="of text files (default: utf-8)"
    )


def delimiter(text: str) -> str:
    """Return a delimiter, a tab for the ways to write one."""
    return "\t" if text in ("tab", "\\t") else text


def add_probe(group: Any) -> None:
    """Add the option that names the probe."""
    group.add_argument(
        "--probe",
        default="auto",
        metavar="NAME",
        help="auto, linear, minilm, or a folder or hub name of an encoder (default: auto, linear unless there is a GPU)",
    )


def add_run(group: Any) -> None:
    """Add the options of every run."""
    group.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of everything random (default: 0)"
    )
    group.add_argument(
        "--force", action="store_true", help="replace what this command wrote there before"
    )
    group.add_argument("--quiet", action="store_true", help="no progress bars")


def fraction(text: str) -> float | str:
    """Return a number, or ``auto`` as it is."""
    return text if text == "auto" else number(text, "auto or a number")


def number(text: str, wanted: str = "a number") -> float:
    """Return a number, or let argparse say that something else was given."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted {wanted} such as 0.5") from None


def set_up() -> None:
    """Begin a command: of the log only what goes wrong, since the results are on standard output."""
    set_up_logging(quiet=True)
