"""Commands of frameworks, killed and resumed: one per line of standard input.

A line is the JSON list of the arguments of :func:`endings`. The answer, what it returns, is a line
of JSON on standard output. What commands print goes to standard error.
"""

import json
import os
import sys
from importlib import import_module
from inspect import isgenerator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lops_adapters import console
from lops_adapters.runs.command import command
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.framework import named
from tests.framework_checks import stages
from tests.framework_tools import die, plain_arithmetic
from tests.frameworks.cases import CASES, Kill


def place_of(function):
    """What holds a function, and the function's name there."""
    module, _, path = function.partition(":")
    owner, _, name = path.rpartition(".")
    holder = import_module(module)
    return (getattr(holder, owner) if owner else holder), name


def die_in(kill):
    """Arrange for the death."""
    holder, name = place_of(kill.function)
    stage, real, seen = RunFolder.stage, getattr(holder, name), {"stage": "", "calls": 0}

    def staged(run, name, compute):
        seen["stage"] = name
        return stage(run, name, compute)

    def count():
        seen["calls"] += seen["stage"] == kill.stage
        if seen["calls"] == kill.calls:
            die()

    def items(generator):
        for item in generator:
            yield item
            count()

    def counted(*args, **kwargs):
        found = real(*args, **kwargs)
        if isgenerator(found):
            return items(found)
        if callable(found):
            return lambda *given, **more: (found(*given, **more), count())[0]
        count()
        return found

    RunFolder.stage = staged
    setattr(holder, name, counted)


def killed(kill, main, options):
    """Run the command in a fork, which spares it the imports; return how it ended."""
    child = os.fork()
    if not child:
        die_in(kill)
        os._exit(console.guarded(main)(options))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def endings(name, kills, output, cache, options):
    """Run a framework's command once per kill, each run in a process of its own.

    The second and later ones resume. A process that dies before the first stage, or is told to be
    ``fresh``, gets an empty user's cache, so that it makes what others read in ``cache``.

    Returns:
        How each ended (minus the signal, or the exit status), and the stages that it left.

    """
    found = []
    with CASES[name].small():
        CASES[name].load_libraries()
        main = command(named(name))
        for number, kill in enumerate(Kill(*each) for each in kills):
            place_of(kill.function)  # imported before the fork
            shared = kill.stage and not kill.fresh
            os.environ["XDG_CACHE_HOME"] = cache if shared else f"{output}-cache"
            ending = killed(kill, main, [*options, *["--resume"][:number]])
            found.append((ending, sorted(stages(Path(output)))))
    return found


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with plain_arithmetic():
        for line in sys.stdin:
            answers.write(json.dumps(endings(*json.loads(line))) + "\n")
            answers.flush()
