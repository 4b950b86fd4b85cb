"""Put the numbers of a finished run under ``benchmarks/results``, where tables are made from.

python -m benchmarks.collect RUN_FOLDER NAME
"""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path

from benchmarks.record import RESULTS, machine, without_paths
from lops_adapters.core import LopsError
from lops_adapters.storage import write_json


def collect(run: Path, name: str) -> Path:
    """Write ``results/NAME.json`` from a run folder's config and metrics; folders in its command line become DIR."""
    for part in ("config.json", "metrics.json"):
        if not (run / part).is_file():
            raise LopsError(f"{run} holds no {part}; wanted the folder of a finished run")
    about = json.loads((run / "config.json").read_text(encoding="utf-8"))
    about["command"] = " ".join(without_paths(shlex.split(about["command"])))
    about["machine"] = machine()
    path = RESULTS / f"{name}.json"
    write_json(path, {"about": about, "result": json.loads((run / "metrics.json").read_text(encoding="utf-8"))})
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("name")
    options = parser.parse_args()
    print(collect(options.run, options.name))
