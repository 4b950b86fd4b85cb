"""Why the published seed update of ConWea loses its seed words: noise by iteration."""

from __future__ import annotations

from statistics import mean

from benchmarks.pages.common import Block, results, table

# What predicts the documents that an update reads, the update, and the result files.
_WAYS = (
    ("gold labels", "published", "faithful/seed-update-gold-4000.json"),
    ("TF-IDF, linear", "published", "faithful/seed-update-linear-4000.json"),
    ("HAN of the earlier runs", "published", "frameworks/conwea-20news-coarse-4000-minilm-*.json"),
    ("the same", "careful", "frameworks/conwea-careful-20news-coarse-4000-*.json"),
    ("HAN of `--faithful`", "published", "faithful/conwea-20news-coarse-4000-*.json"),
)


def causes() -> Block:
    """Return the share of wrong pseudo-labels by iteration, per classifier and update."""
    rows = [["predictions", "update", *(f"iteration {number}" for number in range(6))]]
    groups = []
    for predictions, update, pattern in _WAYS:
        if files := results(pattern):
            numbers = [item["result"] for item in files]
            runs = [
                found["iterations"]
                if "iterations" in found
                else found["arms"]["standard"]["iterations"]
                for found in numbers
            ]
            noise = [100 * mean(run[number]["noise"] for run in runs) for number in range(6)]
            rows.append([predictions, update, *(f"{share:.1f}" for share in noise)])
            groups.append(files)
    return table(rows, groups)
