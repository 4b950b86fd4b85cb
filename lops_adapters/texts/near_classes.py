"""Answers that nearly name a class, as language models give them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.texts.abstentions import abstaining


def matched(
    answers: Sequence[Any], classes: Sequence[Hashable], abstain: frozenset[Hashable] = frozenset()
) -> tuple[list[Any], list[str]]:
    """Return answers as the classes that they name, and a sentence about those that differ.

    Args:
        answers: of language models, for instance; None: no answer.
        classes: wanted.
        abstain: answers that name none.

    Raises:
        LopsError: what :func:`nearest` raises.

    >>> matched(["Sports.", "it is art", None], ["sport", "art"])
    (['sport', 'art', None], ["Read as classes: 'Sports.' as sport (1), 'it is art' as art (1)."])
    """
    gone = abstaining(list(answers), abstain).tolist()
    counts = Counter(answer for answer, none in zip(answers, gone, strict=True) if not none)
    meant = nearest(list(counts), classes)
    chosen = [None if none else meant[answer] for answer, none in zip(answers, gone, strict=True)]
    return chosen, about_nearest(counts, meant, list(counts.values()))


def nearest(answers: Sequence[Any], classes: Sequence[Hashable]) -> dict[Any, Hashable]:
    """Return the class that each distinct answer names.

    An answer names a class if it is equal to it except for case, spaces, punctuation and a plural
    s; or if it holds its name as words, and the name of no other class.

    Raises:
        LopsError: an answer that names no class, or several, and classes that are alike.

    >>> nearest(["Sports.", "it is art", "art"], ["sport", "art"])
    {'Sports.': 'sport', 'it is art': 'art', 'art': 'art'}
    """
    wanted = {_folded(str(label)): label for label in classes}
    if len(wanted) < len(classes):
        raise LopsError(
            f"classes {listed(map(repr, classes), 5)} differ by case, spaces or punctuation "
            "only; wanted distinct names"
        )
    known = set(classes)
    meant = {one: one if one in known else _named_class(str(one), wanted) for one in answers}
    unknown = [answer for answer, label in meant.items() if label is None]
    if unknown:
        n = f"{len(unknown)} labels name" if len(unknown) > 1 else "1 label names"
        raise LopsError(
            f"{n} none, or several, of the classes: "
            f"{listed((repr(one)[:60] for one in unknown), 5)}; correct them, add classes, or say "
            f"that they are no label: add {_to_abstain(unknown[:5])}"
        )
    return meant


def about_nearest(
    answers: Iterable[Any], meant: Mapping[Any, Hashable], counts: Sequence[int]
) -> list[str]:
    """Return a sentence about answers that differ from the class that they name, if any."""
    others = [(one, n) for one, n in zip(answers, counts, strict=True) if one != meant[one]]
    if not others:
        return []
    others.sort(key=lambda pair: (-pair[1], str(pair[0])))
    shown = [f"{one!r} as {meant[one]} ({n:,})" for one, n in others]
    return [f"Read as classes: {listed(shown, 5)}."]


def _to_abstain(labels: Sequence[Any]) -> str:
    """Return what says that labels are none, as it is typed."""
    option = typed("abstain")
    if option == "abstain":
        return f"abstain={labels!r}"
    return " ".join(f"{option} {shlex.quote(str(label))}" for label in labels)


def _named_class(answer: str, wanted: Mapping[str, Hashable]) -> Hashable | None:
    folded = _folded(answer)
    if folded in wanted:
        return wanted[folded]
    words = f" {folded} "
    held = [label for name, label in wanted.items() if name and f" {name} " in words]
    return held[0] if len(held) == 1 else None


def _folded(name: str) -> str:
    """Return a name without case, punctuation and plural.

    >>> _folded("Sci/Tech."), _folded("  SPORTS"), _folded("business")
    ('sci tech', 'sport', 'business')
    """
    words = re.sub(r"[\W_]+", " ", name.casefold()).split()
    return " ".join(w[:-1] if w.endswith("s") and not w.endswith("ss") else w for w in words)
