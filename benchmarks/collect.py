"""Store the numbers of a finished run below ``benchmarks/results``.

python -m benchmarks.collect RUN_FOLDER NAME
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, machine, without_paths
from lops_adapters.core import LopsError
from lops_adapters.storage import write_json


def collect(
    run: Path,
    path: Path,
    *,
    command: str | None = None,
    more: Mapping[str, Any] | None = None,
    data_dir: Path | None = None,
) -> Path:
    """Write a result file from a run folder's config and metrics, and return its path.

    Args:
        run: folder of a finished run.
        path: of the result file.
        command: to store; default: the command of the run's config, with DIR instead of folders.
        more: numbers besides the run's metrics.
        data_dir: a folder that paths among the settings are given without.

    Raises:
        LopsError: the run is not finished.

    """
    for part in ("config.json", "metrics.json"):
        if not (run / part).is_file():
            raise LopsError(f"{run} has no {part}; pass the folder of a finished run")
    about = json.loads((run / "config.json").read_text(encoding="utf-8"))
    about["command"] = command or " ".join(without_paths(shlex.split(about["command"])))
    if data_dir is not None:
        start = f"{data_dir.resolve()}/"
        for key, value in about.get("settings", {}).items():
            about["settings"][key] = value.removeprefix(start) if isinstance(value, str) else value
    about["machine"] = machine(about.get("device", "cpu"))
    path.parent.mkdir(parents=True, exist_ok=True)
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    write_json(path, {"about": about, "result": {**metrics, **(more or {})}})
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="folder of a finished run")
    parser.add_argument("name", help="of the result file, with its folder: frameworks/NAME")
    options = parser.parse_args()
    print(collect(options.run, RESULTS / f"{options.name}.json"))
