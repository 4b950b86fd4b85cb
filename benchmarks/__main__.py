"""``python -m benchmarks``: fill the cells of a protocol, and write the pages from what was
measured.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import runner, tables
from lops_adapters.console import guarded

_EXAMPLES = """examples:
  python -m benchmarks run smoke                                          the demo corpus, a minute
  python -m benchmarks run cpu --data-dir DIR --only 'curves-linear-*'    some cells
  python -m benchmarks run paper --data-dir DIR --minutes 10              ten minutes of it, going on where the last call stopped
  python -m benchmarks tables --check                                     whether the pages are up to date
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the arguments say; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="what", required=True)
    run = commands.add_parser("run", help="fill the cells of a protocol that have no result yet")
    run.add_argument(
        "protocol", metavar="PROTOCOL", help="paper, cpu, smoke, or the path of a .json file"
    )
    run.add_argument(
        "--only", default="*", metavar="PATTERN", help="cells whose names match, such as 'curves-*'"
    )
    run.add_argument(
        "--minutes", type=float, metavar="M", help="stop after M minutes; the next call goes on"
    )
    run.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="folder where data sets are looked for first"
    )
    run.add_argument(
        "--work",
        type=Path,
        default=runner.WORK,
        metavar="DIR",
        help="for unfinished runs (default: runs/benchmarks)",
    )
    run.add_argument(
        "--list", action="store_true", help="say what is done, started and open, and run nothing"
    )
    pages = commands.add_parser("tables", help="write the generated parts of the pages")
    pages.add_argument(
        "--check", action="store_true", help="exit 1 where one is out of date, and write nothing"
    )
    options = parser.parse_args(argv)
    if options.what == "tables":
        return tables.main(["--check"] if options.check else [])
    if options.list:
        print(runner.list_cells(options.protocol, options.only, options.work))
        return 0
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that the command that is running is ended, too
    return runner.run_protocol(
        options.protocol,
        only=options.only,
        minutes=options.minutes,
        data_dir=options.data_dir,
        work=options.work,
    )


if __name__ == "__main__":
    sys.exit(guarded(main)(None))
