"""``lops check``: a person checks rows of a finished run in the terminal, ten at a time."""

import argparse
import contextlib
import csv
import io
import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from lops_adapters import storage
from lops_adapters.cli import options as shared
from lops_adapters.cli import select, select_options
from lops_adapters.console import STOPPED, percent
from lops_adapters.core import LopsError
from lops_adapters.formats import files
from lops_adapters.formats.cells import NO_CLASS
from lops_adapters.labels.naming import CHECKED
from lops_adapters.tables.parts import TO_CHECK

ROUND = 10  # rows between two selections
LONGEST = 1200  # characters of a text that are shown
HELP = (
    "Enter: the label is right; a number or name: the right class; + and a name: a new class; "
    "n: none of the classes; s: skip; u: undo; q: enough"
)
UNDO, SKIP, QUIT = "u", "s", "q"
EXAMPLES = """\
  lops select tickets.csv --text body --label category
  lops check tickets-lops"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops check``."""
    parser = shared.parser(
        "check",
        "Check rows of a finished lops select, one text at a time. After ten rows it selects again "
        "and says what changed. Answers are kept in FOLDER-checked.csv from the first one on.",
        EXAMPLES,
    )
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="the folder that lops select wrote"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, select again, and say what changed; returns the exit status."""
    folder: Path = parser().parse_args(arguments).folder
    run = Run.of(folder)
    why = "" if sys.stdin and sys.stdin.isatty() else "asks in a terminal, and there is none"
    if files.STANDARD_INPUT in run.options.files:
        why = "selects again, and the table was standard input"
    if why:
        raise LopsError(
            f"lops check {why}; fill in {folder / TO_CHECK}, or check rows in "
            f"{folder / 'report.html'}, and give the file to lops select --checked"
        )
    named = ", ".join(f"{number} {name}" for number, name in enumerate(run.classes, start=1))
    print(f"{HELP}.\nClasses: {named}.")
    try:
        run.rounds()
    except KeyboardInterrupt:
        print(f"\nStopped. {run.stored()}; the same command goes on.")
        return STOPPED
    print(f"{run.stored()}. Train on {folder / 'train.csv'}.")
    return 0


@dataclass
class Run:
    """A finished selection that rows are checked of.

    Attributes:
        folder: that ``lops select`` wrote.
        options: of its command, which is run again.
        file: of the answers, in the form of ``to_check.csv``.
        answers: row number -> the row of this file.
    """

    folder: Path
    options: argparse.Namespace
    classes: list[str]
    file: Path
    answers: dict[str, dict[str, str]]
    skipped: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, folder: Path) -> "Run":
        """Read a folder; a LopsError if ``lops select`` wrote none, or none to check, there."""
        way_out = "give the folder that lops select wrote"
        config = storage.read_json(folder / "config.json", way_out)
        words = shlex.split(str(config.get("command", "")))
        if config.get("framework") != "select" or not (folder / TO_CHECK).is_file():
            raise LopsError(f"{folder} has no {TO_CHECK} of lops select; {way_out}")
        file = folder.with_name(f"{folder.name}-checked.csv")
        options = select_options.parser().parse_args(words[2:])
        options.command, options.output = words, folder
        options.force = options.quiet = True
        answers = {row["row"]: row for row in _read(file)} if file.is_file() else {}
        return cls(folder, options, list(map(str, config["dataset"]["classes"])), file, answers)

    def estimate(self) -> dict[str, Any]:
        """Return the summary of the last selection."""
        return storage.read_json(self.folder / "summary.json", "run lops select again")

    def stored(self) -> str:
        """Return how many answers there are, and where."""
        return f"{len(self.answers)} checked rows are in {self.file}"

    def rounds(self) -> None:
        """Ask for ten rows, select again and say what changed, until the person has enough."""
        more = True
        while more:
            before, count = self.estimate(), len(self.answers)
            more = self.ask()
            if len(self.answers) == count:
                break
            self.select_again()
            print("\n".join(["", *changes(before, self.estimate()), ""]))

    def ask(self) -> bool:
        """Ask for the next rows, and store each answer; False: the person has had enough."""
        done = self.answers.keys() | self.skipped
        rows = list(
            islice((row for row in _read(self.folder / TO_CHECK) if row["row"] not in done), ROUND)
        )
        position = 0
        while position < len(rows):
            row = rows[position]
            print(f"\n{position + 1} of {len(rows)}\n{shown(row['text'])}\nLabel: {row['label']}")
            answer = self._answer(row["label"])
            if answer == QUIT:
                return False
            if answer == UNDO:
                position = max(0, position - 1)
                self.answers.pop(rows[position]["row"], None)
                self.skipped.discard(rows[position]["row"])
            elif answer == SKIP:
                self.skipped.add(row["row"])
                position += 1
            else:
                self.answers[row["row"]] = {**row, CHECKED: answer[1:]}
                print(f"Suggested: {row['suggested'] or 'none'}")
                position += 1
            self._write()
        return len(rows) == ROUND

    def _answer(self, label: str) -> str:
        """Return undo, skip, quit, or = and the class that a person typed."""
        while True:
            try:
                typed = input("> ").strip()
            except EOFError:  # Ctrl-D
                return QUIT
            if typed == "":
                return f"={label}"
            if typed in (UNDO, SKIP, QUIT):
                return typed
            if typed == "n":
                return f"={NO_CLASS}"
            if typed.isdecimal() and 0 < int(typed) <= len(self.classes):
                return f"={self.classes[int(typed) - 1]}"
            if typed in self.classes or (typed[0] == "+" and typed[1:].strip()):
                return f"={typed.removeprefix('+').strip()}"
            print(f"{typed!r:.60} is no class. {HELP}.")

    def _write(self) -> None:
        rows = list(self.answers.values())
        if rows or self.file.is_file():
            header = list(rows[0]) if rows else ["row", "label", CHECKED]
            storage.write_csv(
                self.file, header, ([row.get(name) for name in header] for row in rows)
            )

    def select_again(self) -> None:
        """Run the command again with the answers; raises what it raises."""
        options, checked = self.options, list(self.options.checked or ())
        if self.file not in checked:
            options.checked = [*checked, self.file]
            options.command += ["--checked", str(self.file)]
        with contextlib.redirect_stdout(io.StringIO()):
            select.main(options=argparse.Namespace(**vars(options)))


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return what a selection says now, and said before, from its ``summary.json``."""
    lines = []
    if before["estimate"] and after["estimate"]:
        (old, *_), (rate, low, high) = before["estimate"], after["estimate"]
        was, now = percent(old), f"{percent(rate)} ({percent(low)} to {percent(high)})"
        lines.append(f"Wrong labels, estimated: {was} before, {now} now.")
    rejected = [page["n_rows"] - page["n_kept"] for page in (before, after)]
    lines.append(f"Rejected: {rejected[0]:,} before, {rejected[1]:,} now, of {after['n_rows']:,}.")
    if after["estimate"] and after["n_checked"]:
        _, low, high = after["estimate"]
        share = (after["n_checked"] / (after["n_checked"] + ROUND)) ** 0.5
        points = 100 * (high - low)
        lines.append(
            f"{ROUND} more rows would narrow the range from {points:.0f} to about "
            f"{share * points:.0f} points."
        )
    return lines


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def shown(text: str) -> str:
    """Return a text in lines as wide as the terminal, without control characters."""
    visible = "".join(one if one.isprintable() else " " for one in text[:LONGEST])
    width = min(shutil.get_terminal_size().columns, 100)
    return textwrap.fill(visible + ("…" if len(text) > LONGEST else ""), width)
