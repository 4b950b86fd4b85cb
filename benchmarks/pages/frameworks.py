"""Tables of ConWea, WeSTClass, X-Class and LOTClass, with and without LOPS."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, Files, markdown, paper, results, spread, table

FOLDER = "frameworks"  # below the results: runs that were measured one by one
_DATASETS = ("20news-coarse", "20news-fine", "agnews")
_SELECTION_HEAD = (
    "pseudo-labels",
    "noise %",
    "kept %",
    "noise after %",
    "micro-F1 %",
    "macro-F1 %",
    "the paper's",
    "seconds",
)


def iterations(name: str) -> Block:
    """Return one row per arm and iteration, averaged over seeds."""
    files = results(f"{FOLDER}/{name}")
    if not files:
        return HOLE
    counts = ("pseudo-labels", "noise %", "selected", "noise after %")
    rows = [["arm", "iteration", *counts, "micro-F1 %", "macro-F1 %", "seconds"]]
    for arm in files[0]["result"]["arms"]:
        for items in _by_iteration(files, arm):
            cells = [
                str(items[0].get("stage", items[0]["iteration"])),
                f"{mean(item['pseudo_labels'] for item in items):.0f}",
                spread([item["noise"] for item in items]),
                f"{mean(item['selected'] for item in items):.0f}",
                *(
                    spread([item[part] for item in items])
                    for part in ("selected_noise", "micro_f1", "macro_f1")
                ),
                f"{mean(item['seconds'] for item in items):.0f}",
            ]
            rows.append([arm, *cells])
    return table(rows, [files])


def _by_iteration(files: Files, arm: str) -> list[tuple[dict[str, Any], ...]]:
    """Return the same iteration of all seeds, iteration by iteration."""
    found = (item["result"]["arms"][arm]["iterations"] for item in files)
    return list(zip(*found, strict=True))


def westclass() -> Block:
    """Return one row per data set and arm, averaged over seeds, beside the paper's F1."""
    published = paper()["frameworks"]["westclass"]
    noise = "noise after pre-training %"
    scores = ("micro-F1 %", "macro-F1 %", "the paper's")
    rows = [["data", "arm", "kept %", noise, *scores, "updates", "seconds"]]
    groups = {data: results(f"{FOLDER}/westclass-{data}-seed*.json") for data in _DATASETS}
    for data, files in groups.items():
        for arm in files[0]["result"]["arms"] if files else ():
            pairs = [(item["result"], item["result"]["arms"][arm]) for item in files]
            updates = mean(found["iterations"][1]["updates"] for _, found in pairs)
            cells = [
                spread(
                    [found["selected"] / item["pseudo_labels"]["count"] for item, found in pairs]
                ),
                spread([found["iterations"][1]["noise"] for _, found in pairs]),
                *(spread([found[part] for _, found in pairs]) for part in ("micro_f1", "macro_f1")),
                "/".join(f"{value:.1f}" for value in published[data].get(arm, ())) or "-",
                f"{updates:.0f}",
                f"{mean(found['seconds'] for _, found in pairs):.0f}",
            ]
            rows.append([data, arm, *cells])
    return table(rows, groups.values())


def westclass_ranked() -> Block:
    """Return the rule ``ranked``, which keeps exactly half, beside both arms of the same seed."""
    files = results(f"{FOLDER}/westclass-ranked-*.json")
    noise = "noise after pre-training %"
    rows = [["data", "arm", "kept %", noise, "micro-F1 %", "macro-F1 %"]]
    for item in files:
        data, seed = item["about"]["dataset"]["name"], item["about"]["seed"]
        usual = results(f"{FOLDER}/westclass-{data}-seed{seed}.json")[0]["result"]
        arms = {
            "standard": usual["arms"]["standard"],
            "lops": usual["arms"]["lops"],
            "ranked": item["result"]["arms"]["ranked"],
        }
        for name, arm in arms.items():
            kept = arm["selected"] / usual["pseudo_labels"]["count"]
            scores = [arm["iterations"][1]["noise"], arm["micro_f1"], arm["macro_f1"]]
            rows.append([data, name, *(spread([share]) for share in (kept, *scores))])
    return table(rows, [[item] for item in files])


def _selection_cells(
    items: Sequence[dict[str, Any]], published: Sequence[float] | None
) -> list[str]:
    """Return the cells below the selection's head: one iteration, averaged over seeds."""
    kept = [
        item["selected"] / item["pseudo_labels"] if item["pseudo_labels"] else None
        for item in items
    ]
    after, micro, macro = (
        spread([item[part] for item in items])
        for part in ("selected_noise", "micro_f1", "macro_f1")
    )
    return [
        f"{mean(item['pseudo_labels'] for item in items):.0f}",
        spread([item["noise"] for item in items]),
        spread(kept),
        after,
        micro,
        macro,
        "/".join(f"{value:.1f}" for value in published) if published else "-",
        f"{mean(item['seconds'] for item in items):.0f}",
    ]


def xclass() -> Block:
    """Return one row per data set and arm or earlier stage, beside the paper's F1."""
    published = paper()["frameworks"]["xclass"]
    rows = [["data", "arm or stage", *_SELECTION_HEAD]]
    groups = {data: results(f"{FOLDER}/xclass-{data}-*-seed*.json") for data in _DATASETS}
    for data, files in groups.items():
        if not files:
            continue
        for stage in ("representation", "alignment"):
            scores = [
                spread([item["result"]["stages"][stage][kind] for item in files])
                for kind in ("micro_f1", "macro_f1")
            ]
            seconds = mean(item["result"]["seconds"][stage] for item in files)
            rows.append([data, stage, *["-"] * 4, *scores, "-", f"{seconds:.0f}"])
        for arm in files[0]["result"]["arms"]:
            items = _by_iteration(files, arm)[0]
            rows.append([data, arm, *_selection_cells(items, published[data].get(arm))])
    return table(rows, groups.values())


def lotclass() -> Block:
    """Return one row per data set, arm and stage, beside the paper's F1.

    Another match threshold has rows of its own.
    """
    published = paper()["frameworks"]["lotclass"]
    rows: list[list[str]] = [["data", "arm", "stage", *_SELECTION_HEAD]]
    groups, notes = [], []
    for data, kind, shown in (
        ("20news-coarse", "lotclass", "20news-coarse, --match-threshold 10"),
        ("20news-coarse", "lotclass-threshold20", "20news-coarse, --match-threshold 20"),
        ("agnews", "lotclass", "agnews"),
    ):
        files = results(f"{FOLDER}/{kind}-{data}-*seed*.json")
        if not files:
            continue
        for arm in files[0]["result"]["arms"]:
            for items in _by_iteration(files, arm):
                theirs = published[data].get(arm) if items[0]["iteration"] else None
                rows.append([shown, arm, items[0]["stage"], *_selection_cells(items, theirs)])
        accuracy = spread([item["result"]["masked_accuracy"] for item in files])
        head, labels = (
            mean(item["result"]["seconds"][stage] for item in files)
            for stage in ("language_model", "rows")
        )
        notes.append(
            f"- {shown}: the language model's head trains for {head:.0f} s first and predicts "
            f"{accuracy} % of held-out masked tokens correctly. Finding the rows takes "
            f"{labels:.0f} s."
        )
        groups.append(files)
    return Block("\n".join([markdown(rows), "", *notes]), groups) if groups else HOLE


def runs_of(folder: str = FOLDER) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return (framework, data set) -> result files of the most documents, one per seed."""
    published = paper()["frameworks"]
    datasets = dict.fromkeys(data for tables in published.values() for data in tables)
    return {
        (framework, data): _largest(results(f"{folder}/{framework}-{data}-*seed*.json"))
        for framework in published
        for data in datasets
    }


def all_frameworks(folder: str = FOLDER) -> Block:
    """Return micro and macro-F1 per framework, arm and data set, beside the paper's.

    Args:
        folder: below the results, such as ``paper``.

    """
    published, found = paper()["frameworks"], runs_of(folder)
    every = dict.fromkeys(data for _, data in found)
    shown = [data for data in every if any(found[framework, data] for framework in published)]
    heads = (head for data in shown for head in (f"{data}, micro / macro-F1 %", "the paper"))
    rows = [["framework", "arm", *heads]]
    for framework in published:
        groups = {data: found[framework, data] for data in shown}
        items = [item for files in groups.values() for item in files]
        arms = list(dict.fromkeys(arm for item in items for arm in item["result"]["arms"]))
        for arm in arms or ["-"]:
            row = [framework, arm]
            for data, files in groups.items():
                theirs = published[framework][data].get(arm)
                row.append(_both_scores(files, arm))
                row.append("{:.1f} / {:.1f}".format(*theirs) if theirs else "-")
            rows.append(row)
    return table(rows, found.values())


def _both_scores(files: Files, arm: str) -> str:
    arms = [item["result"]["arms"].get(arm, {}) for item in files]
    scores = [spread([found.get(kind) for found in arms]) for kind in ("micro_f1", "macro_f1")]
    return " / ".join(scores) if files else "-"


def _largest(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the files of the most documents: samples of different sizes are not averaged."""
    most = max((item["about"]["dataset"]["documents"] for item in files), default=0)
    return [item for item in files if item["about"]["dataset"]["documents"] == most]
