"""``lops COMMAND``: one module a command, imported when it is asked for, so that ``lops --help`` is quick.

A command is a row of :data:`COMMANDS` and a module in this package with ``main(arguments) -> exit status``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from lops_adapters.core import __version__

COMMANDS = {
    "select": "choose which labels of a table to trust: kept rows, rejected rows, a report",
    "compare": "compare selection methods on a table that has gold labels, too",
    "report": "write the page of a finished run again",
    "patch": "put LOPS into a checkout of ConWea, X-Class, WeSTClass or LOTClass, and take it out again",
    "vendor": "copy the one file that selects into a code base, or tell what a copy is",
    "completion": "print a script that completes lops in bash, zsh or fish",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 done, 1 a check found something, 2 bad input."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="lops",
        usage="lops COMMAND ...",
        description="LOPS: choose which pseudo-labels to trust.",
        epilog="commands (lops COMMAND --help says more):\n" + "\n".join(f"  {name:<12}{text}" for name, text in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=list(COMMANDS), metavar="COMMAND", help=", ".join(COMMANDS))
    parser.add_argument("--version", action="version", version=f"lops_adapters {__version__}")
    command = parser.parse_args(given[:1]).command

    from lops_adapters.arguments import guarded

    run = guarded(import_module(f"lops_adapters.cli.{command}").main, "stopped; nothing half is left behind")
    try:
        return run(given[1:])
    except OSError as error:  # a full disk, a folder that may not be written
        sys.stderr.write(f"error: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
