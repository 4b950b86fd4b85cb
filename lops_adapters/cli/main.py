"""``lops COMMAND``: one module a command, imported when it is asked for, so that ``lops --help`` is
quick.

A command is a row of :data:`COMMANDS` and a module in this package with
``main(arguments) -> exit status``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from lops_adapters.core import __version__

COMMANDS = {
    "demo": "label, clean and train on the embedded corpus: a first look, in seconds",
    "select": "choose which labels of a table to trust: kept rows, rejected rows, a report",
    "compare": "compare selection methods on a table that has gold labels, too",
    "report": "write the page of a finished run again",
    "patch": "put LOPS into a checkout of ConWea, X-Class, WeSTClass or LOTClass, and take it out again",
    "vendor": "copy the one file that selects into a code base, or tell what a copy is",
    "completion": "print a script that completes lops in bash, zsh or fish",
}
STOPPED = "stopped; nothing half is left behind"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 done, 1 a check found something, 2 bad input, 130
    stopped.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="lops",
        usage="lops COMMAND ...",
        description="LOPS: choose which pseudo-labels to trust.",
        epilog="commands (lops COMMAND --help says more):\n"
        + "\n".join(f"  {name:<12}{text}" for name, text in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "command", choices=list(COMMANDS), metavar="COMMAND", help=", ".join(COMMANDS)
    )
    parser.add_argument("--version", action="version", version=f"lops_adapters {__version__}")
    if given and given[0] not in COMMANDS and not given[0].startswith("-"):
        parser.error(_unknown(given[0]))
    command = parser.parse_args(given[:1]).command
    try:
        from lops_adapters.console import guarded

        return guarded(import_module(f"lops_adapters.cli.{command}").main, STOPPED)(given[1:])
    except KeyboardInterrupt:  # while the command's libraries are imported, which takes a second
        sys.stderr.write(f"{STOPPED}\n")
        return 130
    except OSError as error:  # a full disk, a folder that may not be written
        sys.stderr.write(f"error: {error}\n")
        return 2


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), COMMANDS, n=1)
    return f"there is no command {name!r}" + (
        f"; did you mean {near[0]}?" if near else f"; wanted one of {', '.join(COMMANDS)}"
    )


if __name__ == "__main__":
    sys.exit(main())
