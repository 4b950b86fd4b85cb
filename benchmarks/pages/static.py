"""The static encoder: how labels are ranked without an encoder, with it, and with MiniLM."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results
from benchmarks.real_tables import TABLES

_KEYS = ("auroc", "average_precision")
_TIMES = ("counting words", "static", "minilm")


def _found(folder: str) -> dict[str, dict[str, Any]]:
    return {item["about"]["dataset"]["name"]: item for item in results(f"{folder}/*.json")}


def quality() -> Block:
    """Return AUROC and average precision of wrong labels, and seconds per 10,000 texts."""
    found, others = _found("static"), _found("real-noise")
    names = [name for name in TABLES if name in found and name in others]
    if not names:
        return HOLE
    rows = [
        ["table", "rows", *(f"{way}, AUROC / AP" for way in ("none", "static", "MiniLM"))]
        + [f"{way}, s" for way in _TIMES]
    ]
    numbers = []
    for name in names:
        result = found[name]["result"]
        minilm = others[name]["result"]["runs"][0]["ways"]["select"]
        ways = [result["none"], result["static"], minilm]
        if ways[0]["auroc"] is None:  # no wrong labels
            continue
        numbers.append([[way[key] for key in _KEYS] for way in ways])
        seconds = [result["seconds_per_10000_texts"][way] for way in _TIMES]
        cells = [" / ".join(f"{value:.3f}" for value in way) for way in numbers[-1]]
        rows.append([name, f"{result['n']:,}", *cells, *(f"{value:.1f}" for value in seconds)])
    means = [
        " / ".join(f"{mean(values):.3f}" for values in zip(*way, strict=True))
        for way in zip(*numbers, strict=True)
    ]
    rows.append(["mean", "", *means, *[""] * len(_TIMES)])
    machine = found[names[0]]["about"]["machine"]["processor"]
    return Block(
        f"{markdown(rows)}\n\nSeed 0; the last columns: processor seconds per 10,000 texts, CPU "
        f"({machine}), commits {commits([found[name] for name in names])}: "
        "`python -m benchmarks.static_encoder --data-dir DIR`. MiniLM: [real noise](real-noise.md)."
    )


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {"static-quality": quality}
