"""Labels with real noise: ranking, decisions, classifiers."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results
from benchmarks.real_tables import FRESH, GIVEN, LATER, REAL, TABLES

_WAYS = ("select", "cleanlab, static", "cleanlab, TF-IDF")
_TITLES = {"select": "`lops select`"}
_DQC = "dqc-toolkit, TF-IDF"
_RANKED = (*_WAYS, _DQC)
_ARMS = (
    "all", "random", "kept", "kept by cleanlab, static", "--sure 0.7", "--sure 0.8", "weighted",
    "corrected", "train.csv", "only right",
)  # fmt: skip
Item = dict[str, Any]


def _found() -> dict[str, Item]:
    """Return the result file per table, in the order of the tables, with the rivals' measures."""
    items, *others = (
        {item["about"]["dataset"]["name"]: item for item in results(f"{folder}/*.json")}
        for folder in ("real-noise", "real-noise-cleanlab", "real-noise-dqc")
    )
    for name, item in items.items():
        result = item["result"]
        for rival in (of_tables[name]["result"] for of_tables in others if name in of_tables):
            # dqc-toolkit has three seeds; one is as good as another
            result["ways"] |= rival["ways"] if "ways" in rival else {_DQC: rival["runs"][0]}
            if "macro_f1" in result:
                result["macro_f1"] |= rival.get("macro_f1", {})
    return {name: items[name] for name in TABLES if name in items}


def _block(rows: list[list[str]], found: dict[str, Item]) -> Block:
    """Return a table with one line of sources, since all files have the same command."""
    if not found:
        return HOLE
    items = list(found.values())
    machine = items[0]["about"]["machine"]["processor"]
    return Block(
        f"{markdown(rows)}\n\nOne seed, static encoder, CPU ({machine}), commits "
        f"{commits(items)}: `python -m benchmarks.real_noise --data-dir DIR`."
    )


def _of(item: Item, way: str, key: str) -> float | None:
    value: float | None = item["result"]["ways"].get(way, {}).get(key)
    return value


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _mean_of(items: list[Item], way: str, key: str) -> str:
    """Return the mean over tables; a dash if a table lacks it."""
    values = [_of(item, way, key) for item in items]
    known = [value for value in values if value is not None]
    return f"{mean(known):.3f}" if len(known) == len(values) else "-"


def _noisy() -> dict[str, Item]:
    return {name: item for name, item in _found().items() if item["result"]["noise"]}


def ranking() -> Block:
    """Return AUROC and average precision of wrong labels, of the tables that have some."""
    found, keys = _noisy(), ("auroc", "average_precision")
    heads = [f"{_TITLES.get(way, way)}, AUROC / AP" for way in _RANKED]
    rows = [["table", "rows", "classes", "wrong %", *heads]]
    groups = {
        **{name: [name] for name in found},
        "mean, development": [*REAL, *FRESH],
        "mean, later tables": LATER,
    }
    for title, names in groups.items():
        if not all(name in found for name in names):
            continue
        some, result = [found[name] for name in names], found[names[0]]["result"]
        cells = [" / ".join(_mean_of(some, way, key) for key in keys) for way in _RANKED]
        size = [f"{result['n']:,}", str(len(result["classes"])), _percent(result["noise"])]
        rows.append([title, *(size if title in found else [""] * 3), *cells])
    return _block(rows, found)


def decisions() -> Block:
    """Return right labels lost and wrong labels found, and the estimate of the noise."""
    found, decided = _found(), (*_WAYS[:2], _DQC)
    heads = [f"{_TITLES.get(way, way)}, lost / smallest class / found %" for way in decided]
    rows = [["table", "wrong %", "estimate (range) %", *heads]]
    keys = ("right_lost", "smallest_lost", "wrong_found")
    for name, item in found.items():
        cells = [" / ".join(_percent(_of(item, way, key)) for key in keys) for way in decided]
        estimate, low, high = (
            _percent(_of(item, "select", key)) for key in ("estimate", "low", "high")
        )
        noise = _percent(item["result"]["noise"])
        rows.append([name, noise, f"{estimate} ({low}-{high})", *cells])
    return _block(rows, found)


def classifiers(weighing: str) -> Block:
    """Return macro-F1 of classifiers by what they are trained on.

    Args:
        weighing: ``plain``, or ``balanced`` classes.

    """
    found = {name: item for name, item in _found().items() if "macro_f1" in item["result"]}
    scores = {
        name: {arm: one[weighing] for arm, one in item["result"]["macro_f1"].items()}
        for name, item in found.items()
    }
    rows = [["table", *_ARMS]]
    for name, of_arms in scores.items():
        rows.append([name, *(f"{of_arms[arm]:.1f}" if arm in of_arms else "-" for arm in _ARMS)])
    for title, names in (
        ("development", [name for name in GIVEN if name not in LATER]),
        ("later tables", LATER),
        ("labels without errors", [n for n in found if not found[n]["result"]["noise"]]),
    ):
        some = [scores[name] for name in names if name in scores]
        if some:
            rows += _against_all(title, some)
    return _block(rows, found)


def _against_all(title: str, some: list[dict[str, float]]) -> list[list[str]]:
    """Return rows with the mean and worst gain of each arm, and the share of the gap it closes.

    A table counts for the arms that it has.
    """
    gains, closed = [], []
    gap = mean(one["only right"] - one["all"] for one in some)
    for arm in _ARMS[1:]:
        column = [one[arm] - one["all"] for one in some if arm in one]
        gains.append(f"{mean(column):+.1f} / {min(column):+.1f}" if column else "-")
        closed.append(f"{100 * mean(column) / gap:.0f}" if column and gap else "-")
    rows = [[f"{title} ({len(some)}): mean / worst against all", "", *gains]]
    return [*rows, [f"{title}: gap closed, %", "", *closed]] if gap else rows


def with_cleanlab() -> dict[str, Item]:
    """Return the tables that `lops select` and cleanlab rank on the same vectors."""
    found = {name: item for name, item in _noisy().items() if name in GIVEN}
    return {
        name: item
        for name, item in found.items()
        if all(_of(item, way, "auroc") is not None for way in _WAYS[:2])
    }


def ranked_means() -> tuple[list[float], int]:
    """Return the mean AUROC of `lops select` and of cleanlab, and the number of tables."""
    found = list(with_cleanlab().values())
    scores = [[_of(item, way, "auroc") or 0.0 for item in found] for way in _WAYS[:2]]
    return [mean(of_way) for of_way in scores if of_way], len(found)


def compared() -> Block:
    """Return `lops select` next to cleanlab on the same vectors, where labels are wrong."""
    found, ways, arms = with_cleanlab(), _WAYS[:2], ("kept", "kept by cleanlab, static")
    keys = {
        "AUROC": "auroc",
        "found %": "wrong_found",
        "right labels lost %": "right_lost",
        "of the smallest class %": "smallest_lost",
        "labels, points": "labels_gained",
    }
    rows = [["table", "wrong %", *keys, "macro-F1 %"]]
    for name, item in found.items():
        cells = []
        for key in keys.values():
            values = [_of(item, way, key) for way in ways]
            digits = "{:.3f}".format if key == "auroc" else _percent
            signed = (lambda value: f"{100 * value:+.1f}") if key == "labels_gained" else digits
            cells.append(" / ".join(signed(value) for value in values))
        scores = item["result"].get("macro_f1", {})
        cells.append(
            " / ".join(f"{scores[arm]['balanced']:.1f}" if arm in scores else "-" for arm in arms)
        )
        rows.append([name, _percent(item["result"]["noise"]), *cells])
    if found:
        means = " / ".join(f"{one:.3f}" for one in ranked_means()[0])
        rows.append([f"mean of {len(found)} tables", "", means, *[""] * 5])
    return _block(rows, found)


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "real-ranking": ranking,
    "real-decisions": decisions,
    "real-plain": lambda: classifiers("plain"),
    "real-balanced": lambda: classifiers("balanced"),
    "compared-cleanlab": compared,
}
