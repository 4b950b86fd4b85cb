"""The arms of a finished run as rows, for the terminal and the page."""

from typing import Any

from lops_adapters.console import aligned, percent


def arm_table(metrics: dict[str, Any]) -> str:
    """Return :func:`arm_rows` as aligned text."""
    return aligned(arm_rows(metrics))


def arm_rows(metrics: dict[str, Any]) -> list[list[str]]:
    """Return a heading and one row per arm and iteration, from the contents of ``metrics.json``."""
    items = items_of(metrics)
    step = "stage" if any("stage" in item for _, item in items) else "iteration"
    head = ["arm", step, "pseudo-labels", "noise before", "kept", "noise after"]
    rows = [[*head, "micro-F1", "macro-F1", "seconds"]]
    corrects = any(item.get("corrected") for _, item in items)
    if corrects:
        rows[0].insert(5, "corrected")
    has_checks = bool(metrics.get("checked_rows"))
    if has_checks:
        rows[0].insert(4, "noise by checked rows")
    for arm, item in items:
        numbers = [str(item["pseudo_labels"]), percent(item["noise"])]
        numbers += [str(item["selected"]), *([str(item.get("corrected", 0))] if corrects else [])]
        numbers += [percent(item["selected_noise"])]
        numbers += [percent(item["micro_f1"]), percent(item["macro_f1"])]
        rows.append([arm, step_name(item), *numbers, f"{item['seconds']:.0f}"])
        if has_checks:
            rows[-1].insert(4, rate_words(item.get("checked_noise")))
    return rows


def items_of(metrics: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return (arm, entry of an iteration), in the order of the arms."""
    return [(arm, item) for arm, one in metrics["arms"].items() for item in one["iterations"]]


def rate_words(rate: dict[str, Any] | None) -> str:
    """Return a share of wrong labels with its interval, as it is in ``metrics.json``."""
    if rate is None:
        return "-"
    return f"{percent(rate['value'])} ({percent(rate['low'])} to {percent(rate['high'])})"


def checked_words(metrics: dict[str, Any]) -> str:
    """Return how many documents a person has checked, after a comma; empty: none."""
    count = metrics.get("checked_rows")
    return f", {count} documents checked by a person" if count else ""


def step_name(item: dict[str, Any]) -> str:
    """Return the stage of an iteration's entry, or its number."""
    return str(item.get("stage", item["iteration"]))
