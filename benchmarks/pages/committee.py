"""What the committee is worth: self-training on a frozen encoder, and corrupted gold labels."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean
from typing import Any

from benchmarks.corruption import UNLIMITED
from benchmarks.pages.common import (
    HOLE,
    Block,
    commits,
    markdown,
    results,
    spread,
    spread_number,
    table,
)
from benchmarks.pages.self_training import closed, values

_DATA = ("20news-coarse", "20news-fine", "agnews")
_TITLES = {"20news-coarse": "20news-coarse", "20news-fine": "20news-fine", "agnews": "AG News"}
_METHODS = ("standard", "random", "lops", "automatic", "committee", "optimal")
_CANDIDATES = ("lops", "automatic", "committee")
_SHOWN = {
    "auroc": ("AUROC", 3, 1),
    "average_precision": ("average precision", 3, 1),
    "right_lost": ("right labels lost %", 1, 100),
    "wrong_found": ("wrong labels found %", 1, 100),
    "noise_at_cut": ("noise at cleanlab's coverage %", 1, 100),
    "processor_seconds": ("processor seconds", 0, 1),
}
_BOUND, _AT = "committee taught by gold labels", "lost_at_recall_of_automatic"
_AMOUNTS = {  # heading -> way, number
    "lost by `automatic`": ("automatic", "right_lost"),
    "lost by `lops select`": ("committee", "right_lost"),
    "found by `automatic`": ("automatic", "wrong_found"),
    "found by `lops select`": ("committee", "wrong_found"),
    "lost if as many are found as by `automatic`": ("committee", _AT),
    "the same, taught by gold labels": (_BOUND, _AT),
}


def _files(classifier: str, data: str) -> list[dict[str, Any]]:
    return results(f"committee/self-training-{classifier}-{data}-seed*.json")


def headline() -> Block:
    """Return README's table: macro-F1 after self-training with the hybrid classifier."""
    groups = {data: files for data in _DATA if (files := _files("hybrid", data))}
    if not groups:
        return HOLE
    heads = ("all labels", "random labels*", "`lops`", "`committee`", "only correct labels")
    rows = [["data", *heads]]
    for data, files in groups.items():
        documents = files[0]["about"]["dataset"]["documents"]
        arms = ("standard", "random", "lops", "committee", "optimal")
        scores = (spread(values(files, arm, "macro_f1")) for arm in arms)
        seeds = f", {len(files)} seed{'s' if len(files) > 1 else ''}"
        rows.append([f"{_TITLES[data]}, {documents:,} documents{seeds}", *scores])
    every = [item for files in groups.values() for item in files]
    rounds = len(every[0]["result"]["arms"]["standard"]["iterations"])
    return Block(
        f"{markdown(rows)}\n\nMacro-F1 in percent, mean ± standard deviation over seeds: hybrid "
        f"classifier (TF-IDF and frozen MiniLM), {rounds} iterations of self-training from "
        f"seed-word labels, CPU, commits {commits(every)} ([commands](docs/committee.md#results)). "
        "\\* As many per class as `committee` keeps in the same iteration."
    )


def self_training() -> Block:
    """Return macro-F1 per method, and the share of the gap that the committee closes."""
    shown = [f"`{name}`" if name != "standard" else name for name in _METHODS]
    rows = [["classifier", "data", "seeds", *shown, "gap closed by `committee`, %"]]
    groups = []
    for classifier in ("hybrid", "linear"):
        for data in _DATA:
            files = _files(classifier, data)
            if not files:
                continue
            groups.append(files)
            scores = [spread(values(files, arm, "macro_f1")) for arm in _METHODS]
            gap = spread([closed(item, "committee") for item in files])
            rows.append([classifier, data, str(len(files)), *scores, gap])
    return table(rows, groups)


def first_iteration() -> Block:
    """Return noise and macro-F1 of the first iteration, where all methods see the same labels."""
    heads = [f"`{name}`, noise / macro-F1 %" for name in _METHODS if name != "standard"]
    rows = [["data", "standard, noise / macro-F1 %", *heads]]
    groups = [files for data in _DATA if (files := _files("hybrid", data))]
    for files in groups:
        first = [
            {name: item["result"]["arms"][name]["iterations"][0] for name in _METHODS}
            for item in files
        ]
        cells = [
            f"{spread([own[name]['selected_noise'] for own in first])} / "
            f"{spread([own[name]['macro_f1'] for own in first])}"
            for name in _METHODS
        ]
        rows.append([files[0]["about"]["dataset"]["name"], *cells])
    return table(rows, groups)


def classifiers() -> Block:
    """Return macro-F1 without selection on the same small samples, per classifier."""
    rows = [["classifier", *(_TITLES[data] for data in _DATA), "seconds per run"]]
    groups = []
    where = {
        "minilm": "cpu/self-training-minilm-{}-seed*.json",
        "hybrid": "committee/self-training-hybrid-1000-{}-seed*.json",
    }
    for classifier, pattern in where.items():
        files = [results(pattern.format(data)) for data in _DATA]
        if not all(files):
            continue
        groups += files
        seconds = [
            item["result"]["arms"]["standard"]["seconds"] for group in files for item in group
        ]
        scores = [spread(values(group, "standard", "macro_f1")) for group in files]
        rows.append([classifier, *scores, f"{min(seconds):.0f} to {max(seconds):.0f}"])
    return table(rows, groups)


def rotations() -> Block:
    """Return three rotations: the method chosen on all data sets but one, confirmed on that one."""
    groups = {data: files for data in (*_DATA, "demo") if (files := _files("hybrid", data))}
    if len(groups) < len(_DATA) + 1:
        return HOLE
    gains = {
        data: {arm: _mean(files, arm) - _mean(files, "standard") for arm in _CANDIDATES}
        for data, files in groups.items()
    }
    heads = ("chosen on", "chosen", "confirmed on", "standard", "`random`", "the chosen", "gain")
    rows = [list(heads)]
    for held_out in _DATA:
        others = [data for data in groups if data != held_out]
        chosen = max(_CANDIDATES, key=lambda arm: mean(gains[data][arm] for data in others))
        files = groups[held_out]
        scores = [spread(values(files, arm, "macro_f1")) for arm in ("standard", "random", chosen)]
        gain = f"{100 * gains[held_out][chosen]:+.1f}"
        rows.append([", ".join(others), f"`{chosen}`", held_out, *scores, gain])
    return table(rows, list(groups.values()))


def _mean(files: list[dict[str, Any]], arm: str) -> float:
    return mean(value for value in values(files, arm, "macro_f1") if value is not None)


def areas() -> Block:
    """Return the area under the noise-coverage curve per method and data set."""
    groups = {data: results(f"committee/areas-{data}.json") for data in (*_DATA, "demo")}
    found = {data: files[0]["result"]["runs"] for data, files in groups.items() if files}
    if not found:
        return HOLE
    rows = [["method", *found]]
    for name in next(iter(found.values()))[0]:
        cells = [spread_number([run[name] for run in runs], 4) for runs in found.values()]
        rows.append([name, *cells])
    return table(rows, [files for files in groups.values() if files])


def corruption() -> Block:
    """Return what methods find in corrupted gold labels, one row per table and method."""
    found = results("select/corruption-*.json")
    rows = [["data", "corruption", "rows", "method", *(head for head, _, _ in _SHOWN.values())]]
    for item in found:
        for kind, own in item["result"].items():
            for way, numbers in own["ways"].items():
                if way == _BOUND or way.endswith(UNLIMITED):
                    continue
                cells = [
                    f"{times * numbers[key]:.{digits}f}"
                    for key, (_, digits, times) in _SHOWN.items()
                ]
                data = item["about"]["dataset"]["name"]
                rows.append([data, kind, f"{own['n']:,}", way, *cells])
    return table(rows, [[item] for item in found])


def amounts() -> Block:
    """Return right labels lost and wrong labels found, and what the rankings allow."""
    found = results("select/corruption-*.json")
    rows = [["data", "corruption", "rows", *_AMOUNTS]]
    for item in found:
        for kind, own in item["result"].items():
            numbers = [own["ways"].get(way, {}).get(key) for way, key in _AMOUNTS.values()]
            cells = ["-" if number is None else f"{100 * number:.1f}" for number in numbers]
            rows.append([item["about"]["dataset"]["name"], kind, f"{own['n']:,}", *cells])
    return table(rows, [[item] for item in found])


def rare() -> Block:
    """Return what is lost and found beside a rare class, without and with its limit."""
    found = results("select/corruption-*.json")
    head = ["lost without limit %", "lost %", "found without limit %", "found %"]
    rows = [["data", "method", *head]]
    for item in found:
        ways = item["result"].get("rare", {}).get("ways", {})
        for way in (way for way in ways if way + UNLIMITED in ways):
            cells = [
                f"{100 * ways[name][key]:.1f}"
                for key in ("right_lost", "wrong_found")
                for name in (way + UNLIMITED, way)
            ]
            rows.append([item["about"]["dataset"]["name"], way, *cells])
    return table(rows, [[item] for item in found])


def noise() -> Block:
    """Return the estimated share of wrong labels beside the true one."""
    found = results("select/corruption-*.json")
    rows = [["data", "corruption", "rows", "wrong %", "estimated %"]]
    for item in found:
        for kind, own in item["result"].items():
            rate, low, high = own["ways"]["committee"]["estimate"]
            estimate = f"{100 * rate:.1f} ({100 * low:.1f} to {100 * high:.1f})"
            data = item["about"]["dataset"]["name"]
            rows.append([data, kind, f"{own['n']:,}", f"{100 * own['noise']:.1f}", estimate])
    return table(rows, [[item] for item in found])


TABLES: dict[str, Callable[[], Block]] = {
    "headline": headline,
    "committee-self-training": self_training,
    "committee-first": first_iteration,
    "committee-classifiers": classifiers,
    "committee-rotations": rotations,
    "committee-areas": areas,
    "committee-corruption": corruption,
    "committee-amounts": amounts,
    "committee-noise": noise,
    "committee-rare": rare,
}
