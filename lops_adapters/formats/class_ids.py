"""Columns of class ids with the names in the file, as Hugging Face's datasets write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lops_adapters.console import listed
from lops_adapters.core import LopsError


def class_names(schema: Any) -> dict[str, list[str]]:
    """Return the names of classes that Hugging Face's datasets note next to ids, also in lists."""
    try:
        about = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        features = {
            column: feature.get("feature", feature)  # of a list, the one inside
            for column, feature in about["info"]["features"].items()
        }
        return {
            column: list(map(str, feature["names"]))
            for column, feature in features.items()
            if feature.get("_type") == "ClassLabel" and feature.get("names")
        }
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return {}


def class_id(names: Sequence[str], name: Any, column: str) -> int:
    """Return the id of a class; a LopsError if the column has no such class."""
    if name not in names:
        raise LopsError(
            f"{name!r:.60} is no class of the column {column!r}, which holds ids of "
            f"{listed(map(repr, names), 10)}; wanted one of them, or another format of output"
        )
    return names.index(name)
