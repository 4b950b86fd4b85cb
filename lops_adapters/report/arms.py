"""The arms of a finished run as rows: what the terminal and the page show."""

from __future__ import annotations

from typing import Any

from lops_adapters.console import aligned, percent


def arm_table(metrics: dict[str, Any]) -> str:
    """Return what a run ends with: :func:`arm_rows`, aligned."""
    return aligned(arm_rows(metrics))


def arm_rows(metrics: dict[str, Any]) -> list[list[str]]:
    """Return a head and a row an iteration and arm, from the contents of ``metrics.json``."""
    rows = [
        [
            "arm",
            "iteration",
            "pseudo-labels",
            "noise",
            "selected",
            "noise after",
            "micro-F1",
            "macro-F1",
            "seconds",
        ]
    ]
    for arm, result in metrics["arms"].items():
        for item in result["iterations"]:
            rows.append(
                [
                    arm,
                    str(item.get("stage", item["iteration"])),
                    str(item["pseudo_labels"]),
                    percent(item["noise"]),
                    str(item["selected"]),
                    percent(item["selected_noise"]),
                    percent(item["micro_f1"]),
                    percent(item["macro_f1"]),
                    f"{item['seconds']:.0f}",
                ]
            )
    return rows
