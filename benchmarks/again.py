"""Where results come from, and whether today's code still gives them.

``python -m benchmarks check`` lists, per folder of results, which commits are outside this
history and how often the package has changed since. ``--again`` measures one cheap result of each
family again and prints the number that moved most.
"""

from __future__ import annotations

import fnmatch
import os
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.collect import collect
from benchmarks.record import FOLDER, RESULTS, read_result
from lops_adapters.core import LopsError
from lops_adapters.storage import write_json
from lops_adapters.surroundings import commit_of

ROOT = Path(__file__).parent.parent
STORED = RESULTS / "again.json"
# One cheap result per family -> what its recorded command lacks. Families of other encoders, GPUs,
# timings and options that are gone have none.
CHEAP = {
    "rounds/xclass-demo-120-seed0": "",
    "committee/self-training-hybrid-demo-seed0": "",
    "cpu/heuristics-agnews": "",
    "cpu/curves-linear-agnews-seed0": "",
    "cpu/self-training-linear-agnews-seed0": "",
    "cpu/stratified-linear-agnews-seed0": "",
    "select/select-agnews-tau-auto": "",
    "real-noise/youtube-rules": "",
    "real-noise-cleanlab/youtube-rules": "",
    "checked/youtube-rules": "",
    "unlabelled/youtube-rules": "--tables youtube-rules",
    "static/youtube-rules": "--tables youtube-rules",
    "source-constants/youtube-rules": "--tables youtube-rules",
    "alternative/hate-portuguese": "",
    "grid/xclass-agnews-4000-seed0": "",
    "faithful/xclass-agnews-4000-seed0": "",
}
TOLERANCE = 0.005  # of a share; other numbers: relative
_NOT_RESULTS = ("seconds", "bytes", "significance", "versions", "printed")
_WRITES_RUN = ("lops_adapters.", "benchmarks.curves", "benchmarks.heuristics")


class Comparison(NamedTuple):
    """Numbers of a result in both measurements, how many moved, and the one that moved most."""

    n: int
    moved: int
    most: str = ""
    old: float = 0.0
    new: float = 0.0


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield the measured numbers of a result with their paths, without times and sizes.

    >>> list(numbers({"arms": {"lops": {"macro_f1": 0.5, "seconds": 3}}}))
    [('arms.lops.macro_f1', 0.5)]
    """
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            if not any(word in str(key) for word in _NOT_RESULTS):
                yield from numbers(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def compare(old: Any, new: Any) -> Comparison:
    """Compare the numbers that two results share.

    >>> compare({"noise": 0.1, "n": 900}, {"noise": 0.2, "n": 905})
    Comparison(n=2, moved=1, most='noise', old=0.1, new=0.2)
    """
    before, after = dict(numbers(old)), dict(numbers(new))
    shared = [name for name in before if name in after]
    change = {
        name: abs(after[name] - before[name]) / max(1.0, abs(before[name])) for name in shared
    }
    moved = [name for name in shared if not change[name] <= TOLERANCE]
    if not moved:
        return Comparison(len(shared), 0)
    most = max(moved, key=change.__getitem__)
    return Comparison(len(shared), len(moved), most, before[most], after[most])


def measure(name: str, data_dir: Path | None, work: Path) -> Path:
    """Run the command of a result, writing below ``work``, and return the new result file.

    Raises:
        LopsError: the command failed, or wrote no result; the reason is its last line.

    """
    shutil.rmtree(work / name, ignore_errors=True)
    run, results = work / name / "run", work / name / "results"
    run.parent.mkdir(parents=True)
    command = f"{read_result(RESULTS / f'{name}.json')['about']['command']} {CHEAP.get(name, '')}"
    words = shlex.split(command)
    asks_data = "--data-dir" in words
    for option in ("--data-dir", "--output"):
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    if writes_run := words[2].startswith(_WRITES_RUN):
        words += ["--output", str(run), *([] if "--quiet" in words else ["--quiet"])]
    if data_dir is not None and (asks_data or writes_run):
        words += ["--data-dir", str(data_dir.resolve())]
    done = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=ROOT,
        env={**os.environ, FOLDER: str(results)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    path = results / f"{name}.json"
    if done.returncode == 0 and writes_run:
        collect(run, path, command=command.strip())
    if not path.exists():
        said = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise LopsError(f"exit status {done.returncode}: {said[-1]}")
    return path


def check_again(
    only: str = "*", *, data_dir: Path | None = None, work: Path, keep: bool = False
) -> int:
    """Measure cheap results again and print how they differ; returns the exit status.

    Args:
        only: a pattern such as ``cpu/*``; other results are not measured.
        data_dir: folder to look for data sets in first.
        work: folder of the new measurements.
        keep: store the comparison, which a page shows.

    Returns:
        1 if a number moved by more than :data:`TOLERANCE` or a command failed, else 0.

    Raises:
        LopsError: no result matches.

    """
    names = [name for name in CHEAP if fnmatch.fnmatchcase(name, only)]
    if not names:
        raise LopsError(f"--only {only!r} matches none of {', '.join(CHEAP)}; pass one of them")
    print(f"moved: by more than {TOLERANCE} of a share, or {TOLERANCE:.1%} of another number")
    status = 0
    for name in names:
        try:
            new = read_result(measure(name, data_dir, work))
        except LopsError as error:
            print(f"{name}: failed: {error}", flush=True)
            status = 1
            continue
        found = compare(read_result(RESULTS / f"{name}.json")["result"], new["result"])
        most = f", most {found.most}: {found.old:.4f}, now {found.new:.4f}" if found.moved else ""
        print(f"{name}: {found.moved} of {found.n} numbers moved{most}", flush=True)
        status = max(status, int(found.moved > 0))
        if keep:
            kept = {**stored(), name: {**found._asdict(), **commit_of(ROOT / "lops_adapters")}}
            write_json(STORED, dict(sorted(kept.items())))
    return status


def stored() -> dict[str, Any]:
    """Return the last stored comparison of each result."""
    import json

    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}


def outside_history() -> dict[str, str]:
    """Return the results whose commit is not in this history, with that commit."""
    known = set(_git("rev-list", "HEAD").split())
    return {name: commit for name, commit in _commits().items() if commit not in known}


def provenance() -> str:
    """Return a line per folder of results: how far the package has come since, what is lost."""
    outside = outside_history()
    folders: dict[str, list[str]] = defaultdict(list)
    for name in _commits():
        folders[name.split("/")[0]].append(name)
    lines = []
    for folder, names in folders.items():
        since = [_changes_since(_commits()[name]) for name in names if name not in outside]
        span = f"{min(since)} to {max(since)}" if since else "-"
        lines.append(f"{folder:20}{len(names):4} results, {span} changes of the package since")
        lines += [
            f"    outside history: {name} ({outside[name][:10]})"
            for name in names
            if name in outside
        ]
    return "\n".join(lines)


@cache
def _commits() -> dict[str, str]:
    """Return result -> the commit of the package that it names, of all results."""
    paths = sorted(path for path in RESULTS.rglob("*.json") if path != STORED)
    abouts = {path: read_result(path)["about"] for path in paths}
    return {
        path.relative_to(RESULTS).with_suffix("").as_posix(): (
            (about.get("git_commit") or "?").partition("+")[0]
        )
        for path, about in abouts.items()
    }


@cache
def _changes_since(commit: str) -> int:
    return int(_git("rev-list", "--count", f"{commit}..HEAD", "--", "lops_adapters"))


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise LopsError(f"git {arguments[0]} failed: {done.stderr.strip()}; run it in a checkout")
    return done.stdout.strip()
