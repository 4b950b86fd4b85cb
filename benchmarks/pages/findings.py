"""The small tables of README and of the findings: one per question, without the details."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

from benchmarks.pages.common import Block, Files, markdown, spread
from benchmarks.pages.curves import best_possible, groups_of, of_confidence
from benchmarks.pages.self_training import files_of, values

_CONFIDENCES = ("learning-order", "probability", "o2u-net", "automatic", "random")


def _macro(files: Files, arm: str) -> str:
    return spread(values(files, arm, "macro_f1")) if files else "-"


def self_training() -> Block:
    """Return macro-F1 of the methods that the findings speak of, per classifier and data set."""
    methods = ("random", "lops", "learning-order", "automatic", "automatic --per-class", "optimal")
    rows = [["classifier", "data", "standard", *(f"`{name}`" for name in methods)]]
    for classifier in ("linear", "minilm"):
        even = files_of("cpu", classifier, "stratified")
        for data, files in files_of("cpu", classifier).items():
            cells = []
            for method in ("standard", *methods):
                arm, _, stratified = method.partition(" ")
                known = None not in values(files, arm, "macro_f1")
                cells.append(_macro(even[data] if stratified or not known else files, arm))
            rows.append([classifier, data, *cells])
    return Block(markdown(rows))


def ranking() -> Block:
    """Return when labels are learnt and how well confidences rank, per classifier and data set."""
    heads = ("correct learnt in epoch 1, %", "wrong learnt in epoch 1, %")
    areas = (f"AUNC, `{name}`" for name in _CONFIDENCES)
    rows = [["classifier", "data", *heads, *areas, "best possible"]]
    for (classifier, data), files in groups_of("cpu").items():
        learnt = [item["result"]["distributions"]["learnt_at"] for item in files]
        shares = [spread([found[side][0] for found in learnt]) for side in ("correct", "wrong")]
        found = [[each["aunc"] for each in of_confidence(files, name)] for name in _CONFIDENCES]
        numbers = (f"{mean(each):.3f}" for each in (*found, best_possible(files)))
        rows.append([classifier, data, *shares, *numbers])
    return Block(markdown(rows))


TABLES: dict[str, Callable[[], Block]] = {
    "findings-self-training": self_training,
    "findings-ranking": ranking,
}
