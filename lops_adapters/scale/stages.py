"""Finished work of a run, kept beside its output until the output is there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.selection.draw import Drawn
from lops_adapters.tables.classes import Classes

_PLAIN = (str, int, float, bool, type(None))


class Stages:
    """A folder of results; those of other settings, inputs or versions are removed.

    Args:
        folder: of the output; the results lie beside it, in a hidden folder.
        about: what the results depend on, in JSON's own types.

    """

    def __init__(self, folder: Path, about: Mapping[str, Any]) -> None:
        self.folder = folder.with_name(f".{folder.name}.stages")
        if self.load("about") != json.loads(json.dumps(about)):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            self.save("about", about)

    def load(self, name: str) -> Any:
        """Return a result; None: not there."""
        try:
            return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def save(self, name: str, value: Any) -> None:
        """Keep a result, whole or not at all."""
        storage.write_text(self.folder / f"{name}.json", json.dumps(value))

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def classes_to_json(classes: Classes) -> dict[str, Any] | None:
    """Return classes in JSON's own types; None: labels of another type."""
    if not all(isinstance(label, _PLAIN) for label in classes.name_of):
        return None
    return {
        "names": classes.names,
        "counts": classes.counts.tolist(),
        "name_of": list(classes.name_of.items()),
        "values": list(classes.values.items()),
        "abstained": classes.abstained,
    }


def classes_from_json(stored: Mapping[str, Any]) -> Classes:
    """Return what :func:`classes_to_json` stored."""
    return Classes(
        tuple(stored["names"]),
        np.array(stored["counts"], dtype=np.int64),
        dict(stored["name_of"]),
        dict(stored["values"]),
        stored["abstained"],
    )


def drawn_to_json(drawn: Drawn) -> dict[str, Any] | None:
    """Return a sample in JSON's own types; None: cells of another type."""
    if not all(isinstance(cell, _PLAIN) for _, cells in drawn.rows for cell in cells):
        return None
    numbers = {name: getattr(drawn, name).tolist() for name in ("keys", "ids", "positions")}
    return {**numbers, "rows": drawn.rows}


def drawn_from_json(stored: Mapping[str, Any]) -> Drawn:
    """Return what :func:`drawn_to_json` stored."""
    return Drawn(
        np.array(stored["keys"], dtype=np.uint64),
        np.array(stored["ids"], dtype=np.uint64),
        np.array(stored["positions"], dtype=np.int64),
        [(text, tuple(cells)) for text, cells in stored["rows"]],
    )
