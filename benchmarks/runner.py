"""Run the cells of a protocol, one result file per cell; killed cells are resumed."""

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
_PATIENCE = 10.0  # seconds between SIGTERM and SIGKILL


class OutOfTimeError(Exception):
    """The time is up; the next call resumes."""


class BusyError(Exception):
    """Another process runs the cell."""


def run_protocol(
    protocol: str,
    *,
    only: str = "*",
    minutes: float | None = None,
    data_dir: Path | None = None,
    work: Path = WORK,
    again: bool = False,
) -> int:
    """Run all cells of a protocol that have no result yet; returns the exit status.

    Args:
        protocol: name or path.
        only: a pattern such as ``curves-*``; other cells are not run.
        minutes: stop after this time; the running command is ended, and resumed by the next call.
        data_dir: folder to look for data sets in first.
        work: folder of unfinished runs.
        again: measure finished cells, too; their new results go into ``again`` below ``work``.

    Returns:
        1 if a cell failed, otherwise 0, also if the time is up before all cells are done.

    Raises:
        LopsError: the protocol is missing or cannot be read, or no cell matches.

    """
    path = protocol_path(protocol)
    cells = matching(read_cells(path), only)
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    failures: dict[str, str] = {}
    for number, cell in enumerate(cells, 1):
        result, folder = result_path(path.stem, cell), work / path.stem / cell.name
        if result.exists():
            if not again:
                if only != "*":
                    print(f"{cell.name} is finished: {result}; --again measures it again")
                continue
            result = work / "again" / path.stem / f"{cell.name}.json"
            folder = work / "again" / path.stem / cell.name
        print(f"[{number}/{len(cells)}] {cell.name}", flush=True)
        try:
            _fill(cell, result, folder, data_dir, deadline)
            if again:
                print(f"  {result}", flush=True)
        except OutOfTimeError:
            print(f"{minutes:g} minutes are up; repeat the command to resume")
            break
        except BusyError:
            print("  skipped: another process runs it", flush=True)
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
    """Return the state (done, started or open), name and command of each cell."""
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
    """Return the cells whose names match a pattern.

    Raises:
        LopsError: no cell matches.

    """
    found = [cell for cell in cells if fnmatch.fnmatchcase(cell.name, only)]
    if not found:
        raise LopsError(
            f"--only {only!r} matches no cell; pass a pattern such as {cells[0].name!r} "
            "(--list shows all)"
        )
    return found


def result_path(protocol: str, cell: Cell) -> Path:
    """Return the path of a cell's result file."""
    return RESULTS / protocol / f"{cell.name}.json"


def _fill(
    cell: Cell, result: Path, folder: Path, data_dir: Path | None, deadline: float | None
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w", encoding="utf-8") as lock:
        # The command inherits the lock: it keeps the folder even if this process is killed.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BusyError from None
        if result.exists():  # written by the last holder of the lock
            return
        run = folder / "run"
        _execute(cell, run, folder / "log.txt", data_dir, deadline, lock.fileno())
        more = (
            significance(cell.command, run, folder / "predictions.npz", data_dir)
            if cell.kind == "self_training"
            else {}
        )
        collect(run, result, command=cell.command, more=more, data_dir=data_dir)
        shutil.rmtree(run)


def _execute(
    cell: Cell, run: Path, log: Path, data_dir: Path | None, deadline: float | None, lock: int
) -> None:
    """Run a command until it ends or the deadline comes.

    Raises:
        OutOfTimeError: the deadline came first.
        LopsError: the command failed; the reason is the last line of its output.

    """
    data = [] if data_dir is None else ["--data-dir", str(data_dir.resolve())]
    output = ["--output", str(run.resolve()), "--resume", "--quiet"]
    words = [_in_data(word, data_dir) for word in shlex.split(cell.command)[1:]]
    argv = [sys.executable, *words, *data, *output]
    left = None if deadline is None else deadline - time.monotonic()
    if left is not None and left <= 0:
        raise OutOfTimeError
    with log.open("ab") as said_to:
        process = subprocess.Popen(
            argv,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=said_to,
            stderr=said_to,
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
        said = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        raise LopsError(f"exit status {status}: {said} (output: {log})")


def _in_data(word: str, data_dir: Path | None) -> str:
    """Return the path of an encoder or a corpus that a command names, if the data folder has it."""
    kinds = ("config.json", "seeds.json")
    if data_dir is not None and any((data_dir / word / kind).is_file() for kind in kinds):
        return str(data_dir.resolve() / word)
    return word


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and its children if it still runs; its stages are written atomically."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
