"""Commands killed at random moments and resumed: all files come out as from a run that nobody
disturbed, to the byte.

A command is a fork of a process that has imported it, so that kills fall into its work. Its clock
stands still and it has one thread, so that neither times nor the machine's load differ.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from threadpoolctl import threadpool_limits

from lops_adapters import console
from lops_adapters.cli import select
from lops_adapters.runs.command import command
from lops_adapters.runs.framework import named

from ..framework_tools import plain_arithmetic
from ..frameworks.cases import CASES
from ..noisy import noisy_rows, write_table


@dataclass
class Target:
    """A command that is killed.

    Attributes:
        name: in the report.
        main: takes arguments, returns an exit status.
        first: its arguments.
        again: what is added where it has been killed.
        place: folder of all it writes.
        before: arguments of a command that has written there earlier.
        load: imports what the command needs, before it is forked.
        small: makes a framework's preset small. Only forks enter it: it would shorten the training
            of the other commands, too.

    """

    name: str
    main: object
    first: list
    again: list
    place: Path
    before: list = field(default_factory=list)
    load: Callable[[], None] = lambda: None
    small: Callable[[], AbstractContextManager] = nullcontext

    def forked(self, arguments, kill_after=None):
        """Run the command in a fork; return how it ended, and after how many seconds."""
        self.load()
        start, child = time.perf_counter(), os.fork()
        if not child:
            self._run(arguments)
        if kill_after is not None:
            time.sleep(kill_after)
            os.kill(child, signal.SIGKILL)  # a child that has ended waits for its parent
        ending = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return ending, time.perf_counter() - start

    def _run(self, arguments):
        epoch, status = time.gmtime(0), 70  # of a command that raises
        try:
            time.perf_counter = lambda: 0.0
            time.gmtime = time.localtime = lambda *_: epoch
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
            os.environ |= {"XDG_CACHE_HOME": str(self.place / "cache"), "OMP_NUM_THREADS": "1"}
            os.chdir(self.place)
            with self.small(), threadpool_limits(1):
                status = console.guarded(self.main)([str(word) for word in arguments])
        finally:
            os._exit(status)


def framework(name, folder):
    """A framework on its toy corpus."""
    case = CASES[name]
    data = case.write(folder / "toy", *case.toys.documents(case.documents[0]))
    given = ["--dataset", data, "--output", "run", "--preset", "quick", "--device", "cpu"]
    given += ["--quiet", "--arms", ",".join(case.arms), *case.options]
    if case.encoder is not None:
        (folder / "encoder").mkdir()
        given += ["--encoder", case.encoder(folder / "encoder")]
    main, place = command(named(name)), folder / "work"
    return Target(
        name, main, given, ["--resume"], place, load=case.load_libraries, small=case.small
    )


def selecting(folder):
    """`lops select --force` over the output of another table; and the corrected table elsewhere."""
    usual = [
        "--text", "text", "--label", "weak", "--probe", "linear", "--encoder", "none", "--quiet",
        "--force",
    ]  # fmt: skip
    usual += ["--output", "out", "--corrected", "corrected.csv"]
    old, new = (
        write_table(folder / f"{name}.csv", noisy_rows(n=n, seed=seed))
        for name, n, seed in (("old", 60, 1), ("new", 1500, 2))
    )
    made = Target("select", select.main, [new, *usual], [], folder / "work")
    made.before = [old, *usual]
    return made


def difference(found, wanted):
    """Return the first file that differs between two folders; None: nothing does."""
    names = [
        sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
        for folder in (found, wanted)
    ]
    if names[0] != names[1]:
        return f"files: {set(names[0]) ^ set(names[1])}"
    for name in names[0]:
        one, other = found / name, wanted / name
        if one.is_file() and one.read_bytes() != other.read_bytes():
            return name
    return None


def prepared(folder, name):
    """The target in a folder of its own."""
    (folder / name).mkdir()
    return selecting(folder / name) if name == "select" else framework(name, folder / name)


def undisturbed(target, arguments):
    ending, seconds = target.forked(arguments)
    assert ending == 0, f"{target.name} ends with {ending}"
    return seconds


def fresh(target):
    """An empty place to work in, with the older output of `select`."""
    target.place.mkdir()
    if target.before:
        undisturbed(target, target.before)


def once(target, seconds, draw, most):
    """Kill a command up to ``most`` times, each time resumed, then let it finish.

    Returns:
        How often it was killed, and how a run failed, or None.

    """
    fresh(target)
    kills, more = 0, []
    for _ in range(most):
        ending, _ = target.forked([*target.first, *more], draw.uniform(0, seconds))
        if ending not in (0, -signal.SIGKILL):
            return kills, f"ends with {ending}"
        kills += ending != 0
        more = target.again
    ending, _ = target.forked([*target.first, *more])
    return kills, f"ends with {ending}" if ending else None


def run(kills, seed=0, names=("select", "self_training", "xclass")):
    """Kill commands, the next one each time, until there are so many kills.

    Returns:
        Per target [kills, runs, differences]: the first file of an output that differs, or how a
        run failed.

    """
    draw, found = random.Random(seed), {name: [0, 0, []] for name in names}
    targets, whole = {}, {}
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kills-")))
        stack.enter_context(plain_arithmetic())
        while sum(done for done, *_ in found.values()) < kills:
            name = min(names, key=lambda name: found[name][0])
            if name not in targets:
                targets[name] = target = prepared(place, name)
                fresh(target)
                seconds = undisturbed(target, target.first)
                whole[name] = target.place.rename(target.place.with_name("whole")), seconds
            target, (wanted, seconds) = targets[name], whole[name]
            left = kills - sum(done for done, *_ in found.values())
            killed, differs = once(target, seconds, draw, min(left, draw.randint(1, 3)))
            differs = differs or difference(target.place, wanted)
            target.place.rename(target.place.with_name("last"))
            shutil.rmtree(target.place.with_name("last"))
            row = found[name]
            row[0], row[1] = row[0] + killed, row[1] + 1
            row[2] += [differs] * (differs is not None)
    return found


def report(kills, seed):
    """Run and print; return whether something differed."""
    start = time.perf_counter()
    found = run(kills, seed)
    for name, (killed, rounds, differs) in found.items():
        why = f" ({', '.join(differs)})" if differs else ""
        sys.stdout.write(f"{name}: kills {killed}, runs {rounds}, different {len(differs)}{why}\n")
    total = sum(killed for killed, *_ in found.values())
    wrong = sum(len(differs) for *_, differs in found.values())
    seconds = time.perf_counter() - start
    sys.stdout.write(f"kills {total}, different outputs {wrong}, {seconds:.0f} s\n")
    return bool(wrong)
