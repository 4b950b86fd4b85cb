"""Protocols: JSON files of command templates, which are expanded into the cells to run."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

from lops_adapters.core import LopsError

PROTOCOLS = Path(__file__).parent / "protocols"
KINDS = ("self_training", "curves", "framework", "heuristics")
_KEYS = {"kind", "name", "command", "lists"}


@dataclass(frozen=True)
class Cell:
    """One command of an experiment; its numbers become one result file.

    Attributes:
        name: unique in its protocol.
        kind: one of :data:`KINDS`.
        command: as typed, without data folder, run folder and ``--resume``.

    """

    name: str
    kind: str
    command: str


def protocol_path(protocol: str) -> Path:
    """Return the file of a protocol, given its name or path.

    Raises:
        LopsError: the file does not exist.

    """
    path = Path(protocol) if protocol.endswith(".json") else PROTOCOLS / f"{protocol}.json"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in PROTOCOLS.glob("*.json")))
        raise LopsError(
            f"unknown protocol {protocol!r}; pass one of {known}, or the path of a .json file"
        )
    return path


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a protocol in file order; a template's last list changes fastest.

    Raises:
        LopsError: the file is not JSON, or a template has missing or unknown parts, lists or
            names.

    """
    try:
        templates = json.loads(path.read_text(encoding="utf-8"))["templates"]
    except (ValueError, KeyError, TypeError) as error:
        raise LopsError(
            f"{path} is not a protocol ({error!r}); pass JSON with a list of templates"
        ) from None
    cells = [cell for template in templates for cell in expand(template)]
    names = [cell.name for cell in cells]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LopsError(
            f"{path}: two cells have the name {twice[0]!r}; use every list in the template's name"
        )
    return cells


def expand(template: dict[str, Any]) -> list[Cell]:
    """Return the cells of one template.

    >>> template = {"kind": "curves", "name": "c-{d}-{s}", "lists": {"d": ["x"], "s": [0, 1]}}
    >>> template["command"] = "python -m c --d {d} --s {s}"
    >>> [cell.name for cell in expand(template)], expand(template)[1].command
    (['c-x-0', 'c-x-1'], 'python -m c --d x --s 1')
    """
    if set(template) != _KEYS:
        raise LopsError(
            f"a template has {', '.join(sorted(template))}; it needs {', '.join(sorted(_KEYS))}"
        )
    if template["kind"] not in KINDS:
        raise LopsError(
            f"a template's kind is {template['kind']!r}; pass one of {', '.join(KINDS)}"
        )
    if not template["command"].startswith("python "):
        raise LopsError(
            f"a command starts with {template['command'][:20]!r}; it must start with python"
        )
    lists = template["lists"]
    for part in ("name", "command"):
        asked = {field for _, field, _, _ in Formatter().parse(template[part]) if field is not None}
        unknown = sorted(asked - set(lists))
        if unknown:
            raise LopsError(
                f"the {part} {template[part]!r} uses {unknown[0]!r}; "
                f"the template's lists are {', '.join(lists)}"
            )
    turns = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    return [
        Cell(template["name"].format(**turn), template["kind"], template["command"].format(**turn))
        for turn in turns
    ]
