"""One result file: the numbers and where they come from."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lops_adapters.runs.folder import describe
from lops_adapters.storage import write_json

RESULTS = Path(__file__).parent / "results"
_FOLDER_OPTIONS = ("--data-dir", "--output")


def write_result(
    name: str,
    numbers: dict[str, Any],
    corpus: Any,
    *,
    seed: int = 0,
    device: str = "cpu",
    command: str | None = None,
) -> Path:
    """Write ``results/NAME.json`` and return its path.

    Args:
        name: of the file, with its folder.
        numbers: what was measured.
        corpus: what it was measured on.
        seed, device: of the run.
        command: default: the running script and its arguments.

    """
    about = describe("benchmarks", {}, seed, corpus, device)
    about["command"] = command or command_line(Path(sys.argv[0]).stem)
    about["machine"] = machine(device)
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"about": about, "result": numbers})
    return path


def command_line(module: str) -> str:
    """Return the running command, without the folders of this machine."""
    return " ".join(["python -m", f"benchmarks.{module}", *without_paths(sys.argv[1:])])


def without_paths(arguments: Sequence[str]) -> list[str]:
    """Replace the folders of this machine by DIR.

    >>> without_paths(["--data-dir", "/home/me/data", "--seed", "0"])
    ['--data-dir', 'DIR', '--seed', '0']
    """
    return [
        "DIR" if before in _FOLDER_OPTIONS else argument
        for before, argument in zip(["", *arguments], arguments, strict=False)
    ]


def machine(device: str = "cpu") -> dict[str, Any]:
    """Return the processor, its number of cores, and the name of the GPU if one is used."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(
            line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        processor = platform.processor() or platform.machine()
    found = {"processor": processor, "cores": os.cpu_count()}
    if device.startswith("cuda"):
        import torch

        found["gpu"] = torch.cuda.get_device_name(device)
    return found
