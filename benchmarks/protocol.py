"""Protocols: a JSON file of templates, each a command and lists of values, expanded into the cells
of an experiment.
"""

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
    """One command of an experiment, whose numbers become one result file.

    Attributes:
        name: readable, unique in its protocol.
        kind: one of :data:`KINDS`.
        command: as one would type it; where its data, its run folder and its ``--resume`` are is
            added when it is run.

    """

    name: str
    kind: str
    command: str


def protocol_path(protocol: str) -> Path:
    """Return the file of a protocol, given by its name or its path.

    Raises:
        LopsError: there is no such file.

    """
    path = Path(protocol) if protocol.endswith(".json") else PROTOCOLS / f"{protocol}.json"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in PROTOCOLS.glob("*.json")))
        raise LopsError(
            f"there is no protocol {protocol!r}; wanted one of {known}, or the path of a .json file"
        )
    return path


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a protocol in the order of the file; of a template's lists the last one
    turns fastest.

    Raises:
        LopsError: no JSON, a template without its parts or with others, a list that the name does
            not use or that is not there, two cells of one name, or a command that does not start
            with ``python``.

    """
    try:
        templates = json.loads(path.read_text(encoding="utf-8"))["templates"]
    except (ValueError, KeyError, TypeError) as error:
        raise LopsError(
            f"{path} is no protocol ({error!r}); wanted JSON with a list of templates"
        ) from None
    cells = [cell for template in templates for cell in expand(template)]
    names = [cell.name for cell in cells]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LopsError(
            f"{path}: two cells are called {twice[0]!r}; name every list of a template in its name"
        )
    return cells


def expand(template: dict[str, Any]) -> list[Cell]:
    """Return the cells of one template.

    >>> template = {"kind": "curves", "name": "c-{d}-{s}", "command": "python -m c --d {d} --s {s}", "lists": {"d": ["x"], "s": [0, 1]}}
    >>> [cell.name for cell in expand(template)], expand(template)[1].command
    (['c-x-0', 'c-x-1'], 'python -m c --d x --s 1')
    """
    if set(template) != _KEYS:
        raise LopsError(
            f"a template has {', '.join(sorted(template))}; wanted {', '.join(sorted(_KEYS))}"
        )
    if template["kind"] not in KINDS:
        raise LopsError(
            f"a template's kind is {template['kind']!r}; wanted one of {', '.join(KINDS)}"
        )
    if not template["command"].startswith("python "):
        raise LopsError(f"a command starts with {template['command'][:20]!r}; wanted python")
    lists = template["lists"]
    for part in ("name", "command"):
        asked = {field for _, field, _, _ in Formatter().parse(template[part]) if field is not None}
        if asked - set(lists):
            raise LopsError(
                f"the {part} {template[part]!r} asks for {sorted(asked - set(lists))[0]!r}; its lists are {', '.join(lists)}"
            )
    turns = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    return [
        Cell(template["name"].format(**turn), template["kind"], template["command"].format(**turn))
        for turn in turns
    ]
