"""``lops COMMAND``: one module per command, imported when it runs, so that ``lops --help`` is fast.

A command is a row of :data:`COMMANDS` and a module in this package with
``main(arguments) -> exit status``.
"""

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial

COMMANDS = {
    "demo": "label, clean and train on the embedded corpus: a first look, in seconds",
    "select": "select the labels of a table to trust: kept rows, rejected rows, a report",
    "check": "check rows of a finished selection here, ten at a time, and select again",
    "apply": "write a table with the corrections that were made in a report",
    "agree": "how far annotators, rules and language models agree, and with checked rows",
    "patch": "insert LOPS into a checkout of ConWea, X-Class, WeSTClass or LOTClass",
    "vendor": "copy the one-file core into a code base, or check a copy",
}
STOPPED = "Stopped. No partial output was written."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status.

    0: done; 1: a check found something; 2: bad input; 130: stopped.
    """
    argv = list(sys.argv[1:] if arguments is None else arguments)
    lops = parser()
    if not argv:
        lops.print_help(sys.stderr)
        return 2
    command = lops.parse_args(argv[:1]).command if argv[0].startswith("-") else argv[0]
    try:  # with NumPy, some tenths of a second
        from lops_adapters.console import guarded
    except KeyboardInterrupt:
        sys.stderr.write(f"{STOPPED}\n")
        return 130
    if command not in COMMANDS:
        return guarded(partial(_framework, lops, command))(argv[1:])
    return guarded(f"lops_adapters.cli.{command}", STOPPED)(argv[1:])


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops``."""
    listed = "\n".join(f"  {name:<12}{text}" for name, text in COMMANDS.items())
    lops = argparse.ArgumentParser(
        prog="lops",
        usage="lops COMMAND ...",
        description="LOPS: select the pseudo-labels to trust.",
        epilog=f"commands (lops COMMAND --help for details):\n{listed}\n\n"
        "a framework by its name: lops xclass --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    lops.add_argument(
        "command", choices=list(COMMANDS), metavar="COMMAND", help=", ".join(COMMANDS)
    )
    lops.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    return lops


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from lops_adapters import __version__

        print(f"lops_adapters {__version__}")
        parser.exit()


def _framework(lops: argparse.ArgumentParser, name: str, arguments: Sequence[str] | None) -> int:
    from lops_adapters.runs.command import command
    from lops_adapters.runs.framework import FRAMEWORKS, named

    if name not in FRAMEWORKS:
        near = get_close_matches(name.lower(), [*COMMANDS, *FRAMEWORKS], n=1)
        known = f"{', '.join(COMMANDS)}, or a framework: {', '.join(FRAMEWORKS)}"
        hint = f"did you mean {near[0]}?" if near else f"wanted one of {known}"
        lops.error(f"unknown command {name!r}; {hint}")
    return command(named(name))(arguments)


if __name__ == "__main__":
    sys.exit(main())
