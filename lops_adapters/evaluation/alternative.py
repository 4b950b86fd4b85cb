"""Whether a source may take an annotator's place: the alternative annotator test.

Calderon, Reichart and Dror, "The alternative annotator test for LLM-as-a-judge: how to
statistically justify replacing human annotators with LLMs" (ACL 2025). One person at a time is left
out: is the source as close to the other people as this person is?

Notation: n rows, m sources, codes 0..k-1, -1: no label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

LEAST_ROWS = 30  # of a person who counts
_FALSE = 0.05  # share of wrong findings, at most, expected


@dataclass(frozen=True)
class LeftOut:
    """A source next to one person.

    Attributes:
        person: position among the sources.
        rows: with labels of the source, the person and another person.
        advantage: share of the rows on which the source is at least as close to the others.
        p: of the hypothesis that the person is closer by the margin or more.
        wins: whether it is rejected, with false discoveries controlled over all people.
    """

    person: int
    rows: int
    advantage: float
    p: float
    wins: bool


def left_out(
    votes: np.ndarray, source: int, people: Sequence[int], margin: float, ordered: bool = False
) -> list[LeftOut]:
    """Return what the test says of a source next to each person with enough rows.

    Args:
        votes: (n, m) codes.
        source: position of the source; not one of ``people``.
        margin: what a person costs more, as a share of rows in [0, 1): epsilon.
        ordered: codes are ratings; close is a small root of the mean squared difference. Else:
            many equal labels.

    By the procedure of Benjamini and Yekutieli (2001), since the tests depend on each other.

    >>> votes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]] * 20)
    >>> [(one.rows, one.advantage, one.wins) for one in left_out(votes, 3, [0, 1, 2], 0.1)]
    [(40, 1.0, True), (40, 1.0, True), (40, 1.0, True)]
    """
    found = []
    for person in people:
        others = [one for one in people if one != person]
        known = (votes[:, [source, person]] >= 0).all(axis=1)
        rows = np.flatnonzero(known & (votes[:, others] >= 0).any(axis=1))
        if len(rows) < LEAST_ROWS:
            continue
        rest = votes[rows][:, others]
        of_source = _closeness(votes[rows, source], rest, ordered)
        of_person = _closeness(votes[rows, person], rest, ordered)
        near = of_source >= of_person
        behind = (of_person >= of_source).astype(float) - near
        found.append(LeftOut(person, len(rows), float(near.mean()), _p(behind, margin), False))
    limits = _FALSE * np.arange(1, len(found) + 1) / max(1, len(found))
    limits /= (1 / np.arange(1, len(found) + 1)).sum()
    found.sort(key=lambda one: (one.p, one.person))
    wins = np.flatnonzero(np.array([one.p for one in found]) <= limits).max(initial=-1)
    marked = [replace(one, wins=bool(rank <= wins)) for rank, one in enumerate(found)]
    return sorted(marked, key=lambda one: one.person)


def _closeness(codes: np.ndarray, others: np.ndarray, ordered: bool) -> np.ndarray:
    """Return how close (r,) codes are to those of others, (r, o) with -1 for none; (r,)."""
    given = others >= 0
    if not ordered:
        return np.asarray(((others == codes[:, None]) & given).sum(axis=1) / given.sum(axis=1))
    squares = np.where(given, (others - codes[:, None]) ** 2, 0)
    return np.asarray(-np.sqrt(squares.sum(axis=1) / given.sum(axis=1)))


def _p(behind: np.ndarray, margin: float) -> float:
    """Return the p-value of a mean of at least ``margin``, by Student's t."""
    from scipy.special import stdtr

    n, gap = len(behind), float(behind.mean()) - margin
    spread = float(behind.std(ddof=1))
    if not spread:
        return float(gap >= 0)
    return float(stdtr(n - 1, gap / (spread / n**0.5)))
