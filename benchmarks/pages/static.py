"""The static encoder: how labels are ranked without an encoder, with it, and with MiniLM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results, table
from benchmarks.real_tables import TABLES, TASKS
from benchmarks.static_encoder import GENERATED

_WAYS = {"none": "none", "static": "static", "minilm": "MiniLM", "base": "base"}
_OTHERS = ("static", "minilm")  # that the base encoder is compared with
_KEYS = ("auroc", "average_precision")
_COMMAND = "`python -m benchmarks.static_encoder --data-dir DIR`"


def _found(folder: str) -> dict[str, dict[str, Any]]:
    return {item["about"]["dataset"]["name"]: item for item in results(f"{folder}/*.json")}


def _measured() -> list[tuple[str, dict[str, Any]]]:
    """Return name and result file of the tables with wrong labels."""
    found = _found("static")
    return [(name, found[name]) for name in TABLES if name in found]


def _cells(ways: Sequence[dict[str, float]]) -> list[str]:
    return [" / ".join(f"{way[key]:.3f}" for key in _KEYS) for way in ways]


def _mean(ways: Sequence[dict[str, float]]) -> dict[str, float]:
    return {key: mean(way[key] for way in ways) for key in _KEYS}


def quality() -> Block:
    """Return AUROC and average precision of wrong labels per table."""
    measured = _measured()
    if not measured:
        return HOLE
    rows = [["table", "rows", *(f"{way}, AUROC / AP" for way in ("none", "static", "MiniLM"))]]
    every = []
    for name, item in measured:
        result = item["result"]
        every.append([result[way] for way in ("none", "static", "minilm")])
        rows.append([name, f"{result['n']:,}", *_cells(every[-1])])
    rows.append(["mean", "", *_cells([_mean(way) for way in zip(*every, strict=True)])])
    return Block(
        f"{markdown(rows)}\n\nSeed 0, commits {commits([item for _, item in measured])}: "
        f"{_COMMAND}."
    )


def costs() -> Block:
    """Return quality, seconds and memory per encoder."""
    measured, files = _measured(), results("static-costs/*.json")
    if not measured or not files:
        return HOLE
    result = files[0]["result"]
    per_text = [item["result"]["seconds_per_10000_texts"] for _, item in measured]
    encoders = ("none", "static", "minilm")
    ways = {name: [item["result"][name] for _, item in measured] for name in encoders}
    heads = [f"AUROC / AP, mean of {len(measured)} tables", "encoding 10,000 texts, s"]
    rows = [["encoder", *heads, f"{result['n']:,} newsgroup messages in all, s", "memory, MB"]]
    for name, way in [*ways.items(), ("cleanlab", None)]:
        seconds, memory = result[name]["processor_seconds"], result[name]["peak_bytes"] / 1e6
        encoding = "-" if name not in per_text[0] else f"{mean(one[name] for one in per_text):.1f}"
        shown = "-" if way is None else _cells([_mean(way)])[0]
        label = "cleanlab, TF-IDF" if way is None else name
        rows.append([label, shown, encoding, f"{seconds:.1f}", f"{memory:,.0f}"])
    return table(rows, [files])


def scripts() -> Block:
    """Return the same of languages and scripts that the table does not know."""
    found = _found("static")
    names = [name for name in ("yoruba-news", *GENERATED) if name in found]
    if not names:
        return HOLE
    rows = [["table", "texts with a known piece", "none, AUROC / AP", "static, AUROC / AP"]]
    for name in names:
        result = found[name]["result"]
        known = f"{100 * result['texts_with_pieces']:.0f} %"
        rows.append([name, known, *_cells([result["none"], result["static"]])])
    return Block(
        f"{markdown(rows)}\n\nCommits {commits([found[name] for name in names])}: {_COMMAND}."
    )


def tasks() -> Block:
    """Return the same with the base encoder by task, and what rejecting gains."""
    found = _found("encoders")
    gains = " / ".join(_WAYS.values())
    heads = [f"{shown}, AUROC / AP" for shown in _WAYS.values()]
    heads += [f"base - {_WAYS[other]}, AUROC (better in)" for other in _OTHERS]
    rows = [["task", "tables", *heads, f"gain of rejecting, points: {gains}"]]
    for task, names in {**TASKS, "all": sum(TASKS.values(), ())}.items():
        some = [found[name]["result"] for name in names if name in found]
        if some:
            rows.append([task, str(len(some)), *_of_task(some)])
    return _block_of_encoders(rows, found)


def _of_task(some: Sequence[dict[str, Any]]) -> list[str]:
    """Return means over tables, as cells."""
    cells = _cells([_mean([one[way] for one in some]) for way in _WAYS])
    for other in _OTHERS:
        above = [one["base"]["auroc"] - one[other]["auroc"] for one in some]
        cells.append(f"{mean(above):+.3f} ({sum(one > 0 for one in above)})")
    gains = (f"{100 * mean(gain_of_rejecting(one, way) for one in some):+.1f}" for way in _WAYS)
    return [*cells, " / ".join(gains)]


def gain_of_rejecting(result: dict[str, Any], way: str) -> float:
    """Return the share of right labels of kept rows, minus that of all rows.

    >>> one = {"right_lost": 0.0, "wrong_found": 0.5}
    >>> round(gain_of_rejecting({"noise": 0.2, "static": one}, "static"), 3)
    0.089
    """
    right = (1 - result["noise"]) * (1 - result[way]["right_lost"])
    wrong = result["noise"] * (1 - result[way]["wrong_found"])
    return float(right / (right + wrong) - (1 - result["noise"]))


def every() -> Block:
    """Return AUROC and average precision by encoder, a row per table."""
    found = _found("encoders")
    heads = (f"{shown}, AUROC / AP" for shown in _WAYS.values())
    rows = [["table", "task", "rows", "wrong labels", *heads]]
    for task, names in TASKS.items():
        for name in names:
            if name in found:
                result = found[name]["result"]
                counts = (result["n"], round(result["noise"] * result["gold"]))
                sizes = [f"{count:,}" for count in counts]
                rows.append([name, task, *sizes, *_cells([result[way] for way in _WAYS])])
    return _block_of_encoders(rows, found)


def _block_of_encoders(rows: list[list[str]], found: dict[str, dict[str, Any]]) -> Block:
    """Return a table with one line of sources, since all files have the same command."""
    if not found:
        return HOLE
    items = list(found.values())
    about = items[0]["about"]
    where = f"CPU ({about['machine']['processor']}), commits {commits(items)}"
    return Block(f"{markdown(rows)}\n\nSeed 0, {where}: `{about['command']}`.")


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "static-costs": costs,
    "static-quality": quality,
    "static-scripts": scripts,
    "encoder-tasks": tasks,
    "encoder-tables": every,
}
