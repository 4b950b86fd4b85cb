"""Exact copies: the committee with and without copies in one fold."""

from __future__ import annotations

from benchmarks.copies import NAMES
from benchmarks.pages.common import HOLE, Block, commits, markdown, results, spread_number

_MEASURES = {"AUROC": "auroc", "labels gained": "labels_gained"}


def copies() -> Block:
    """Return both ways of each table: how errors are ranked, and what correction gains."""
    stored = {item["about"]["dataset"]["name"]: item for item in results("copies/*.json")}
    items = [stored[name] for name in NAMES if name in stored]
    if not items:
        return HOLE
    heads = (f"{name}, copies {way}" for name in _MEASURES for way in ("apart", "in one fold"))
    rows = [["table", "rows", "copies", "most of a text", *heads]]
    for item in items:
        result = item["result"]
        cells = [
            spread_number([100 * run[key] for run in result["ways"][way]], 1)
            for key in _MEASURES.values()
            for way in ("apart", "shared")
        ]
        counts = [f"{result[key]:,}" for key in ("n", "copies", "largest")]
        rows.append([item["about"]["dataset"]["name"], *counts, *cells])
    machine = items[0]["about"]["machine"]["processor"]
    return Block(
        f"{markdown(rows)}\n\n3 seeds, static encoder, CPU ({machine}), commits {commits(items)}: "
        "`python -m benchmarks.copies --data-dir DIR`."
    )


TABLES_OF_PAGE = {"copies": copies}
