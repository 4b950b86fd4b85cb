"""Exact copies of a text: in one fold of cross-validation, or each in its own.

    python -m benchmarks.copies --data-dir DIR

Per table that holds exact copies and three seeds, by ``lops select`` with its defaults: how wrong
labels are ranked, and by how many points the share of right labels rises, with copies in one fold
and one decision (``shared``) and with folds that do not know of copies (``apart``). What other
tables teach comes from all other families. Gold labels only measure. DIR as for
:mod:`benchmarks.real_noise`; a table with a result file is skipped.
"""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

from benchmarks.real_noise import coefficients, gained, measured
from benchmarks.real_tables import Table, load_table
from benchmarks.record import measure_tables
from lops_adapters import select
from lops_adapters.selection import canonical
from lops_adapters.selection.committee import calibration

# Of the 33 tables that somebody labelled, those with copies in at least 1 % of the rows, and the
# smallest of the other four.
NAMES = ("youtube-rules", "questions-rules", "stance-llms")
SEEDS = 3


def run(table: Table) -> dict[str, Any]:
    """Measure a table: of each way, a list of numbers per seed."""
    learnt, ways = coefficients(table.name), dict[str, list[dict[str, float | None]]]()
    for way in ("apart", "shared"):
        apart = patch.object(canonical, "_copies", lambda labelled, keys: None)
        with apart if way == "apart" else nullcontext():
            ways[way] = [_measured(table, learnt, seed) for seed in range(SEEDS)]
    counts = Counter(" ".join(text.split()) for text in table.texts)
    return {
        "n": len(table.texts),
        "copies": sum(count for count in counts.values() if count > 1),
        "largest": max(counts.values()),
        "ways": ways,
    }


def _measured(table: Table, learnt: dict[str, Any], seed: int) -> dict[str, float | None]:
    with patch.object(calibration, "coefficients", lambda: learnt):
        selection = select(table.texts, table.labels.tolist(), seed=seed)
    numbers = measured(selection.confidence, selection.mask, table)
    return numbers | {"labels_gained": gained(selection.corrected, table)}


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("copies", __doc__, NAMES, load_table, run)


if __name__ == "__main__":
    main()
