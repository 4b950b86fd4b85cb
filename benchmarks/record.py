"""One result file: the numbers, and all that is needed to know where they come from."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lops_adapters.runs import describe
from lops_adapters.storage import write_json

RESULTS = Path(__file__).parent / "results"
_FOLDER_OPTIONS = ("--data-dir", "--output")


def write_result(name: str, numbers: dict[str, Any], corpus: Any, *, seed: int = 0, device: str = "cpu") -> Path:
    """Write ``results/NAME.json`` and return its path."""
    about = describe("benchmarks", {}, seed, corpus, device)
    about["command"] = " ".join(["python -m", f"benchmarks.{Path(sys.argv[0]).stem}", *without_paths(sys.argv[1:])])
    about["machine"] = machine()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    write_json(path, {"about": about, "result": numbers})
    return path


def without_paths(arguments: Sequence[str]) -> list[str]:
    """Replace folders by DIR: where they lay on the machine that measured is no help to anybody else.

    >>> without_paths(["--data-dir", "/home/me/data", "--seed", "0"])
    ['--data-dir', 'DIR', '--seed', '0']
    """
    return ["DIR" if before in _FOLDER_OPTIONS else argument for before, argument in zip(["", *arguments], arguments, strict=False)]


def machine() -> dict[str, Any]:
    """Processor and number of cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        processor = platform.processor() or platform.machine()
    return {"processor": processor, "cores": os.cpu_count()}
