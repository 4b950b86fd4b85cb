"""The arms of a finished run as rows, for the terminal and the page."""

from __future__ import annotations

from typing import Any

from lops_adapters.console import aligned, percent


def arm_table(metrics: dict[str, Any]) -> str:
    """Return :func:`arm_rows` as aligned text."""
    return aligned(arm_rows(metrics))


def arm_rows(metrics: dict[str, Any]) -> list[list[str]]:
    """Return a heading and one row per arm and iteration, from the contents of ``metrics.json``."""
    items = [
        (arm, item) for arm, result in metrics["arms"].items() for item in result["iterations"]
    ]
    step = "stage" if any("stage" in item for _, item in items) else "iteration"
    head = ["arm", step, "pseudo-labels", "noise before", "kept", "noise after"]
    rows = [[*head, "micro-F1", "macro-F1", "seconds"]]
    for arm, item in items:
        numbers = [str(item["pseudo_labels"]), percent(item["noise"])]
        numbers += [str(item["selected"]), percent(item["selected_noise"])]
        numbers += [percent(item["micro_f1"]), percent(item["macro_f1"])]
        rows.append([arm, step_name(item), *numbers, f"{item['seconds']:.0f}"])
    return rows


def step_name(item: dict[str, Any]) -> str:
    """Return the stage of an iteration's entry, or its number."""
    return str(item.get("stage", item["iteration"]))
