"""One changed line of the package at a time: do the tests of its room notice?

    python -m tests.robustness.mutants                  # all of mutants.json
    python -m tests.robustness.mutants --sample         # those of make test-all
    python -m tests.robustness.mutants --only labels/   # of the files that begin so

An entry of mutants.json is a file of the package, a text that stands there once, what replaces it,
and test files; the doctests of the file count, too. The package and its tests are copied into a
temporary folder. Each mutant is a fork of a process that has imported the libraries: it changes the
copy, runs its tests until the first failure, and the copy is as before. Survivors are printed; the
exit status is 1 if there is one, or an entry whose text is not in its file once.
"""

import argparse
import compileall
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
COPIED, LINKED = ("lops_adapters", "tests"), ("docs", "benchmarks", "patches", "pyproject.toml")
LIBRARIES = ("hypothesis", "numpy", "pandas", "scipy.optimize", "sklearn.linear_model", "torch")
SECONDS = 60  # of processor time, for the tests of a mutant
MEMORY = 4 << 30  # of a loop that never ends, too
_KILLED = {1: "killed", -signal.SIGXCPU: "killed (too slow)"}  # by exit status of pytest


class Mutant(NamedTuple):
    """An entry; ``sample``: it is one of those of make test-all."""

    file: str
    old: str
    new: str
    tests: str
    sample: bool = False


def mutants():
    """Return the entries of mutants.json."""
    entries = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return [Mutant(**entry) for entry in entries]


def stale(entries):
    """Return the entries whose text is not in their file once, or whose tests are gone."""
    return [
        one
        for one in entries
        if (ROOT / "lops_adapters" / one.file).read_text(encoding="utf-8").count(one.old) != 1
        or not all((ROOT / "tests" / path).exists() for path in one.tests.split())
    ]


def copied(folder):
    """Copy the package and its tests, and compile the package: once, not in every fork."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name)
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    compileall.compile_dir(folder / "lops_adapters", quiet=2)


def tested(folder, entries):
    """Run the tests of entries in a fork; return pytest's exit status, or minus a signal."""
    child = os.fork()
    if not child:
        with suppress(BaseException):
            _run(folder, entries)
        os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(folder, entries):
    import resource

    import pytest

    limit = int(time.process_time()) + SECONDS * len(entries)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    os.chdir(folder)
    for name in [one for one in sys.modules if one.split(".")[0] in COPIED]:
        del sys.modules[name]
    sys.dont_write_bytecode, sys.path[0] = True, str(folder)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    paths = [f"tests/{path}" for one in entries for path in one.tests.split()]
    paths += [f"lops_adapters/{one.file}" for one in entries]
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    os._exit(pytest.main([*options, "--basetemp", str(folder / "tmp"), *dict.fromkeys(paths)]))


def changed(folder, mutant):
    """Apply a mutant to the copy; return how its tests end, in words."""
    path = folder / "lops_adapters" / mutant.file
    before, stamp = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(before.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        status = tested(folder, [mutant])
    finally:
        path.write_text(before, encoding="utf-8")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # the bytecode holds again
    return _KILLED.get(status, "survived" if not status else f"pytest ended with {status}")


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments=None):
    parser = argparse.ArgumentParser(description="change single lines, run the tests of the room")
    parser.add_argument("--sample", action="store_true", help="those of make test-all")
    parser.add_argument("--only", default="", metavar="START", help="of files that begin so")
    options = parser.parse_args(arguments)
    entries = [one for one in mutants() if one.file.startswith(options.only)]
    entries = [one for one in entries if one.sample] if options.sample else entries
    if bad := stale(entries):
        say("\n".join(["not in its file once, or without tests:", *map(str, bad)]))
        return 1
    for library in LIBRARIES:
        importlib.import_module(library)
    start, killed = time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copied(folder)
        if status := tested(folder, entries):
            say(f"the tests fail without a mutant, too: pytest ended with {status}")
            return 1
        for mutant in entries:
            began, state = time.perf_counter(), changed(folder, mutant)
            killed += state.startswith("killed")
            if state != "killed":
                say(f"{state} ({time.perf_counter() - began:.0f} s): {mutant.file}: {mutant.new}")
    seconds = time.perf_counter() - start
    say(f"{killed} of {len(entries)} mutants killed, in {seconds:.0f} s")
    return int(killed < len(entries))


if __name__ == "__main__":
    sys.exit(main())
