"""The rejected rows beyond those that a page holds as they are: packed, within a size."""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from lops_adapters.report.text import visible

LARGEST = 12 * 2**20  # characters in all; with all else, a page stays under 20 MB
MOST = 200_000  # rows
_ROWS = 2000  # of a part


def packed(rows: Iterable[Mapping[str, Any]], largest: int = LARGEST) -> tuple[list[str], int]:
    """Return rows in parts, each base64 of gzip of a JSON list, and how many rows they hold.

    The part that passes ``largest`` characters in all is left out, and those after it.
    """
    parts: list[str] = []
    waiting, size, number = iter(rows), 0, 0
    while part := list(islice(waiting, _ROWS)):
        text = json.dumps(part, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        press = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
        size += len(press)
        if size > largest:
            break
        parts.append(press)
        number += len(part)
    return parts, number


def for_script(row: Mapping[str, Any], codes: Mapping[str, int]) -> dict[str, Any]:
    """Return a row as the page's script reads it.

    The row is a :class:`~lops_adapters.report.contents.Suspect` in JSON's own types; ``codes`` are
    the places of the labels among the classes.
    """
    return {
        **{
            name: visible(value) if isinstance(value, str) else value for name, value in row.items()
        },
        "code": codes.get(row["label"], -1),
        "suggested_code": codes.get(row["suggested"], -1),
    }
