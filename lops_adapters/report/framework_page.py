"""What a framework's run found, for the terminal and as a page: numbers, seed words, classes."""

import csv
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lops_adapters.console import aligned, percent
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import cell_text
from lops_adapters.formats.readers import open_saved
from lops_adapters.report.layout import (
    Markup,
    details,
    document,
    section,
    settings_tables,
    table,
    tiles,
)
from lops_adapters.report.text import count, cut, escaped, isolated
from lops_adapters.storage import read_json, write_text

Metrics = dict[str, Any]  # the contents of metrics.json
SeedWords = dict[str, list[Any]]  # class -> [word, number of documents] of each seed word
Item = dict[str, Any]  # an iteration's entry in it
STANDARD = "standard"  # the arm without a selection


def write_report(folder: Path) -> Path:
    """Write ``report.html`` into the folder of a finished run and return its path."""
    config, metrics = (
        read_json(folder / name, "run the framework again")
        for name in ("config.json", "metrics.json")
    )
    title = f"{metrics.get('title', metrics['framework'])} on {metrics['dataset']}"
    rows = _arm_rows(metrics)
    numbers = table(rows[0], rows[1:], "Numbers per arm and iteration")
    versions = config.pop("versions", {})
    tables = settings_tables(config, versions)
    parts = [
        _figures(metrics),
        _labels(folder),
        _to_check(folder),
        section(
            "arms",
            "All numbers",
            numbers,
            *(f'<p class="note">{line}</p>' for line in caution(metrics)),
        ),
        _checked(metrics),
        _seed_words(metrics),
        _classes(metrics),
        section("settings", "Settings", details("Settings and versions of this run", tables)),
    ]
    header = f"<h1>{isolated(title)}</h1>{_summary(config, metrics)}"
    path = folder / "report.html"
    write_text(path, document(title, header, "\n".join(filter(None, parts))))
    return path


def arm_table(metrics: Metrics) -> str:
    """Return :func:`_arm_rows` as aligned text."""
    return aligned(_arm_rows(metrics))


def caution(metrics: Metrics) -> list[str]:
    """Return which differences of arms mean nothing, as one sentence; none without gold labels.

    Two standard errors of a share of the documents, where it is largest.
    """
    n = metrics["n_documents"]
    if not any(item["macro_f1"] is not None for _, item in _items_of(metrics)):
        return []
    points = 100 / n**0.5
    return [
        f"One seed of {count(n)} documents: differences below {points:.1f} points mean nothing."
    ]


def checked_words(metrics: Metrics) -> str:
    """Return how many documents a person has checked, after a comma; empty: none."""
    count = metrics.get("checked_rows")
    return f", {count} documents checked by a person" if count else ""


def _summary(config: dict[str, Any], metrics: Metrics) -> str:
    labels = metrics["pseudo_labels"]
    wrong = "no gold labels to compare with"
    if labels["noise"] is not None:
        wrong = f"{percent(labels['noise'])} of them wrong"
    made = f"{labels['count']} documents got an initial pseudo-label, {wrong}"
    if "of" in labels:  # samples that are not the documents
        right = "" if labels["noise"] is None else f", {wrong}"
        made = f"{labels['count']} {labels['of']} were made, each with a pseudo-label{right}"
    return (
        f'<p class="muted">{metrics["n_documents"]} documents in {len(metrics["classes"])} classes;'
        f" {escaped(made)}. Seed {config['seed']}, device {escaped(config.get('device', '?'))}"
        f"{checked_words(metrics)}.</p>"
    )


def _figures(metrics: Metrics) -> str:
    """Return each arm's last macro-F1 in large numbers; without gold labels, the rows it kept."""
    arms = metrics["arms"].items()
    last = [(arm, result["iterations"][-1]) for arm, result in arms if result["iterations"]]
    if any(item["macro_f1"] is not None for _, item in last):
        return tiles([(f"{arm}: macro-F1", percent(item["macro_f1"])) for arm, item in last])
    return tiles([(f"{arm}: kept", count(item["selected"])) for arm, item in last])


def _labels(folder: Path) -> str:
    """Return the labels of the run: documents of each class, its words, and a document to check."""
    predictions = _rows(folder / "predictions.csv")
    sizes = Counter(row["predicted"] for row in predictions)
    documents = {name: text for name, _, text in reversed(_documents(folder))}
    examples = {
        row["predicted"]: documents[row["id"]] for row in predictions if row["id"] in documents
    }
    path = folder / "class_words.json"
    words = read_json(path, "run the framework again") if path.exists() else {}
    found = [
        (label, size, ", ".join(words.get(label, ())[:10]), cut(examples.get(label, ""), 200))
        for label, size in sorted(sizes.items())
    ]
    head = ("class", "documents", "words", "such as")
    drawn = table(*_filled(head, found), "Labels per class", text=(2, 3), stacked=True)
    note = '<p class="note">Of predictions.csv. Words that do not belong to a class: rename it.</p>'
    return section("labels", "Labels", note, drawn) if found else ""


def _to_check(folder: Path) -> str:
    """Return the first documents that a person checks, and what to do with the answers."""
    found = [(label, cut(text, 300)) for _, label, text in _documents(folder)[:10]]
    note = (
        '<p class="note">No method can see an error that a whole class shares. Fill in the column '
        "checked of to_check.csv from the top: the right class, or - for none. Then run the "
        "framework with <code>--checked to_check.csv</code> and another --output.</p>"
    )
    drawn = table(("label", "document"), found, "Documents to check", text=(1,), stacked=True)
    return section("check", "Check ten documents", note, drawn) if found else ""


def _documents(folder: Path) -> list[tuple[str, ...]]:
    """Return id, label and text of documents to check, also as a spreadsheet saved them."""
    columns = ("id", "label", "text")
    with suppress(LopsError):
        table = open_saved(folder / "to_check.csv")
        if set(columns) <= set(table.columns):
            return [tuple(map(cell_text, cells)) for _, _, cells in table.cells(columns)]
    return []


def _rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table of the run; none without the file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _filled(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[Any]]:
    """Return a table without the columns that say nothing in any row."""
    kept = [i for i in range(len(head)) if any(row[i] not in ("", "-") for row in rows)]
    return [head[i] for i in kept], [[row[i] for i in kept] for row in rows]


def _checked(metrics: Metrics) -> str:
    parts = []
    for arm, item in _items_of(metrics):
        if "checked_noise_per_class" in item:
            rates = item["checked_noise_per_class"].items()
            rows = [(label, rate["checked"], _rate_words(rate)) for label, rate in rates]
            name = f"{arm}, {_step_name(item)}"
            parts.append(details(name, table(("class", "checked", "wrong"), rows, name)))
    note = (
        '<p class="note">Share of wrong pseudo-labels by the documents that a person has checked, '
        "with its 95 % interval. An error that a whole class shares shows here.</p>"
    )
    return section("checked", "Wrong pseudo-labels per class", note, *parts) if parts else ""


def _seed_words(metrics: Metrics) -> str:
    parts = []
    for arm, result in metrics["arms"].items():
        stored = [item for item in result["iterations"] if item.get("seed_words")]
        previous: SeedWords = {}
        for item in stored:
            words: SeedWords = item["seed_words"]
            n = sum(map(len, words.values()))
            name = f"{arm}, iteration {_step_name(item)}: {count(n)} word{'' if n == 1 else 's'}"
            rows = [[label, _words(one, previous.get(label, one))] for label, one in words.items()]
            drawn = table(("class", "seed words"), rows, name, text=(1,))
            parts.append(details(name, drawn, is_open=item is stored[-1]))
            previous = words
    note = (
        '<p class="note">With the number of documents that hold each word. '
        "Bold: new since the iteration before. word$0, word$1: senses of an ambiguous word.</p>"
    )
    return section("seeds", "Seed words", note, *parts) if parts else ""


def _words(words: list[Any], previous: list[Any]) -> Markup:
    known, items = {word for word, _ in previous}, []
    for word, documents in words:
        new = "" if word in known else ' class="new"'
        shown = f"<span{new}>{isolated(word)}</span>" if new else isolated(word)
        items.append(f'<li>{shown} <span class="count">{count(documents)}</span></li>')
    return Markup(f'<ul class="seeds">{"".join(items)}</ul>')


def _classes(metrics: Metrics) -> str:
    parts = []
    for arm, result in metrics["arms"].items():
        selections = [item for item in result["iterations"] if "per_class" in item]
        if arm != STANDARD and selections:
            tables = map(_per_class, selections)
            parts.append(details(f"What the {arm} arm kept, by class", *tables))
    return section("classes", "Selection per class", *parts) if parts else ""


def _per_class(item: Item) -> str:
    head = ["class", "pseudo-labels", "needed", "learnt", "kept", "closed at epoch", "why"]
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
    head, rows = _filled(head, rows)
    drawn = table(head, rows, f"{stage}: kept per class", text=(len(head) - 1,))
    return f"<h3>{escaped(stage)}: {escaped(item['stopped'])}</h3>{drawn}"


def _arm_rows(metrics: Metrics) -> list[list[str]]:
    """Return a heading and one row per arm and iteration, from the contents of ``metrics.json``.

    Without gold labels there are no columns for what they measure.
    """
    items = _items_of(metrics)
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
        rows.append([arm, _step_name(item), *numbers, f"{item['seconds']:.0f}"])
        if has_checks:
            rows[-1].insert(4, _rate_words(item.get("checked_noise")))
    head, rest = _filled(rows[0], rows[1:])
    return [head, *rest]


def _items_of(metrics: Metrics) -> list[tuple[str, Item]]:
    return [(arm, item) for arm, one in metrics["arms"].items() for item in one["iterations"]]


def _rate_words(rate: dict[str, Any] | None) -> str:
    """Return a share of wrong labels with its interval, as it is in ``metrics.json``."""
    if rate is None:
        return "-"
    return f"{percent(rate['value'])} ({percent(rate['low'])} to {percent(rate['high'])})"


def _step_name(item: Item) -> str:
    return str(item.get("stage", item["iteration"]))
