"""The sentences under a selection, and warnings about one that looks wrong."""

from __future__ import annotations

from typing import Any

from lops_adapters.core import Selection
from lops_adapters.texts.reading import SEVERAL, SHOWN


def reasons(selection: Selection, method: str, arguments: dict[str, Any]) -> list[str]:
    """Return sentences: what is kept, how the probe was trained, what to do next."""
    trained = selection.stopped[:1].upper() + selection.stopped[1:]
    sentences = [
        f"Kept: {_kept(method, arguments)}.",
        f"{trained}.",
        "Next: train on the kept rows; relabel or drop the rejected ones, most probable "
        "suggestions first.",
    ]
    single = [str(label) for label, report in selection.per_class.items() if report.count == 1]
    if single:
        sentences.append(
            f"Classes with a single row cannot be checked: {', '.join(single[:SHOWN])}. Add rows, "
            "or leave them out."
        )
    return sentences


def _kept(method: str, arguments: dict[str, Any]) -> str:
    if method == "automatic" and arguments.get("stratified"):
        return "as many rows as a held-out probe agrees with, the same share of every class"
    if method == "automatic":
        return "rows whose label a held-out probe agrees with"
    if method == "confident-learning":
        return "rows that confident learning does not flag as label errors"
    if method == "lops":
        return f"rows the probe learns first (rule {arguments['rule']}, tau {arguments['tau']:g})"
    if method == "learning-order":
        return f"per class, the fraction {arguments['tau']:g} that the probe learns first"
    return f"per class, the fraction {arguments['tau']:g} that {method} ranks highest"


def complaints(selection: Selection, method: str) -> list[str]:
    """Return warnings: classes without kept or learnt rows, labels unrelated to the texts."""
    found = []
    if method != "lops":  # which says by itself if nothing is learnt
        found.append(_nothing_kept(selection))
    if method == "learning-order":
        found.append(_nothing_learnt(selection))
    if method == "automatic":
        found.append(_hardly_more_than_chance(selection))
    return [message for message in found if message]


def _nothing_kept(selection: Selection) -> str:
    empty = [f"{c!r} ({r.count})" for c, r in selection.per_class.items() if not r.kept]
    if not empty:
        return ""
    return (
        f"nothing is kept of {len(empty)} of {len(selection.per_class)} classes: "
        f"{', '.join(empty[:SHOWN])}. Check these labels, or set tau to a number to keep that "
        "share of every class"
    )


def _nothing_learnt(selection: Selection) -> str:
    empty = [f"{c!r} ({r.count})" for c, r in selection.per_class.items() if not r.learnt]
    if not empty:
        return ""
    return (
        f"nothing was learnt in {len(empty)} of {len(selection.per_class)} classes: "
        f"{', '.join(empty[:SHOWN])}. Their kept rows are chosen by probability alone: train the "
        "probe longer, or check these labels"
    )


def _hardly_more_than_chance(selection: Selection) -> str:
    """Of k classes, guessing agrees with one label in k."""
    n, kept, k = len(selection.mask), len(selection.kept), len(selection.per_class)
    if n < SEVERAL or kept * k > 1.2 * n:
        return ""
    return (
        f"a held-out probe agrees with {kept} of {n} labels, hardly more than by guessing among "
        f"{k} classes ({n // k}): the labels have little to do with the texts. Check that these "
        "are the right columns and that their rows belong together"
    )
