"""Run a function of the package in a child process with limits on memory and time.

`python tests/robustness/bounded.py MODULE FUNCTION PATH...` calls the function with each path and
prints one line of JSON per path: the message of a LopsError, or null.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GIGABYTES, SECONDS = 2, 60  # of processor time: others may be busy


def outcomes(function, paths, seconds=SECONDS):
    """Return the message of the LopsError of each path, or None; fail on anything else."""
    resource = pytest.importorskip("resource")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES * 2**30,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    names = [function.__module__, function.__qualname__]
    done = subprocess.run(
        [sys.executable, __file__, *names, *map(str, paths)],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        },
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(module, function, *paths):
    from lops_adapters.core import LopsError

    call = getattr(importlib.import_module(module), function)
    for path in paths:
        try:
            call(Path(path))
            message = None
        except LopsError as error:
            message = str(error)
        sys.stdout.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
