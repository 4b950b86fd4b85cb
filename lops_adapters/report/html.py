"""One self-contained HTML page about a run, built from its folder alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lops_adapters.console import percent
from lops_adapters.core import LopsError
from lops_adapters.report.arms import arm_rows
from lops_adapters.report.layout import document, section, table
from lops_adapters.report.text import escaped, isolated
from lops_adapters.storage import write_text


def write_report(folder: Path) -> Path:
    """Write ``report.html`` into a run folder and return its path.

    Raises:
        LopsError: the folder holds no finished run.

    """
    for name in ("config.json", "metrics.json"):
        if not (folder / name).is_file():
            raise LopsError(f"{folder} holds no {name}; wanted the folder of a finished run")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    title = f"{metrics['framework']} on {metrics['dataset']}"
    rows = arm_rows(metrics)
    parts = [
        section("arms", "Arms and iterations", table(rows[0], rows[1:], "Arms and iterations"))
    ]
    for number, (arm, result) in enumerate(metrics["arms"].items()):
        if arm != "standard":
            stages = map(_per_class, filter(_selected, result["iterations"]))
            parts.append(section(f"kept-{number}", f"What the {arm} arm kept, by class", *stages))
    settings = f"<pre>{escaped(json.dumps(config, indent=2, ensure_ascii=False))}</pre>"
    parts.append(section("settings", "Settings and versions", settings))
    path = folder / "report.html"
    write_text(
        path,
        document(title, f"<h1>{isolated(title)}</h1>{_summary(config, metrics)}", "\n".join(parts)),
    )
    return path


def _summary(config: dict[str, Any], metrics: dict[str, Any]) -> str:
    labels = metrics["pseudo_labels"]
    wrong = (
        "no gold labels to compare with"
        if labels["noise"] is None
        else f"{percent(labels['noise'])} of these wrong"
    )
    made = f"{labels['count']} of them got a first pseudo-label, {wrong}"
    if "of" in labels:  # samples that are not the documents
        right = "" if labels["noise"] is None else f", {wrong}"
        made = f"{labels['count']} {labels['of']} were made, each with a pseudo-label{right}"
    return (
        f"<p>{metrics['n_documents']} documents in {len(metrics['classes'])} classes; {escaped(made)}. "
        f"Seed {config['seed']}, device {escaped(config['device'])}.</p>"
    )


def _selected(item: dict[str, Any]) -> bool:
    return "per_class" in item  # a framework may have stages without a selection


def _per_class(item: dict[str, Any]) -> str:
    head = ("class", "pseudo-labels", "needed", "learnt", "kept", "closed at epoch", "why")
    rows = [
        (
            label,
            report["count"],
            report["threshold"],
            report["learnt"],
            report["kept"],
            "-" if report["closed_at"] is None else f"{report['closed_at']:g}",
            report["why"],
        )
        for label, report in item["per_class"].items()
    ]
    stage = f"Before {item['stage']}" if "stage" in item else f"Iteration {item['iteration']}"
    return f"<h3>{escaped(stage)}: {escaped(item['stopped'])}</h3>" + table(
        head, rows, f"{stage}: what was kept of each class", text=(6,)
    )
