"""What a run notes about machine and code, next to its settings; one thread for small products."""

import os
import subprocess
import sys
import time
from contextlib import ContextDecorator
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from lops_adapters import extras


def describe(
    command: str, name: str, settings: dict[str, Any], seed: int, data: dict[str, Any], device: str
) -> dict[str, Any]:
    """Return the contents of ``config.json``: what is needed to repeat a run.

    ``name`` is of the framework or command; ``data`` says what the texts are.
    """
    return {
        "framework": name,
        "settings": settings,
        "seed": seed,
        "dataset": data,
        "device": device,
        "command": command,
        "versions": extras.versions(),
        "threads": threads(),
        **commit_of(Path(__file__).resolve().parent),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def threads() -> dict[str, int | None]:
    """Return how many threads numerical libraries use now; sums depend on it in the last digits.

    Returns:
        ``openmp`` (scikit-learn; OMP_NUM_THREADS or the processors, while no library has loaded
        it), ``blas`` (numpy's), ``torch`` (None: PyTorch is not in use), ``processors`` (open to
        this process).
    """
    from threadpoolctl import threadpool_info  # comes with scikit-learn

    most: dict[str, int] = {}
    for library in threadpool_info():
        kind = library["user_api"]
        most[kind] = max(most.get(kind, 0), library["num_threads"])
    torch = sys.modules.get("torch")
    every = processors()
    # "4,2" counts nested levels.
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return {
        "openmp": most.get("openmp", int(asked) if asked.isdecimal() and int(asked) else every),
        "blas": most.get("blas"),
        "torch": None if torch is None else int(torch.get_num_threads()),
        "processors": every,
    }


class _OneBlasThread(ContextDecorator):
    """Let BLAS compute with one thread: the same bits on every number of processors.

    Products of the size of a committee's are slower on two threads, which wait for each other in a
    loop, most of all while other programs compute. The limit holds for the whole process while any
    thread of Python is inside. OpenBLAS, MKL and BLIS are limited, not Accelerate of macOS.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limited: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limited = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limited.restore_original_limits()


one_blas_thread = _OneBlasThread()


@cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401  # its BLAS is found only once it is loaded
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()


def processors() -> int:
    """Return the number of processors open to this process."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def commit_of(package: Path) -> dict[str, Any]:
    """Return the last commit of the files below a folder, and whether these were edited since.

    Both are None where the package is installed, not run from a checkout.
    """

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments, "--", "."],
            cwd=package, capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    try:
        commit = git("log", "-1", "--format=%H")
        return {"git_commit": commit or None, "edited": bool(git("status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return {"git_commit": None, "edited": None}
