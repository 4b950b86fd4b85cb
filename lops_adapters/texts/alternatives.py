"""Whether sources may take the place of people: the alternative annotator test, by names."""

from collections.abc import Sequence

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.evaluation.alternative import left_out
from lops_adapters.labels.votes import Votes
from lops_adapters.report.agreement import Alternative

LEAST_PEOPLE = 3  # one is left out, two others remain


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
