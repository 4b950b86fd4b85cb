"""Labels with real noise: ranking, decisions, classifiers and the estimate of the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results, spread_number
from benchmarks.real_tables import CORPORA, REAL, TABLES

_WAYS = ("select", "select without encoder", "cleanlab, MiniLM", "cleanlab, TF-IDF")
_TITLES = {"select": "`lops select`", "select without encoder": "`lops select`, no encoder"}
_DQC = "dqc-toolkit, TF-IDF"  # in files of its own, see benchmarks.real_noise_dqc
_RANKED = (*_WAYS, _DQC)
_SEEDS = tuple(f"{name}-seeds" for name in CORPORA)
_ARMS = (
    "all", "random", "kept", "kept without encoder", "kept by cleanlab, MiniLM", "weighted",
    "suggested", "only right",
)  # fmt: skip
Item = dict[str, Any]


def _found() -> dict[str, Item]:
    """Return the result file per table, in the order of the tables."""
    items, others = (
        {item["about"]["dataset"]["name"]: item for item in results(f"{folder}/*.json")}
        for folder in ("real-noise", "real-noise-dqc")
    )
    for name, item in items.items():
        if name in others:
            runs = item["result"]["runs"]
            for run, other in zip(runs, others[name]["result"]["runs"], strict=True):
                run["ways"][_DQC] = other
    return {name: items[name] for name in TABLES if name in items}


def _block(rows: list[list[str]], found: dict[str, Item]) -> Block:
    """Return a table with one line of sources, since all files have the same command."""
    if not found:
        return HOLE
    items = list(found.values())
    machine, seeds = items[0]["about"]["machine"]["processor"], items[0]["result"]["seeds"]
    return Block(
        f"{markdown(rows)}\n\nMean ± standard deviation over {seeds} seeds, MiniLM, CPU "
        f"({machine}), commits {commits(items)}: `python -m benchmarks.real_noise --data-dir DIR`."
    )


def _of(item: Item, way: str, key: str) -> list[Any]:
    return [run["ways"].get(way, {}).get(key) for run in item["result"]["runs"]]


def _percent(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{100 * mean(known):.1f}" if known else "-"


def _mean_of(items: list[Item], way: str, key: str) -> str:
    """Return the mean over tables and seeds; a dash if a table lacks it."""
    values = [_of(item, way, key) for item in items]
    if any(value is None for each in values for value in each):
        return "-"
    return f"{mean(map(mean, values)):.3f}"


def ranking() -> Block:
    """Return AUROC and average precision of wrong labels, of the tables that have some."""
    found = {name: item for name, item in _found().items() if item["result"]["noise"]}
    keys = ("auroc", "average_precision")
    heads = [f"{_TITLES.get(way, way)}, AUROC / AP" for way in _RANKED]
    rows = [["table", "rows", "classes", "wrong %", *heads]]
    for name, item in found.items():
        result = item["result"]
        cells = [
            " / ".join(spread_number(_of(item, way, key), 3) for key in keys) for way in _RANKED
        ]
        size = [f"{result['n']:,}", str(len(result["classes"])), _percent([result["noise"]])]
        rows.append([name, *size, *cells])
    for title, names in (("mean, real labels", REAL), ("mean, real and seed words", REAL + _SEEDS)):
        if all(name in found for name in names):
            cells = [
                " / ".join(_mean_of([found[name] for name in names], way, key) for key in keys)
                for way in _RANKED
            ]
            rows.append([title, "", "", "", *cells])
    return _block(rows, found)


def decisions() -> Block:
    """Return right labels lost and wrong labels found."""
    found = _found()
    decided = (*_WAYS[:3], _DQC)
    heads = [f"{_TITLES.get(way, way)}, lost / smallest class / found %" for way in decided]
    rows = [["table", "wrong %", *heads, "processor seconds", "the same, cleanlab"]]
    for name, item in found.items():
        cells = [
            " / ".join(
                _percent(_of(item, way, key))
                for key in ("right_lost", "smallest_lost", "wrong_found")
            )
            for way in decided
        ]
        seconds = [
            " / ".join(f"{mean(_of(item, way, 'processor_seconds')):.1f}" for way in ways)
            for ways in (_WAYS[:2], _WAYS[2:])
        ]
        rows.append([name, _percent([item["result"]["noise"]]), *cells, *seconds])
    return _block(rows, found)


def _scores(item: Item, arm: str, weighing: str) -> str:
    own = item["result"]["macro_f1"].get(arm)
    each = [run["macro_f1"].get(arm) for run in item["result"]["runs"]]
    values = [own[weighing]] if own else [one[weighing] for one in each if one]
    return spread_number(values, 1) if values else "-"


def classifiers(weighing: str) -> Block:
    """Return macro-F1 of classifiers by what they are trained on.

    Args:
        weighing: ``plain``, or ``balanced`` classes.

    """
    found = _found()
    rows = [["table", *_ARMS]]
    for name, item in found.items():
        rows.append([name, *(_scores(item, arm, weighing) for arm in _ARMS)])
    return _block(rows, found)


def estimates() -> Block:
    """Return the estimated share of wrong labels next to the true one."""
    found = _found()
    rows = [["table", "wrong %", "estimate %", "estimate without encoder %", "rejected %"]]
    for name, item in found.items():
        kept = [1 - share for share in _of(item, "select", "kept")]
        cells = [_percent(_of(item, way, "estimate")) for way in _WAYS[:2]]
        rows.append([name, _percent([item["result"]["noise"]]), *cells, _percent(kept)])
    return _block(rows, found)


def compared() -> Block:
    """Return `lops select` next to cleanlab on the same vectors, where labels are wrong."""
    found = {name: item for name, item in _found().items() if item["result"]["noise"]}
    ways, arms = (_WAYS[0], _WAYS[2]), ("kept", "kept by cleanlab, MiniLM")
    heads = ("AUROC", "found %", "right labels lost %", "of the smallest class %", "macro-F1 %")
    rows = [["table", "wrong %", *heads, "processor seconds"]]
    for name, item in found.items():
        cells = [" / ".join(f"{mean(_of(item, way, 'auroc')):.3f}" for way in ways)]
        for key in ("wrong_found", "right_lost", "smallest_lost"):
            cells.append(" / ".join(_percent(_of(item, way, key)) for way in ways))
        cells.append(" / ".join(_scores(item, arm, "balanced").split()[0] for arm in arms))
        cells.append(" / ".join(f"{mean(_of(item, way, 'processor_seconds')):.1f}" for way in ways))
        rows.append([name, _percent([item["result"]["noise"]]), *cells])
    block = _block(rows, found)
    return block._replace(text=block.text.replace("Mean ± standard deviation", "Mean"))


def headline() -> Block:
    """Return README's table: real labels, next to cleanlab on the same vectors."""
    found = {name: item for name, item in _found().items() if name in REAL}
    if not found:
        return HOLE
    heads = ("`lops select`", "cleanlab", "all rows", "kept rows", "as many random rows")
    rows = [["labels", "rows", "wrong %", *heads]]
    named = {
        "crowd-news": "news, by crowd workers",
        "relations-llm": "relations, by a language model",
        "questions-rules": "questions, by 68 rules",
        "youtube-rules": "comments, by 10 rules",
        "yoruba-news": "Yoruba news, by word lists",
    }
    for name, item in found.items():
        ranks = [spread_number(_of(item, way, "auroc"), 3) for way in (_WAYS[0], _WAYS[2])]
        scores = [_scores(item, arm, "balanced") for arm in ("all", "kept", "random")]
        result = item["result"]
        rows.append([named[name], f"{result['n']:,}", _percent([result["noise"]]), *ranks, *scores])
    seeds = next(iter(found.values()))["result"]["seeds"]
    return Block(
        f"{markdown(rows)}\n\nColumns 4 and 5: AUROC of wrong labels, both with MiniLM vectors. "
        "The last three: macro-F1 in percent on held-out texts, logistic regression with balanced "
        f"classes. Mean ± standard deviation over {seeds} seeds, CPU, commits "
        f"{commits(list(found.values()))}: `python -m benchmarks.real_noise --data-dir DIR`."
    )


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "headline-real": headline,
    "real-ranking": ranking,
    "real-decisions": decisions,
    "real-plain": lambda: classifiers("plain"),
    "real-balanced": lambda: classifiers("balanced"),
    "real-estimates": estimates,
    "compared-cleanlab": compared,
}
