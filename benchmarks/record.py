"""One result file: the numbers and where they come from."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.protocol import PROTOCOLS, read_cells
from lops_adapters.datasets import Corpus
from lops_adapters.runs.arms import arm_of_today
from lops_adapters.runs.folder import describe
from lops_adapters.storage import write_json

RESULTS = Path(__file__).parent / "results"
FOLDER = "LOPS_RESULTS"  # variable: where new results are written, if not there
WRITTEN = Path(os.environ.get(FOLDER) or RESULTS)
# What ``lops`` was in files that name no settings: the default of the frameworks then.
_ONCE = {"method": "ranked", "keep": "auto"}
# Parts of commands that today's parsers refuse -> what asks for the same today.
_RETIRED = {
    " --lops-at both": " --arms standard,lops,lops-documents",
    " --rule ranked": "",
    " --turns 25": "",
    " --turns 3": "",
    "khmer letters,chinese characters": "'khmer letters,chinese characters'",
}
_FOLDER_OPTIONS = ("--before-dir", "--data-dir", "--kept", "--output", "--runs", "--work")


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
    path = WRITTEN / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"about": about, "result": numbers})
    return path


def read_result(path: Path) -> dict[str, Any]:
    """Return a result file, its arms and its command by the names of today.

    The command is that of the protocol that holds the cell, if there is one.
    """
    item: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    about, result = item["about"], item["result"]
    settings = about.get("settings") or result.get("settings") or _ONCE

    def today(named: Any) -> Any:
        if isinstance(named, dict):
            return {arm_of_today(arm, settings): value for arm, value in named.items()}
        return [arm_of_today(arm, settings) for arm in named]

    if "arms" in result:
        names = {key: today(result[key]) for key in ("arms", "macro_f1") if key in result}
        item["result"] = {**result, **names}
    if "significance" in result:
        compared = today(result["significance"])
        item["result"]["significance"] = {arm: today(one) for arm, one in compared.items()}
    words = about.get("command", "").split()
    if "--arms" in words:
        at = words.index("--arms") + 1
        words[at] = ",".join(today(words[at].split(",")))
    command = " ".join(words)
    for part, now in _RETIRED.items():
        command = command.replace(part, now)
    cell = path.relative_to(RESULTS).with_suffix("").as_posix() if RESULTS in path.parents else ""
    if "/over-seeds-" in cell:  # of the first seed's cell
        cell = f"{cell.replace('over-seeds-', '')}-seed0"
    about["command"] = commands_of_cells().get(cell, command)
    return item


@cache
def commands_of_cells() -> dict[str, str]:
    """Return PROTOCOL/CELL -> its command, of all protocols."""
    return {
        f"{path.stem}/{cell.name}": cell.command
        for path in sorted(PROTOCOLS.glob("*.json"))
        for cell in read_cells(path)
    }


def measure_tables(
    module: str,
    about: str | None,
    names: Iterable[str],
    load: Callable[[str, Path], Any],
    measure: Callable[[Any], dict[str, Any]],
) -> None:
    """Measure the tables that have no result yet: the ``main`` of a benchmark.

    Args:
        module: of the benchmark; its results are in the folder of this name, ``-`` for ``_``.
        about: its docstring, for the help.
        names: of all its tables.
        load: returns a table by name from the folder with data; it has texts, and labels or
            classes.
        measure: returns the numbers of a table.

    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--tables", default=",".join(names), help="default: all")
    options = parser.parse_args()
    folder = module.replace("_", "-")
    for name in options.tables.split(","):
        if (WRITTEN / folder / f"{name}.json").exists():
            continue
        print(name, flush=True)
        table = load(name, options.data_dir)
        result = measure(table)
        ids = tuple(map(str, range(len(table.texts))))
        classes = getattr(table, "classes", None) or tuple(sorted(set(map(str, table.labels))))
        corpus = Corpus(name, ids, tuple(table.texts), classes)
        command = f"python -m benchmarks.{module} --data-dir DIR --tables {name}"
        write_result(f"{folder}/{name}", result, corpus, command=command)


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
