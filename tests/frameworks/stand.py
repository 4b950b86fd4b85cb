"""A framework's command on toy data: what the fixtures of the suite hand to its tests."""

import io
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lops_adapters import console
from lops_adapters.runs.command import command
from lops_adapters.runs.framework import Framework, named

from ..framework_tools import plain_arithmetic, warnings_as_for_a_user
from .cases import Case, Kill

PROGRAM = Path(__file__).with_name("program.py")


class Deaths:
    """A process whose forks are commands that are killed: it imports the libraries once for all."""

    def __init__(self, log: Path):
        self.log = log
        with log.open("w") as file:
            self._process = subprocess.Popen(
                [sys.executable, str(PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )

    def __call__(self, *arguments: Any) -> list[tuple[int, list]]:
        """Return what ``endings`` of the program returns."""
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, self.log.read_text(encoding="utf-8")
        return [(ending, stages) for ending, stages in json.loads(answer)]

    def close(self):
        """End the process."""
        with self._process:  # closes its pipes and waits
            self._process.kill()


class Outcome(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


class Whole(NamedTuple):
    """A run that nobody interrupted; nobody writes into it."""

    path: Path
    out: str
    err: str
    connections: list[str]


@dataclass(frozen=True)
class Stand:
    """A framework, its toy data and its command.

    Attributes:
        case: the row.
        data: folder of the toy corpus, with gold labels.
        encoder: options that name a tiny encoder.
        cache: the user's cache in these tests, for other processes.
        deaths: starts the process whose commands are killed.

    """

    case: Case
    data: Path
    encoder: tuple[str, ...]
    cache: Path
    deaths: Callable[[], Deaths]

    @property
    def framework(self) -> Framework:
        """The framework itself."""
        return named(self.case.name)

    @property
    def texts(self) -> list[str]:
        """The documents of the corpus."""
        return self.case.toys.documents(self.case.documents[0])[0]

    @property
    def labels(self) -> list[str]:
        """Their gold labels."""
        return self.case.toys.documents(self.case.documents[0])[1]

    def write(self, folder: Path, texts: Sequence[str], labels=None) -> Path:
        """Write other data."""
        return self.case.write(folder, texts, labels)

    def options(self, output: Path, *more: str, data: Path | None = None) -> list[str]:
        """Return the options of a command that runs all arms; ``more`` may say otherwise."""
        usual = ["--preset", "quick", "--device", "cpu", "--quiet", *self.encoder]
        places = ["--dataset", str(data or self.data), "--output", str(output)]
        arms = ["--arms", ",".join(self.case.arms)]
        return [*places, *usual, *arms, *self.case.options, *map(str, more)]

    def command(self, output: Path, *more: str, data: Path | None = None) -> Outcome:
        """Run the command in this process."""
        return self.main(*self.options(output, *more, data=data))

    def main(self, *options: str) -> Outcome:
        """Run the command with exactly these options."""
        out, err = io.StringIO(), io.StringIO()
        run = console.guarded(command(self.framework))
        with ExitStack() as stack:
            streams = redirect_stdout(out), redirect_stderr(err)
            for each in (*streams, warnings_as_for_a_user(), plain_arithmetic()):
                stack.enter_context(each)
            try:
                status = run(list(options))
            except SystemExit as stopped:  # argparse
                status = int(stopped.code or 0)
        return Outcome(status, out.getvalue(), err.getvalue())

    def killed(self, output: Path, kills: Sequence[Kill]) -> list[tuple[int, list]]:
        """Run the command in other processes, each killed and then resumed by the next.

        Returns:
            How each process ended, and the stages that were stored by then.

        """
        what = self.case.name, kills, str(output), str(self.cache)
        return self.deaths()(*what, self.options(output))
