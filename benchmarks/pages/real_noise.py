"""Labels with real noise: ranking, decisions, classifiers and the estimate of the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results, spread_number
from benchmarks.real_tables import CORPORA, FRESH, REAL, TABLES

_WAYS = ("select", "cleanlab, static", "cleanlab, TF-IDF")
_TITLES = {"select": "`lops select`"}
_DQC = "dqc-toolkit, TF-IDF"  # in files of its own, see benchmarks.real_noise_dqc
_RANKED = (*_WAYS, _DQC)
_SEEDS = tuple(f"{name}-seeds" for name in CORPORA)
_ARMS = (
    "all", "random", "kept", "kept by cleanlab, static", "weighted", "corrected", "train.csv",
    "only right",
)  # fmt: skip
_HARM = 0.005  # of the labels: what counts as worse
_EXAMPLES = {
    "yelp-rules": "reviews, by 8 rules",
    "crowd-news": "news, by crowd workers",
    "stance-llms": "stance, by a language model: nobody can tell",
}
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
        f"{markdown(rows)}\n\nMean ± standard deviation over {seeds} seeds, static encoder, CPU "
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
    for title, names in (
        ("mean, old real labels", REAL),
        ("mean, fresh labels", FRESH),
        ("mean, seed words", _SEEDS),
    ):
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
    decided = (*_WAYS[:2], _DQC)
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
            for ways in (_WAYS[:1], _WAYS[1:])
        ]
        rows.append([name, _percent([item["result"]["noise"]]), *cells, *seconds])
    return _block(rows, found)


def _scores(item: Item, arm: str, weighing: str) -> str:
    values = _values(item, arm, weighing)
    return spread_number(values, 1) if values else "-"


def _values(item: Item, arm: str, weighing: str) -> list[float]:
    """Return macro-F1 in percent: one number if it does not depend on the seed, else one each."""
    own = item["result"]["macro_f1"].get(arm)
    each = [run["macro_f1"].get(arm) for run in item["result"]["runs"]]
    return [own[weighing]] if own else [one[weighing] for one in each if one]


def classifiers(weighing: str) -> Block:
    """Return macro-F1 of classifiers by what they are trained on.

    Args:
        weighing: ``plain``, or ``balanced`` classes.

    """
    found = {name: item for name, item in _found().items() if "macro_f1" in item["result"]}
    rows = [["table", *_ARMS]]
    for name, item in found.items():
        rows.append([name, *(_scores(item, arm, weighing) for arm in _ARMS)])
    for title, names in (
        ("old real labels", REAL),
        ("fresh labels", FRESH),
        ("labels without errors", tuple(n for n in found if not found[n]["result"]["noise"])),
    ):
        some = [found[name] for name in names if name in found]
        if all(_values(item, arm, weighing) for item in some for arm in _ARMS) and some:
            gains = [[_gain(item, arm, weighing) for item in some] for arm in _ARMS[1:]]
            cells = [f"{mean(column):+.1f} / {min(column):+.1f}" for column in gains]
            rows.append([f"{title}: mean / worst against all", "", *cells])
    return _block(rows, found)


def _gain(item: Item, arm: str, weighing: str) -> float:
    """Return the macro-F1 of an arm minus that of all rows, in points."""
    return mean(_values(item, arm, weighing)) - _values(item, "all", weighing)[0]


def estimates() -> Block:
    """Return the estimated share of wrong labels, its range, and the true share."""
    found = _found()
    rows = [["table", "wrong %", "estimate (range) %", "rejected %"]]
    for name, item in found.items():
        kept = [1 - share for share in _of(item, "select", "kept")]
        estimate, low, high = (_of(item, "select", key) for key in ("estimate", "low", "high"))
        said = f"{_percent(estimate)} ({_percent(low)}-{_percent(high)})"
        rows.append([name, _percent([item["result"]["noise"]]), said, _percent(kept)])
    return _block(rows, found)


def compared() -> Block:
    """Return `lops select` next to cleanlab on the same vectors, where labels are wrong."""
    found = {name: item for name, item in _found().items() if item["result"]["noise"]}
    ways, arms = (_WAYS[0], _WAYS[1]), ("kept", "kept by cleanlab, static")
    heads = (
        "AUROC",
        "found %",
        "right labels lost %",
        "of the smallest class %",
        "macro-F1 %",
        "labels, points",
    )
    rows = [["table", "wrong %", *heads, "processor seconds"]]
    for name, item in found.items():
        cells = [" / ".join(f"{mean(_of(item, way, 'auroc')):.3f}" for way in ways)]
        for key in ("wrong_found", "right_lost", "smallest_lost"):
            cells.append(" / ".join(_percent(_of(item, way, key)) for way in ways))
        trained = "macro_f1" in item["result"]
        scores = [_scores(item, arm, "balanced").split()[0] if trained else "-" for arm in arms]
        cells.append(" / ".join(scores))
        gained = [f"{100 * mean(_of(item, way, 'labels_gained')):+.1f}" for way in ways]
        cells.append(" / ".join(gained))
        cells.append(" / ".join(f"{mean(_of(item, way, 'processor_seconds')):.1f}" for way in ways))
        rows.append([name, _percent([item["result"]["noise"]]), *cells])
    block = _block(rows, found)
    return block._replace(text=block.text.replace("Mean ± standard deviation", "Mean"))


def headline() -> Block:
    """Return README's table: all real tables together, and three of them."""
    found = {name: item for name, item in _found().items() if name in REAL + FRESH}
    if not found:
        return HOLE
    ways, items = (_WAYS[0], _WAYS[1]), list(found.values())
    titles = ("`lops select`", "cleanlab")
    heads = ["AUROC", "labels right, points", "tables harmed"]
    rows = [["labels", "wrong %", *(f"{title}: {head}" for head in heads for title in titles)]]
    gained = [[mean(_of(item, way, "labels_gained")) for item in items] for way in ways]
    cells = [f"{mean(mean(_of(item, way, 'auroc')) for item in items):.3f}" for way in ways]
    cells += [f"{100 * mean(of_way):+.1f}" for of_way in gained]
    cells += [f"{sum(one < -_HARM for one in of_way)} of {len(items)}" for of_way in gained]
    noise = _percent(item["result"]["noise"] for item in items)
    rows.append([f"mean of {len(items)} tables", noise, *cells])
    for name, title in _EXAMPLES.items():
        if name in found:
            item = found[name]
            cells = [f"{mean(_of(item, way, 'auroc')):.3f}" for way in ways]
            cells += [f"{100 * mean(_of(item, way, 'labels_gained')):+.1f}" for way in ways]
            rows.append([title, _percent([item["result"]["noise"]]), *cells, "", ""])
    seeds = items[0]["result"]["seeds"]
    return Block(
        f"{markdown(rows)}\n\nLabels that people, rules and language models gave, {seeds} seeds, "
        "the default encoder, cleanlab on the same vectors; harmed: worse by more than 0.5 "
        f"points. CPU, commits {commits(items)}: `python -m benchmarks.real_noise --data-dir DIR`."
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
