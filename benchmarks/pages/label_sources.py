"""Label sources: accuracy of combined labels, ranking, classifiers, accuracies of the sources."""

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
    "select, static": "`select`, static",
    "select, minilm": "`select`, MiniLM",
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
    "agnews-seeds": "seed words",
    "20news-coarse-seeds": "seed words",
    "20news-fine-seeds": "seed words",
    "annotators": "of accuracy 0.35 to 0.9, each on 40 % of the rows",
    "annotators-copied": "the same; the worst is copied four times",
    "annotators-few-votes": "of accuracy 0.3 to 0.7, each on 15 %",
    "annotators-unequal": "of accuracy 0.5 to 0.9; classes of 70/20/7/3 %",
}
_ORACLE = "best source"
_OURS = tuple(way for way in _TITLES if way.startswith("select"))
_RIVALS = tuple(_TITLES)[: tuple(_TITLES).index(_ORACLE)]
_ESTIMATING = (*_RIVALS, *_OURS)
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
        f"{markdown(rows)}\n\nSeed 0, {versions}, CPU ({processor}), commits {commits(items)}: "
        "`python -m benchmarks.sources --data-dir DIR`."
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


def classifiers() -> Block:
    """Return macro-F1 of classifiers, with balanced classes, by the labels they are trained on."""
    found = _found()
    heads = [f"{title}, all / kept" if way in _OURS else title for way, title in _TITLES.items()]
    rows = [["table", "texts tested", *heads, "gold labels"]]
    for name, item in found.items():
        cells = []
        for way in _TITLES:
            arms = ("all", "kept") if way in _OURS else ("all",)
            scores = [_value(item, way, "macro_f1", arm, "balanced") for arm in arms]
            cells.append(" / ".join(_cell(score, 1, 1) for score in scores))
        result = item["result"]
        gold = _cell(result["macro_f1"]["balanced"], 1, 1)
        rows.append([name, f"{result['n_test']:,}", *cells, gold])
    return _block(rows, found)


def rows_kept() -> Block:
    """Return what ``select`` keeps and suggests, and what every way costs."""
    found = _found()
    keys = ("kept", "accuracy", "accuracy_kept", "accuracy_all")
    heads = [f"{_TITLES[way]}: kept / right / right of kept / right of all rows %" for way in _OURS]
    rows = [["table", *heads, f"processor seconds: {' / '.join(_TITLES.values())}"]]
    for name, item in found.items():
        cells = [" / ".join(_cell(_value(item, way, key), 1, 100) for key in keys) for way in _OURS]
        seconds = [_cell(_value(item, way, "processor_seconds"), 0, 1) for way in _TITLES]
        rows.append([name, *cells, " / ".join(seconds)])
    return _block(rows, found)


def ranges() -> Block:
    """Return how well the accuracies of the sources are ranked, and how often ranges hold."""
    block = _compared("spearman", 2, 1, _ESTIMATING)
    found = _found()
    if not found:
        return HOLE
    shares = [
        f"{title} {_cell(_holds(found, way, names), 0, 100)} % ({kind})"
        for kind, names in (
            ("votes as given", GIVEN),
            ("seed words", _SEEDS),
            ("annotators", _ANNOTATORS),
        )
        for way, title in _TITLES.items()
        if way in _OURS
    ]
    return Block(
        f"{block.text}\n\nTrue accuracies within the estimated range: {'; '.join(shares)}."
    )


def _holds(found: dict[str, Item], way: str, names: tuple[str, ...]) -> float | None:
    """Return how often ranges hold, the mean over the tables that a way was measured on."""
    shares = [_value(found[name], way, "in_range") for name in names if name in found]
    return _mean([share for share in shares if share is not None])


def seed_words() -> Block:
    """Return the seed words of AG News with most votes: true and estimated accuracies."""
    found = {name: item for name, item in _found().items() if name == "agnews-seeds"}
    rows = [["seed word", "votes", "right %", *(_TITLES[way] for way in _ESTIMATING)]]
    for item in found.values():
        result = item["result"]
        sources = list(enumerate(result["sources"]))
        for place, source in sorted(sources, key=lambda pair: -pair[1]["votes"])[:8]:
            cells = []
            for way in _ESTIMATING:
                estimates = _value(item, way, "accuracies")
                cells.append(_cell(estimates and estimates[place], 0, 100))
            right = _cell(source["right"] / source["votes"], 0, 100)
            rows.append([source["name"], f"{source['votes']:,}", right, *cells])
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
    "sources-classifier": classifiers,
    "sources-kept": rows_kept,
    "sources-ranges": ranges,
    "sources-words": seed_words,
    "sources-command": command,
}
