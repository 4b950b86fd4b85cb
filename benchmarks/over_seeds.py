"""Compare arms over several seeds by the paired bootstrap over seeds and documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.predictions import significance_over_seeds
from benchmarks.protocol import Cell
from lops_adapters.storage import write_json

PREFIX = "over-seeds-"
_SEED = re.compile(r"-seed\d+$")


def compare(cells: Iterable[Cell], folder: Path, work: Path) -> list[Path]:
    """Write ``over-seeds-CELL.json`` for self-training cells that differ only in the seed.

    Seeds with different samples of the documents are not compared; seeds without predictions are
    left out. A file about the same runs is kept.

    Args:
        cells: of the protocol.
        folder: of its result files.
        work: of its runs, with each cell's ``predictions.npz``.

    Returns:
        The files written.

    Raises:
        LopsError: predictions are about different documents.

    """
    written = []
    for name, group in _groups(cells).items():
        ready = [
            cell
            for cell in group
            if (folder / f"{cell}.json").exists() and (work / cell / "predictions.npz").exists()
        ]
        files = [
            json.loads((folder / f"{cell}.json").read_text(encoding="utf-8")) for cell in ready
        ]
        path = folder / f"{PREFIX}{name}.json"
        if len(files) < 2 or not same_documents(files):
            continue
        if path.exists() and is_of(json.loads(path.read_text(encoding="utf-8")), files):
            continue
        found = significance_over_seeds([work / cell / "predictions.npz" for cell in ready])
        if found["significance"]:
            result = {"of": runs_of(files), **found}
            write_json(path, {"about": files[0]["about"], "result": result})
            written.append(path)
    return written


def _groups(cells: Iterable[Cell]) -> dict[str, list[str]]:
    """Return name without the seed -> names of the cells."""
    groups: dict[str, list[str]] = {}
    for cell in cells:
        if cell.kind == "self_training" and _SEED.search(cell.name):
            groups.setdefault(_SEED.sub("", cell.name), []).append(cell.name)
    return groups


def same_documents(files: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether result files are about the same documents."""
    return len({item["about"]["dataset"].get("sha256") for item in files}) == 1


def runs_of(files: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
    """Return seed -> start time of its run, which identifies the run."""
    return {str(item["about"]["seed"]): item["about"].get("started") for item in files}


def is_of(item: Mapping[str, Any], files: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a comparison over seeds is about exactly these runs."""
    return bool(item["result"]["of"] == runs_of(files))
