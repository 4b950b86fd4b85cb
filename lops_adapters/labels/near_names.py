"""Answers that nearly name a class, as language models give them."""

import re
import shlex
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import NUMBER, spelling

SHOWN = 5  # answers in a message
_NOT = re.compile(r"n['\u2019]t\b")
# As :func:`_folded` leaves them: "pas" and "sans" without their s.
_NEGATIONS = {
    *("not", "no", "non", "nor", "none", "never", "neither", "without", "cannot"),
    *("nicht", "kein", "keine", "ohne", "pa", "san", "sin", "niet", "geen", "não", "nao"),
}


def nearest(
    answers: Sequence[Any], classes: Sequence[Hashable], where: Callable[[Any], str]
) -> dict[Any, Hashable]:
    """Return the class that each distinct answer names.

    An answer names a class if it is equal to it except for case, spaces, punctuation, a plural s
    and zeros of a number; or if it holds its name as words, and besides it neither the name of
    another class nor a negation. Of names that hold each other, the longest counts.

    Raises a LopsError about an answer that names no class, or several, with its places by
    ``where``, and about classes that are alike.

    >>> nearest(["Sports.", "it is art", "4.0"], ["sport", "art", "04"], repr)
    {'Sports.': 'sport', 'it is art': 'art', '4.0': '04'}
    >>> nearest(["It is not toxic."], ["toxic", "not toxic"], repr)
    {'It is not toxic.': 'not toxic'}
    """
    class_of = {_folded(str(label)): label for label in classes}
    if len(class_of) < len(classes):
        raise LopsError(
            f"classes {listed(map(repr, classes), 5)} differ by case, spaces or punctuation "
            "only; wanted distinct names"
        )
    known = set(classes)
    meant = {one: one if one in known else _named_class(str(one), class_of) for one in answers}
    unknown = [answer for answer, label in meant.items() if label is None]
    if unknown:
        n = f"{len(unknown)} labels name" if len(unknown) > 1 else "1 label names"
        option, first = typed("abstain"), unknown[:SHOWN]
        way_out = f"abstain={first!r}"
        if option != "abstain":
            way_out = " ".join(f"{option} {shlex.quote(str(label))}" for label in first)
        raise LopsError(
            f"{n} none, or several, of the classes: "
            f"{listed((f'{one!r:.60} ({where(one)})' for one in unknown), SHOWN)}; correct them, "
            f"add classes, or say that they are no label: add {way_out}"
        )
    return meant


def _named_class(answer: str, class_of: Mapping[str, Hashable]) -> Hashable | None:
    folded = _folded(answer)
    if folded in class_of:
        return class_of[folded]
    rest, held = f" {folded} ", set[Hashable]()
    for name in sorted(filter(None, class_of), key=len, reverse=True):
        while f" {name} " in rest:
            held.add(class_of[name])
            rest = rest.replace(f" {name} ", " | ", 1)
    return held.pop() if len(held) == 1 and _NEGATIONS.isdisjoint(rest.split()) else None


def _folded(name: str) -> str:
    """Return a name without case, punctuation and plural.

    >>> _folded("Sci/Tech."), _folded("  SPORTS"), _folded("isn't"), _folded("-1.0")
    ('sci tech', 'sport', 'i not', '-1')
    """
    text = spelling(name)
    if NUMBER.fullmatch(text):
        return text
    words = re.sub(r"[\W_]+", " ", _NOT.sub(" not", text)).split()
    return " ".join(w.removesuffix("s") for w in words)
