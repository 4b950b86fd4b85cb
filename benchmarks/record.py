"""One result file: the numbers, and all that is needed to know where they come from."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

from lops_adapters.runs import describe
from lops_adapters.storage import write_json

RESULTS = Path(__file__).parent / "results"


def write_result(name: str, numbers: dict[str, Any], corpus: Any, *, seed: int = 0, device: str = "cpu") -> Path:
    """Write ``results/NAME.json`` and return its path."""
    about = describe("benchmarks", {}, seed, corpus, device)
    about["command"] = " ".join(["python -m", f"benchmarks.{Path(sys.argv[0]).stem}", *_without_paths(sys.argv[1:])])
    about["machine"] = {"processor": _processor(), "cores": os.cpu_count()}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    write_json(path, {"about": about, "result": numbers})
    return path


def _without_paths(arguments: list[str]) -> list[str]:
    """Where the data lies on the machine that measured is nobody's business and no help to others."""
    return ["DIR" if before == "--data-dir" else argument for before, argument in zip(["", *arguments], arguments, strict=False)]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
