"""The votes that :func:`lops_adapters.agree` compares, and whether sources may replace people."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.evaluation.alternative import left_out
from lops_adapters.labels.labelled import read_checks
from lops_adapters.labels.reader import read_labels
from lops_adapters.labels.votes import Votes
from lops_adapters.report.agreement import Alternative
from lops_adapters.texts.explain import alike_classes, positions

LEAST_PEOPLE = 3  # one is left out, two others remain


def read_votes(
    n: int, labels: Any, classes: Sequence[Hashable] | None, abstain: Any, ordered: bool
) -> tuple[Votes, list[str], list[str]]:
    """Return the votes on n texts, and sentences: problems of the labels, and how they are read.

    Arguments are as for :func:`~lops_adapters.texts.agree.agree`, and so is the LopsError.
    """
    problems, notes = list[str](), list[str]()
    votes: Votes | None = labels if isinstance(labels, Votes) else None
    if votes is None:
        read = read_labels(labels, abstain=abstain, classes=classes)
        votes, problems, notes = read.votes, read.problems, read.read_as
    if votes is None:
        raise LopsError("labels are of one source; wanted labels of several, a column for each")
    if n != len(votes.codes):
        raise LopsError(
            f"found {n} texts and {len(votes.codes)} rows of labels; wanted one per text"
        )
    order = _order(votes.classes, classes, ordered)
    votes = votes._replace(codes=votes.among(order), classes=order)
    counts = np.bincount(votes.codes[votes.codes >= 0], minlength=len(order)).tolist()
    alike = alike_classes(dict(zip(order, counts, strict=True)))
    if not ordered and len(order) > 2 and None not in map(_number, order):
        notes = [*notes, f"The labels are numbers; if they are ratings, give {typed('ordered')}."]
    return votes, [*alike, *problems], notes


def _order(
    found: Sequence[Hashable], classes: Sequence[Hashable] | None, ordered: bool
) -> list[Hashable]:
    if classes is None:
        if not ordered:
            return list(found)
        numbers = {label: _number(label) for label in found}
        if None in numbers.values():
            name = next(label for label, number in numbers.items() if number is None)
            raise LopsError(
                f"{typed('ordered')}: the label {name!r:.80} is no number; give "
                f"{typed('classes')} in their order"
            )
        return sorted(found, key=numbers.__getitem__)  # type: ignore[arg-type]
    of_name = {str(label): label for label in found}
    names = classes if ordered else [label for label in classes if str(label) in of_name]
    return [of_name.get(str(label), label) for label in names]


def _number(label: Hashable) -> float | None:
    try:
        number = float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def with_checked(checked: Any, votes: Votes) -> tuple[np.ndarray, Votes]:
    """Return the codes of checked rows, (n,), -1: not checked, or none of the classes; and votes.

    Their classes are also those that only checked rows have.
    """
    n, k = len(votes.codes), len(votes.classes)
    codes, others = read_checks(checked, n, votes.classes, positions)
    certain = np.full(n, -1)
    for row, code in codes.items():
        certain[row] = code if code >= -1 else k - 2 - code
    return certain, votes._replace(classes=[*votes.classes, *others])


def check_alternative(margin: float | None, people: Sequence[str], votes: Votes) -> None:
    """Raise a LopsError unless sources can be compared with people who are left out in turn."""
    if margin is None:
        return
    if not 0 <= margin < 1:
        raise LopsError(f"alternative is {margin:g}; wanted a share of rows from 0, below 1")
    persons, others = len(set(people)), len(set(votes.sources) - set(people))
    if persons < LEAST_PEOPLE or not others:
        raise LopsError(
            f"{typed('alternative')} found {persons} people and {others} other sources; wanted at "
            f"least {LEAST_PEOPLE} and 1: name annotators by {typed('people')}"
        )


def alternatives(
    votes: Votes, people: Sequence[str], margin: float, ordered: bool
) -> tuple[Alternative, ...]:
    """Return the alternative annotator test of every source that is no person."""
    positions = [votes.sources.index(name) for name in dict.fromkeys(people)]
    found = []
    for source in sorted(set(range(len(votes.sources))) - set(positions)):
        tests = left_out(votes.codes, source, positions, margin, ordered)
        names = tuple(votes.sources[one.person] for one in tests)
        wins = tuple(votes.sources[one.person] for one in tests if one.wins)
        advantage = float(np.mean([one.advantage for one in tests])) if tests else float("nan")
        found.append(Alternative(votes.sources[source], names, wins, advantage, margin))
    return tuple(found)
