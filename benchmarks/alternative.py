"""Who may take a person's place: the alternative annotator test on three tables.

    python -m benchmarks.alternative --data-dir DIR

Per table with votes of three people or more: each source in the place of a person, next to all
people that it is not. A language model, where there is one; each person, who should pass; and the
most frequent label for all rows, which knows nothing. No gold labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.record import measure_tables
from benchmarks.source_tables import VotedTable, load_voted
from lops_adapters.evaluation.alternative import left_out

TABLES = ("emoji-people-llm", "hate-portuguese", "entailment-crowd")
MARGINS = (0.1, 0.15, 0.2)
MODEL, PERSON, CONSTANT = "language model", "a person", "the most frequent label"


def measured(table: VotedTable) -> dict[str, Any]:
    """Return, per kind of source and margin, the share that passes, wins and the advantage."""
    m = len(table.sources)
    models = [column for column, name in enumerate(table.sources) if name.startswith("llm")]
    people = [column for column in range(m) if column not in models]
    constant = np.full(len(table.votes), np.bincount(table.votes[table.votes >= 0]).argmax())
    votes = np.column_stack([table.votes, constant])
    kinds = {MODEL: models, PERSON: people, CONSTANT: [m]}
    found: dict[str, Any] = {"people": len(people)}
    for kind, sources in kinds.items():
        for margin in MARGINS:
            tests = [
                left_out(votes, source, [one for one in people if one != source], margin)
                for source in sources
            ]
            wins = [np.mean([one.wins for one in test]) for test in tests if test]
            advantages = [one.advantage for test in tests for one in test]
            if wins:
                found[f"{kind} {margin}"] = {
                    "sources": len(wins),
                    "passes": float(np.mean([share >= 0.5 for share in wins])),
                    "wins": float(np.mean(wins)),
                    "advantage": float(np.mean(advantages)),
                }
    print(found, flush=True)
    return found


if __name__ == "__main__":
    measure_tables("alternative", __doc__, TABLES, load_voted, measured)
