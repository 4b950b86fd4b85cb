"""What the committee is worth in self-training on a frozen encoder."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean
from typing import Any

from benchmarks.pages.common import CORPORA, HOLE, Block, results, spread, table
from benchmarks.pages.self_training import closed, values
from lops_adapters.runs.arms import ADAPTIVE

_DATA = ("20news-coarse", "20news-fine", "agnews")
_METHODS = ("standard", "random", ADAPTIVE, "automatic", "committee", "optimal")
_CANDIDATES = (ADAPTIVE, "automatic", "committee")


def _files(classifier: str, data: str) -> list[dict[str, Any]]:
    return results(f"committee/self-training-{classifier}-{data}-seed*.json")


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
    rows = [["classifier", *(CORPORA[data] for data in _DATA), "seconds per run"]]
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


TABLES: dict[str, Callable[[], Block]] = {
    "committee-self-training": self_training,
    "committee-first": first_iteration,
    "committee-classifiers": classifiers,
    "committee-rotations": rotations,
}
