"""What is said of the labels of a table: why they cannot be classes, and what is odd about them."""

import json
import re
from ast import literal_eval
from collections.abc import Mapping, Sequence

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import valid_text
from lops_adapters.formats.places import SHOWN, rows_of
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.tally import NONE, Tally

_MANY, _ONE_HOT = 10, 0.9  # rows, and the share with one 1, from which on columns are one-hot


def check(tally: Tally, numbers: Sequence[int], columns: Columns) -> None:
    """Raise a LopsError about no labels, one-hot columns, several types, and lists as texts."""
    if not numbers:
        raise LopsError(f"none of the {tally.rows} rows has a {columns.about}")
    known = tally.rows - int(tally.counts[NONE])
    least = known if len(columns.votes) < 3 else _ONE_HOT * known
    if columns.votes and tally.is_binary and known >= _MANY and tally.single >= least:
        raise LopsError(
            f"one 1 per row in {listed(map(repr, columns.votes), SHOWN)}: these are one-hot "
            f"columns, soft labels of one source; give {typed('soft_labels')} in place of "
            f"{typed('labels')}"
        )
    kinds: dict[type, int] = {}
    for number in numbers:
        kinds.setdefault(type(tally.labels[number]), number)
    if len(kinds) > 1 and set(kinds) != {int, float}:
        firsts = (tally.shown_places([tally.first[i]], 1) for i in kinds.values())
        shown = (
            f"{kind.__name__} ({tally.labels[i]!r} in {first})"
            for (kind, i), first in zip(kinds.items(), firsts, strict=True)
        )
        raise LopsError(
            f"labels{columns.inside} have several types: {', '.join(shown)}; make them all "
            "strings or all numbers"
        )
    halves: dict[str, str] = {}
    for number in numbers:
        label = tally.labels[number]
        text = label.strip() if isinstance(label, str) else ""
        name = valid_text(text)
        if "\ufffd" in name and halves.setdefault(name, text) != text:
            raise LopsError(
                f"labels {halves[name]!r:.60} and {text!r:.60} differ by half of a character, "
                "which no file holds; rename one of them"
            )
        if text[:1] + text[-1:] in ("[]", "{}") and _is_literal(text):
            raise LopsError(
                f"{tally.shown_places([tally.first[number]], 1)}: the label {label!r:.60} is a "
                "list or an object, which may hold several classes; wanted one class name per row"
            )


def about_absent(tally: Tally, columns: Columns, absent: Sequence[int]) -> list[str]:
    """Return a sentence about rows without a class, if any."""
    count = int(tally.counts[list(absent)].sum())
    if not count:
        return []
    why = "Without a label"
    if columns.soft_labels or columns.has_votes:
        why = "Without a largest soft label" if columns.soft_labels else "Without a vote"
    sentence = f"{why}: {rows_of(count)} ({tally.shown(absent)}), neither kept nor rejected."
    if len(absent) > 1 and columns.abstain is None:
        option = "abstain=()" if columns.in_memory else f"{typed('abstain')} ''"
        sentence += f" -1 counts as no label; if it is a class, give {option}."
    return [sentence]


def _is_literal(text: str) -> bool:
    try:
        return isinstance(literal_eval(text), list | dict | set)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    try:
        return isinstance(json.loads(text), list | dict)
    except (ValueError, RecursionError):
        return False


def about_several(labels: Mapping[str, int]) -> list[str]:
    """Return a sentence about labels that join other labels, such as a#b, if there are any."""
    joined = {}
    for label, count in labels.items():
        parts = [part.strip() for part in re.split(r"[#|;,&+/]", label)]
        if len(parts) > 1 and all(part in labels for part in parts):
            joined[label] = count
    if not joined:
        return []
    shown = listed((f"{label!r} ({count:,})" for label, count in joined.items()), SHOWN)
    return [
        f"Labels that hold several classes: {shown}. Each counts as a class of its own; wanted one "
        "class per row."
    ]
