"""Fill the cells of a protocol: one result file a cell, whatever was killed goes on, and what fails
leaves a hole.
"""

from __future__ import annotations

import fcntl
import fnmatch
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import over_seeds
from benchmarks.collect import collect
from benchmarks.predictions import significance
from benchmarks.protocol import Cell, protocol_path, read_cells
from benchmarks.record import RESULTS
from lops_adapters.core import LopsError

ROOT = Path(__file__).parent.parent
WORK = ROOT / "runs" / "benchmarks"
_PATIENCE = 10.0  # seconds between asking a command to end and ending it


class OutOfTimeError(Exception):
    """The minutes are up; the next call goes on."""


class BusyError(Exception):
    """Another process works on the cell."""


def run_protocol(
    protocol: str,
    *,
    only: str = "*",
    minutes: float | None = None,
    data_dir: Path | None = None,
    work: Path = WORK,
) -> int:
    """Run all cells of a protocol that have no result yet; returns the exit status.

    Args:
        protocol: name or path.
        only: a pattern such as ``curves-*``; only cells whose names match are run.
        minutes: stop after so many; the command that runs then is ended, and resumed by the next
            call.
        data_dir: where the commands look for data first.
        work: where run folders lie until their cell is finished.

    Returns:
        1 where a cell failed, otherwise 0; also where the time was up before all cells were done.

    Raises:
        LopsError: a protocol that is not there or cannot be read, or a pattern that matches no
            cell.

    """
    path = protocol_path(protocol)
    cells = matching(read_cells(path), only)
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    failures: dict[str, str] = {}
    for number, cell in enumerate(cells, 1):
        if result_path(path.stem, cell).exists():
            continue
        print(f"[{number}/{len(cells)}] {cell.name}", flush=True)
        try:
            _fill(cell, path.stem, work / path.stem / cell.name, data_dir, deadline)
        except OutOfTimeError:
            print(f"{minutes:g} minutes are up; the same command goes on from here")
            break
        except BusyError:
            print("  another process is at it", flush=True)
        except LopsError as error:
            failures[cell.name] = str(error)
            print(f"  failed: {error}", flush=True)
    try:
        over_seeds.compare(read_cells(path), RESULTS / path.stem, work / path.stem)
    except LopsError as error:
        failures["comparing seeds"] = str(error)
    done = sum(result_path(path.stem, cell).exists() for cell in cells)
    print(f"{done} of {len(cells)} cells are done, {len(failures)} failed")
    for name, reason in failures.items():
        print(f"  {name}: {reason}")
    return int(bool(failures))


def list_cells(protocol: str, only: str = "*", work: Path = WORK) -> str:
    """Return a line a cell: whether it is done, started or open, its name and its command."""
    path = protocol_path(protocol)
    lines = []
    for cell in matching(read_cells(path), only):
        started = (work / path.stem / cell.name).exists()
        state = (
            "done" if result_path(path.stem, cell).exists() else "started" if started else "open"
        )
        lines.append(f"{state:8}{cell.name}\n        {cell.command}")
    return "\n".join(lines)


def matching(cells: Sequence[Cell], only: str) -> list[Cell]:
    """Return the cells whose names match a pattern, or raise a LopsError where none does."""
    found = [cell for cell in cells if fnmatch.fnmatchcase(cell.name, only)]
    if not found:
        raise LopsError(
            f"--only is {only!r}, and no cell is called so; wanted a pattern such as {cells[0].name!r} (--list shows all)"
        )
    return found


def result_path(protocol: str, cell: Cell) -> Path:
    """Where the numbers of a cell go."""
    return RESULTS / protocol / f"{cell.name}.json"


def _fill(
    cell: Cell, protocol: str, folder: Path, data_dir: Path | None, deadline: float | None
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w", encoding="utf-8") as lock:
        # The command inherits the lock: where only this process was killed, nobody else starts on
        # the same folder.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BusyError from None
        if result_path(protocol, cell).exists():  # of the process that had the lock until now
            return
        run = folder / "run"
        _execute(cell, run, folder / "log.txt", data_dir, deadline, lock.fileno())
        more = (
            significance(cell.command, run, folder / "predictions.npz", data_dir)
            if cell.kind == "self_training"
            else {}
        )
        collect(run, f"{protocol}/{cell.name}", command=cell.command, more=more)
        shutil.rmtree(run)


def _execute(
    cell: Cell, run: Path, log: Path, data_dir: Path | None, deadline: float | None, lock: int
) -> None:
    """Run a command to its end, or end it at the deadline.

    Raises:
        OutOfTimeError: the deadline came first.
        LopsError: the command failed; the last line it wrote is the reason.

    """
    data = [] if data_dir is None else ["--data-dir", str(data_dir.resolve())]
    argv = [
        sys.executable,
        *shlex.split(cell.command)[1:],
        *data,
        "--output",
        str(run.resolve()),
        "--resume",
        "--quiet",
    ]
    left = None if deadline is None else deadline - time.monotonic()
    if left is not None and left <= 0:
        raise OutOfTimeError
    with log.open("ab") as output:
        process = subprocess.Popen(
            argv,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=(lock,),
        )
        try:
            status = process.wait(left)
        except subprocess.TimeoutExpired:
            raise OutOfTimeError from None
        finally:
            _end(process)
    if status:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        raise LopsError(f"exit status {status}: {said} (all of it is in {log})")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command, and what it started, where it still runs. Its stages are written whole or not
    at all.
    """
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
