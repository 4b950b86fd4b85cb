"""One self-contained HTML page about a run, built from its folder alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from lops_adapters.arguments import percent, table_rows
from lops_adapters.core import LopsError
from lops_adapters.storage import write_text

_STYLE = """
:root { color-scheme: light dark; --line: #8886; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
div.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } pre { overflow-x: auto; padding: 1rem; border: 1px solid var(--line); }
"""


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
    rows = table_rows(metrics)
    parts = [f"<h1>{escape(title)}</h1>", _summary(config, metrics), "<h2>Arms and iterations</h2>", _table(rows[0], rows[1:])]
    for arm, result in metrics["arms"].items():
        if arm != "standard":
            parts += [f"<h2>What the {escape(arm)} arm kept, by class</h2>", *map(_per_class, filter(_selected, result["iterations"]))]
    parts += ["<h2>Settings and versions</h2>", f"<pre>{escape(json.dumps(config, indent=2, ensure_ascii=False))}</pre>"]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
    body = "\n".join(parts)
    path = folder / "report.html"
    write_text(path, f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n')
    return path


def _summary(config: dict[str, Any], metrics: dict[str, Any]) -> str:
    labels = metrics["pseudo_labels"]
    wrong = "no gold labels to compare with" if labels["noise"] is None else f"{percent(labels['noise'])} of these wrong"
    made = f"{labels['count']} of them got a first pseudo-label, {wrong}"
    if "of" in labels:  # samples that are not the documents
        right = "" if labels["noise"] is None else f", {wrong}"
        made = f"{labels['count']} {labels['of']} were made, each with a pseudo-label{right}"
    return (
        f"<p>{metrics['n_documents']} documents in {len(metrics['classes'])} classes; {escape(made)}. "
        f"Seed {config['seed']}, device {escape(config['device'])}.</p>"
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
    return f"<h3>{escape(stage)}: {escape(item['stopped'])}</h3>" + _table(head, rows)


def _table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = ["<tr>" + "".join(f"<th>{escape(str(cell))}</th>" for cell in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    return '<div class="wide"><table>' + "\n".join(lines) + "</table></div>"
