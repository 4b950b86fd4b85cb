"""``python -m benchmarks``: run the cells of a protocol, and write the pages of results."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import again, runner, tables
from lops_adapters.console import guarded

_EXAMPLES = """examples:
  python -m benchmarks run smoke                                          demo corpus, a minute
  python -m benchmarks run cpu --data-dir DIR --only 'curves-linear-*'    some cells
  python -m benchmarks run paper --data-dir DIR --minutes 10              resumes where it stopped
  python -m benchmarks check --again --data-dir DIR                       does today's code agree?
  python -m benchmarks tables --check                                     are the pages up to date?
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="what", required=True)
    run = commands.add_parser("run", help="run the cells of a protocol that have no result yet")
    run.add_argument(
        "protocol", metavar="PROTOCOL", help="paper, cpu, smoke, or the path of a .json file"
    )
    run.add_argument(
        "--only", default="*", metavar="PATTERN", help="run matching cells, such as 'curves-*'"
    )
    run.add_argument(
        "--minutes", type=float, metavar="M", help="stop after M minutes; the next call resumes"
    )
    run.add_argument(
        "--again",
        action="store_true",
        help="measure finished cells again, into the folder again below --work",
    )
    run.add_argument(
        "--list", action="store_true", help="list done, started and open cells; run nothing"
    )
    pages = commands.add_parser("tables", help="write the generated parts of README and docs")
    pages.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a part is out of date"
    )
    check = commands.add_parser("check", help="say which results are old, or measure some again")
    check.add_argument(
        "--again", action="store_true", help="measure a cheap result of each family and compare"
    )
    check.add_argument(
        "--only", default="*", metavar="PATTERN", help="of these, matching results, such as 'cpu/*'"
    )
    check.add_argument("--keep", action="store_true", help="store the comparison for the pages")
    for command in (run, check):
        command.add_argument(
            "--data-dir", type=Path, metavar="DIR", help="folder to look for data sets in first"
        )
        command.add_argument(
            "--work",
            type=Path,
            default=runner.WORK,
            metavar="DIR",
            help="folder of unfinished runs (default: runs/benchmarks)",
        )
    options = parser.parse_args(argv)
    if options.what == "tables":
        return tables.main(check=options.check)
    if options.what == "check":
        if not options.again:
            print(again.provenance())
            return 0
        return again.check_again(
            options.only, data_dir=options.data_dir, work=options.work / "again", keep=options.keep
        )
    if options.list:
        print(runner.list_cells(options.protocol, options.only, options.work))
        return 0
    # An exception on SIGTERM lets the runner end its command, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return runner.run_protocol(
        options.protocol,
        only=options.only,
        minutes=options.minutes,
        data_dir=options.data_dir,
        work=options.work,
        again=options.again,
    )


if __name__ == "__main__":
    sys.exit(guarded(main)(None))
