"""Checked rows, from none to fifty: decisions, labels, rivals, classifiers, the range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, commits, markdown, results
from benchmarks.pages.real_noise import ranked_means
from benchmarks.real_tables import GIVEN, LATER

COUNTS = ("0", "5", "10", "20", "50")
_FEW = ("0", "10", "20", "50")
_HARM, _LOST = 0.01, 0.01  # of all rows; of right labels
_WAYS = {
    "to_check": "rows by `to_check`",
    "5% wrong answers": "5 % of the answers are wrong",
    "10% wrong answers": "10 % of the answers are wrong",
    "random rows": "random rows",
    "ActiveLab's rows": "rows by ActiveLab",
    "class shares": "no row, but the true shares of the classes (`--class-shares`)",
}
_RIVALS = {
    "alone": "the same rows corrected alone",
    "cleanlab": "these corrected, then cleanlab",
    "few-shot": "few-shot: a classifier of these rows alone",
}
Item = dict[str, Any]


def _found() -> dict[str, Item]:
    """Return the results of tables with labels that somebody gave, then of clean ones."""
    items = {item["about"]["dataset"]["name"]: item for item in results("checked/*.json")}
    return {
        name: items[name] for name in (*GIVEN, *sorted(set(items) - set(GIVEN))) if name in items
    }


def _noisy() -> dict[str, Item]:
    return {name: item for name, item in _found().items() if name in GIVEN}


def _clean() -> dict[str, Item]:
    return {name: item for name, item in _found().items() if name not in GIVEN}


def _block(rows: list[list[str]]) -> Block:
    items = list(_found().values())
    if not items:
        return HOLE
    draws, machine = items[0]["result"]["draws"], items[0]["about"]["machine"]["processor"]
    return Block(
        f"{markdown(rows)}\n\nAt most 1,200 rows per table, {draws} draws, static encoder, CPU "
        f"({machine}), commits {commits(items)}: `python -m benchmarks.checked --data-dir DIR`."
    )


def _of(items: dict[str, Item], key: str, count: str, way: str = "to_check") -> list[float]:
    """Return a measure per table that has it."""
    cells = (item["result"]["ways"].get(way, {}).get(count, {}) for item in items.values())
    return [cell[key] for cell in cells if key in cell]


def _points(values: Sequence[float]) -> str:
    return f"{100 * mean(values):+.1f}" if values else "-"


def _percent(values: Sequence[float], digits: int = 0) -> str:
    return f"{100 * mean(values):.{digits}f}" if values else "-"


def _harmed(values: Sequence[float]) -> str:
    return str(sum(value < -_HARM for value in values))


def _groups(found: dict[str, Item]) -> tuple[dict[str, Item], dict[str, Item]]:
    """Return the tables on which settings were chosen, and the later ones."""
    first = {name: item for name, item in found.items() if name not in LATER}
    return first, {name: item for name, item in found.items() if name in LATER}


def summary() -> Block:
    """Return all measures per number of checked rows, means over tables."""
    noisy, clean = _noisy(), _clean()
    if not noisy or not clean:
        return HOLE
    groups = _groups(noisy)
    sizes = " / ".join(str(len(group)) for group in groups)
    rows = [["checked rows", *COUNTS]]

    def row(title: str, cell: Callable[[str], str]) -> None:
        rows.append([title, *map(cell, COUNTS)])

    def both(key: str) -> Callable[[str], str]:
        return lambda count: " / ".join(_points(_of(group, key, count)) for group in groups)

    def harmed(key: str) -> Callable[[str], str]:
        return lambda count: (
            f"{_harmed(_of(noisy, key, count))} ({100 * min(_of(noisy, key, count)):+.1f})"
        )

    row(f"wrong minus right labels rejected, points, {sizes} tables", both("gain"))
    row("labels right after correction, points", both("corrected"))
    row("wrong labels found, %", lambda count: _percent(_of(noisy, "found", count)))
    row("right labels lost, %", lambda count: _percent(_of(noisy, "right_lost", count), 1))
    row("AUROC of wrong labels", lambda count: f"{mean(_of(noisy, 'auroc', count)):.3f}")
    row(f"tables of {len(noisy)} with a higher AUROC than without checked rows", _better_ranked)
    row("tables harmed by more than a point, rejecting (worst)", harmed("gain"))
    row("tables harmed by more than a point, correcting (worst)", harmed("corrected"))
    row(f"{len(clean)} tables without wrong labels: right labels lost, mean / worst %", _lost)
    row(
        "of these, tables that lose more than 1 %",
        lambda count: str(sum(one > _LOST for one in _of(clean, "right_lost", count))),
    )
    row("truth within the range, % of tables", lambda count: _percent(_of(noisy, "holds", count)))
    row("estimate within a factor of two, %", lambda count: _percent(_of(noisy, "within", count)))
    return _block(rows)


def _better_ranked(count: str) -> str:
    noisy = _noisy()
    pairs = zip(_of(noisy, "auroc", "0"), _of(noisy, "auroc", count), strict=True)
    return "" if count == "0" else str(sum(after > before for before, after in pairs))


def _lost(count: str) -> str:
    lost = _of(_clean(), "right_lost", count)
    return f"{100 * mean(lost):.2f} / {100 * max(lost):.1f}"


def ways() -> Block:
    """Return what other rows, wrong answers and shares of the classes change."""
    noisy = _noisy()
    rows = [["", *(f"{count} rows" for count in COUNTS)]]
    for way, title in _WAYS.items():
        cells = []
        for count in COUNTS:
            both = [_of(noisy, key, count, way) for key in ("gain", "corrected")]
            harmed = _harmed(both[1])
            cells.append(f"{_points(both[0])} / {_points(both[1])} / {harmed}" if both[0] else "")
        rows.append([title, *cells])
    return _block(rows)


def rivals() -> Block:
    """Return how many labels of all rows are right, next to labels as given, by way."""
    noisy = _noisy()
    rows = [["points of all rows, against the labels as given", *COUNTS]]
    own = {count: _gained(noisy, "accuracy", count) for count in COUNTS}
    rows.append(
        ["`lops select --checked`", *(_points(list(own[count].values())) for count in COUNTS)]
    )
    for key, title in _RIVALS.items():
        cells = []
        for count in COUNTS:
            theirs = _gained(noisy, key, count)
            said = f"{_points(list(theirs.values()))} ({_ahead(noisy, key, count)})"
            cells.append(said if theirs else "")
        rows.append([title, *cells])
    return _block(rows)


def _gained(found: dict[str, Item], key: str, count: str) -> dict[str, float]:
    """Return the accuracy of a way minus that of the given labels, per table that has it."""
    cells = {name: item["result"]["ways"]["to_check"][count] for name, item in found.items()}
    noise = {name: item["result"]["noise"] for name, item in found.items()}
    return {name: cell[key] - 1 + noise[name] for name, cell in cells.items() if key in cell}


def classifier() -> Block:
    """Return macro-F1 of classifiers on ``train.csv``, and the share of the gap that it closes."""
    rows = [["table", "all labels", *(f"{count} rows" for count in _FEW), "only right labels"]]
    scores, ends = _classified()
    names = [name for name, item in _noisy().items() if "macro_f1" in item["result"]]
    for i, name in enumerate(names):
        own = [f"{scores[count][i]:.1f}" for count in _FEW]
        rows.append([name, f"{ends[i][0]:.1f}", *own, f"{ends[i][1]:.1f}"])
    if names:
        first, last = (mean(end[i] for end in ends) for i in (0, 1))
        means = [mean(scores[count]) for count in _FEW]
        rows.append(["mean", f"{first:.1f}", *(f"{one:.1f}" for one in means), f"{last:.1f}"])
        closed = [f"{100 * (one - first) / (last - first):.0f}" for one in means]
        rows.append(["gap closed, %", "", *closed, ""])
    return _block(rows)


def _classified() -> tuple[dict[str, list[float]], list[tuple[float, float]]]:
    """Return macro-F1 per number of rows, and with all and only right labels, per table."""
    items = [item["result"] for item in _noisy().values() if "macro_f1" in item["result"]]
    cells = [item["ways"]["to_check"] for item in items]
    scores = {count: [cell[count]["macro_f1"] for cell in cells] for count in _FEW}
    return scores, [(item["macro_f1"]["all"], item["macro_f1"]["only right"]) for item in items]


def per_table() -> Block:
    """Return gains per table, and the estimate with ten rows."""
    heads = [f"{key}, {', '.join(_FEW)} rows" for key in ("rejected, points", "corrected, points")]
    rows = [["table", "wrong %", *heads, "found %, 0, 10 rows", "estimate (range) %, 10 rows"]]
    for name, item in _noisy().items():
        cells = item["result"]["ways"]["to_check"]
        gains = [
            ", ".join(f"{100 * cells[count][key]:+.1f}" for count in _FEW)
            for key in ("gain", "corrected")
        ]
        found = ", ".join(f"{100 * cells[count]['found']:.0f}" for count in ("0", "10"))
        rate, low, high = (100 * cells["10"][key] for key in ("rate", "low", "high"))
        noise = f"{100 * item['result']['noise']:.1f}"
        rows.append([name, noise, *gains, found, f"{rate:.0f} ({low:.0f}-{high:.0f})"])
    return _block(rows)


def clean() -> Block:
    """Return the tables without wrong labels that lose more than 1 % of the right ones."""
    rows = [["right labels lost, %", *(f"{count} rows" for count in COUNTS)]]
    for name, item in _clean().items():
        cells = item["result"]["ways"]["to_check"]
        if cells["0"]["right_lost"] > _LOST:
            rows.append([name, *(f"{100 * cells[count]['right_lost']:.1f}" for count in COUNTS)])
    return _block(rows)


def first() -> Block:
    """Return what changes for README's reader: a sentence, and classifiers before and after."""
    noisy, scores, ends = _noisy(), *_classified()
    ranked, tables = ranked_means()
    if not ends or not tables:
        return HOLE
    own, theirs = (f"{100 * score:.0f} %" for score in ranked)
    found = [f"{mean(_of(noisy, 'found', count)) * 10:.0f}" for count in ("0", "10")]
    first, last = (mean(end[i] for end in ends) for i in (0, 1))
    closed = [f"{(mean(scores[n]) - first) / (last - first) * 100:.0f} %" for n in ("0", "10")]
    sentence = (
        f"Of ten wrong labels it finds {found[0]} without your help and {found[1]} after you "
        "have checked ten rows, which takes a minute. A classifier that is trained on the result "
        f"closes {closed[0]}, then {closed[1]} of the distance to one that is trained on right "
        f"labels only (means of {len(noisy)} and {len(ends)} tables). Shown a wrong and a right "
        f"label, it tells which is which in {own} of the cases, cleanlab on the same vectors "
        f"in {theirs} ([{tables} tables](docs/results/comparison.md#cleanlab))."
    )
    heads = ("labels as given", "nobody checks", "ten rows checked", "only right labels")
    rows = [["macro-F1, %", *heads]]
    names = [name for name, item in _noisy().items() if "macro_f1" in item["result"]]
    for title, places in {
        "AG News, labelled by seed words": [names.index("agnews-seeds")],
        "Yelp reviews, labelled by rules": [names.index("yelp-rules")],
        f"mean of {len(names)} tables": range(len(names)),
    }.items():
        cells = [mean(ends[i][0] for i in places)]
        cells += [mean(scores[count][i] for i in places) for count in ("0", "10")]
        cells.append(mean(ends[i][1] for i in places))
        rows.append([title, *(f"{cell:.1f}" for cell in cells)])
    return Block(f"{sentence}\n\n{markdown(rows)}")


def _ahead(noisy: dict[str, Item], rival: str, count: str) -> str:
    """Return on how many tables a rival gets more labels right, by half a point."""
    own, theirs = (_gained(noisy, key, count) for key in ("accuracy", rival))
    return str(sum(theirs[name] > own[name] + _HARM / 2 for name in theirs)) if theirs else ""


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "headline-first": first,
    "checked-summary": summary,
    "checked-ways": ways,
    "checked-rivals": rivals,
    "checked-classifier": classifier,
    "checked-tables": per_table,
    "checked-clean": clean,
}
