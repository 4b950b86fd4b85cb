"""How narrow intervals of ``lops agree`` are with few checked rows, and whether they hold.

    python -m benchmarks.agreement --data-dir DIR

Per table with votes of people or language models: how much more often one source is right than
another, from 50, 100 and 200 checked rows. Gold labels play the person. Compared, for each pair of
the first four sources that vote on nearly all rows, alone and among the four:

- ``random``: the checked rows of a random sample, and nothing else;
- ``cdi``: Confidence-Driven Inference (Gligoric et al., NAACL 2025), written from the paper. Rows
  are drawn with a probability that grows with how unsure their difference is, a fifth of them
  evenly, and weigh by its inverse. It draws for this pair alone;
- ``agree``: rows from the top of ``to_check``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.record import measure_tables
from benchmarks.source_tables import VotedTable, load_voted
from lops_adapters import agree
from lops_adapters.evaluation.agreement import difference
from lops_adapters.selection.votes.sources import by_votes

TABLES = ("newsbias-llm", "medialean-llms", "stance-llms", "emotion-llms", "politeness-llms")
CHECKED = (50, 100, 200)
DRAWS = 50
_SOURCES, _MOST_VOTE, _MARGIN, _EVENLY, _Z = 4, 0.95, 0.05, 0.2, 1.96
Bounds = tuple[float, float]


def random_rows(right: np.ndarray, n: int, rng: np.random.Generator) -> Bounds:
    """Return the interval of the mean of n of the (rows,) differences."""
    drawn = right[rng.permutation(len(right))[:n]]
    error = _Z * float(drawn.std()) / math.sqrt(n)
    return float(drawn.mean()) - error, float(drawn.mean()) + error


def driven(
    right: np.ndarray, expected: np.ndarray, unsure: np.ndarray, n: int, rng: np.random.Generator
) -> Bounds:
    """Return the interval of Confidence-Driven Inference, with about n rows."""
    chance = (1 - _EVENLY) * unsure / max(unsure.sum(), 1e-12) + _EVENLY / len(right)
    chance = np.minimum(1.0, n * chance)
    drawn = rng.random(len(right)) < chance
    each = expected + np.where(drawn, (right - expected) / chance, 0)
    error = _Z * float(each.std()) / math.sqrt(len(each))
    return float(each.mean()) - error, float(each.mean()) + error


def measured(table: VotedTable) -> dict[str, Any]:
    """Return widths and coverage of pairs alone, and among four sources."""
    often = np.flatnonzero((table.votes >= 0).mean(axis=0) >= _MOST_VOTE)[:_SOURCES].tolist()
    pairs = list(combinations(range(len(often)), 2))
    alone = [_pair(table, [often[one], often[two]], (0, 1)) for one, two in pairs]
    among = [_pair(table, often, pair) for pair in pairs]
    return {"sources": [table.sources[j] for j in often], "alone": alone, "among": among}


def _pair(table: VotedTable, columns: list[int], pair: tuple[int, int]) -> dict[str, Any]:
    """Return the widths of one pair, and the share of intervals that hold the truth."""
    rows = np.flatnonzero((table.votes[:, columns] >= 0).all(axis=1))
    votes, gold, each = table.votes[rows][:, columns], table.gold[rows], np.arange(len(rows))
    texts = [table.texts[row] for row in rows.tolist()]
    k = len(table.classes)
    joint = by_votes(votes, k).posterior(votes, np.ones((len(rows), k)))
    first, second = votes[:, pair[0]], votes[:, pair[1]]
    right = (first == gold).astype(float) - (second == gold)
    of_first, of_second = joint[each, first], joint[each, second]
    expected = of_first - of_second
    unsure = np.where(first != second, np.sqrt(of_first + of_second - expected**2 + 0.05), 0.0)
    orders = [agree(texts, votes.tolist(), seed=draw).to_check for draw in range(DRAWS)]

    def of_agree(n: int, draw: int) -> Bounds:
        checked, top = np.full(len(rows), -1), list(orders[draw][:n])
        checked[top] = gold[top]
        found = difference(first, second, checked, joint, _MARGIN)
        assert found is not None
        return found.low, found.high

    ways: dict[str, Callable[[int, int], Bounds]] = {
        "random": lambda n, draw: random_rows(right, n, np.random.default_rng(draw)),
        "cdi": lambda n, draw: driven(right, expected, unsure, n, np.random.default_rng(draw)),
        "agree": of_agree,
    }
    found: dict[str, Any] = {"differ": float((first != second).mean())}
    for n in CHECKED:
        for name, way in ways.items():
            bounds = [way(n, draw) for draw in range(DRAWS)]
            widths = [high - low for low, high in bounds]
            holds = [low <= right.mean() <= high for low, high in bounds]
            found[f"{name} {n}"] = [float(np.mean(widths)), float(np.mean(holds))]
    return found


if __name__ == "__main__":
    measure_tables(
        "agreement", __doc__, TABLES, lambda *where: load_voted(*where).with_votes(), measured
    )
