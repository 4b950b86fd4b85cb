"""Labels that hold several classes: refused if they are lists, named if they join others."""

import json
import re
from ast import literal_eval
from collections.abc import Hashable, Iterable, Mapping

from lops_adapters.console import listed
from lops_adapters.core import LopsError

SHOWN = 5  # labels in a message


def check_single(labels: Iterable[Hashable]) -> None:
    """Raise a LopsError about a label that is the text of a list or an object."""
    for label in labels:
        text = label.strip() if isinstance(label, str) else ""
        if text[:1] + text[-1:] in ("[]", "{}") and _is_literal(text):
            raise LopsError(
                f"the label {label!r:.60} is a list or an object, which may hold several classes; "
                "wanted one class name per row"
            )


def _is_literal(text: str) -> bool:
    try:
        return isinstance(literal_eval(text), list | dict | set)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    try:
        return isinstance(json.loads(text), list | dict)
    except (ValueError, RecursionError):
        return False


def about_several(labels: Mapping[Hashable, int]) -> list[str]:
    """Return a sentence about labels that join other labels, such as a#b, if there are any."""
    joined = {}
    for label, count in labels.items():
        parts = re.split(r"\s*[#|;,&+/]\s*", label) if isinstance(label, str) else []
        if len(parts) > 1 and all(part in labels for part in parts):
            joined[label] = count
    if not joined:
        return []
    shown = listed((f"{label!r} ({count:,})" for label, count in joined.items()), SHOWN)
    return [
        f"Labels that hold several classes: {shown}. Each counts as a class of its own; wanted one "
        "class per row."
    ]
