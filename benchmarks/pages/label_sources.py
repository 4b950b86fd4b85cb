"""Label sources: accuracy of combined labels, ranking of rows and of sources, time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results, table
from benchmarks.source_tables import GIVEN, TABLES

_TITLES = {
    "majority": "majority",
    "snorkel": "Snorkel",
    "hyperlm": "HyperLM",
    "dawid-skene": "Dawid-Skene",
    "one-coin": "one-coin",
    "glad": "GLAD",
    "mace": "MACE",
    "best source": "best source (oracle)",
    "one label, static": "majority label and texts",
    "select, static": "`select`",
}
_KINDS = {
    "youtube-rules": "rules",
    "questions-rules": "rules",
    "sms-rules": "rules",
    "yelp-rules": "rules",
    "chemprot-rules": "rules",
    "newsbias-llm": "language models",
    "medialean-llms": "language models",
    "stance-llms": "language models",
    "emotion-llms": "language models",
    "politeness-llms": "language models",
    "emoji-people-llm": "people and a language model",
    "books-crowd": "people",
    "entailment-crowd": "people",
    "hate-portuguese": "people",
    "centralbank-llms": "language models",
    "hinglish-lexicons": "word lists",
    "indonesian-lexicon": "word lists",
    "waimai-lexicons": "word lists",
    "agnews-seeds": "seed words",
    "20news-coarse-seeds": "seed words",
    "20news-fine-seeds": "seed words",
    "annotators": "of accuracy 0.35 to 0.9, each on 40 % of the rows",
    "annotators-copied": "the same; the worst is copied four times",
    "annotators-few-votes": "of accuracy 0.3 to 0.7, each on 15 %",
    "annotators-unequal": "of accuracy 0.5 to 0.9; classes of 70/20/7/3 %",
}
_ORACLE = "best source"
_OURS = "select, static"
_RIVALS = tuple(_TITLES)[: tuple(_TITLES).index(_ORACLE)]
_ESTIMATING = (*_RIVALS, _OURS)
_SEEDS = tuple(name for name in TABLES if name.endswith("-seeds"))
_ANNOTATORS = tuple(name for name in TABLES if name.startswith("annotators"))
_GROUPS = {
    "mean, votes as given": GIVEN,
    "mean, seed words": _SEEDS,
    "mean, annotators": _ANNOTATORS,
    "mean, all": tuple(TABLES),
}
Item = dict[str, Any]


def _found() -> dict[str, Item]:
    """Return the results per table, in the order of the tables."""
    items = {item["about"]["dataset"]["name"]: item for item in results("sources/*.json")}
    return {name: items[name] for name in TABLES if name in items}


def _block(rows: list[list[str]], found: dict[str, Item]) -> Block:
    return Block(markdown(rows)) if found else HOLE


def tables() -> Block:
    """Return what the tables hold, and where the numbers of the page come from."""
    found = _found()
    if not found:
        return HOLE
    rows = [["table", "sources", "rows", "classes", "rows with a vote %", "ties %"]]
    for name, item in found.items():
        result = item["result"]
        sizes = [f"{result['n']:,}", str(len(result["classes"]))]
        shares = [_cell(result[key], 1, 100) for key in ("voted", "ties")]
        rows.append([name, f"{result['n_sources']} {_KINDS[name]}", *sizes, *shares])
    items = list(found.values())
    processor = items[0]["about"]["machine"]["processor"]
    versions = ", ".join(f"{name} {at}" for name, at in items[0]["result"]["versions"].items())
    return Block(
        f"{markdown(rows)}\n\n{versions}, CPU ({processor}), commits {commits(items)}: "
        "`python -m benchmarks.sources --data-dir DIR --kept DIR`."
    )


def _value(item: Item, way: str, *keys: str) -> Any:
    """Return a measure of a way; None if the table was too large for it."""
    value = item["result"]["ways"].get(way)
    for key in keys:
        value = None if value is None else value.get(key)
    return value


def _cell(value: float | None, digits: int, times: int) -> str:
    return "-" if value is None else f"{times * value:.{digits}f}"


def _compared(
    key: str, digits: int = 1, times: int = 100, ways: Sequence[str] = tuple(_TITLES)
) -> Block:
    """Return a measure of several ways, with means over groups of tables."""
    found = _found()
    rows = [["table", *(_TITLES[way] for way in ways)]]
    groups = {name: (name,) for name in found} | _GROUPS
    for title, names in groups.items():
        if all(name in found for name in names):
            columns = [[_value(found[name], way, key) for name in names] for way in ways]
            rows.append([title, *(_cell(_mean(column), digits, times) for column in columns)])
    return _block(rows, found)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None


def checked() -> Block:
    """Return what 10 and 50 checked rows are worth."""
    found = {name: item for name, item in _found().items() if name in GIVEN}
    head = [f"{way}, {n} rows" for n in (10, 50) for way in ("corrected", "`select`")]
    rows = [["table", "without", *head]]
    groups = {name: (name,) for name in found} | {"mean": tuple(found)}
    for title, names in groups.items():
        columns = [
            [_value(found[name], _OURS, key) for name in names]
            for key in ("accuracy", "corrected_10", "after_10", "corrected_50", "after_50")
        ]
        rows.append([title, *(_cell(_mean(column), 1, 100) for column in columns)])
    return _block(rows, found)


def seconds() -> Block:
    """Return processor seconds of every way."""
    ways = (*_RIVALS, _OURS)
    found = _found()
    rows = [["table", *(_TITLES[way] for way in ways)]]
    for name, item in found.items():
        cells = [_cell(_value(item, way, "processor_seconds"), 1, 1) for way in ways]
        rows.append([name, *cells])
    return _block(rows, found)


def command() -> Block:
    """Return time and memory of ``lops select`` on generated votes."""
    files = sorted(results("select/sources-*.json"), key=lambda item: item["result"]["n_rows"])
    rows = [
        [
            "rows with a vote",
            "sources",
            "seconds",
            "processor seconds",
            "file, MB",
            "peak memory, MB",
        ]
    ]
    for item in files:
        found = item["result"]
        cost = [f"{found['file_bytes'] / 1e6:,.0f}", f"{found['peak_bytes'] / 1e6:,.0f}"]
        sizes = [f"{found['n_rows']:,}", str(found["n_sources"])]
        seconds = [f"{found[key]:,.0f}" for key in ("seconds", "processor_seconds")]
        rows.append([*sizes, *seconds, *cost])
    return table(rows, [[item] for item in files])


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "sources-accuracy": lambda: _compared("accuracy"),
    "compared-snorkel": lambda: _compared(
        "accuracy", ways=("majority", "snorkel", "select, static")
    ),
    "sources-wrong": lambda: _compared("auroc_majority", 3, 1),
    "sources-tables": tables,
    "sources-checked": checked,
    "sources-seconds": seconds,
    "sources-ranks": lambda: _compared("spearman", 2, 1, _ESTIMATING),
    "sources-command": command,
}
