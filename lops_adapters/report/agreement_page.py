"""The page of agreement: label sources, next to each other and to checked rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lops_adapters.console import percent
from lops_adapters.report.agreement import AgreementPage
from lops_adapters.report.layout import (
    details,
    document,
    headline,
    section,
    settings_section,
    table,
)
from lops_adapters.report.text import count, cut, isolated
from lops_adapters.storage import write_text

_CHARS = 300  # of a text
_SENT = 5  # rows per source that are shown


def write_agreement_page(
    path: Path, page: AgreementPage, source: str, settings: Mapping[str, Any]
) -> Path:
    """Write the page as one HTML file into an existing folder, and return its path.

    ``source`` says what the rows are, below the title; ``settings`` are shown at the end.
    """
    parts = [
        *map(_note, [*(f"Problem: {one}" for one in page.problems), *page.notes]),
        _comparisons(page),
        _alternatives(page),
        _pairs(page),
        _per_class(page),
        _confusions(page),
        _disagreements(page),
        _sent_back(page),
        settings_section(settings, {}),
    ]
    header = headline("Agreement of label sources", page.sentence, source)
    main = "\n".join(filter(None, parts))
    write_text(path, document(f"{page.sentence}: agreement", header, main))
    return path


def _note(text: str) -> str:
    return f'<p class="note">{isolated(text)}</p>'


def _comparisons(page: AgreementPage) -> str:
    title = "As good as a person?"
    if not page.checked:
        summary = (
            "No row is checked yet. Check rows from the top of to_check.csv, such as 50, and give "
            "the file with --checked."
        )
        return section("compared", title, _note(summary))
    lines = "".join(f"<li>{isolated(one.sentence)}</li>" for one in page.comparisons)
    note = (
        f"From {count(page.checked)} checked rows, with the labels of all rows as a covariate. "
        f"As good: right less often by at most {100 * page.margin:g} points, with a confidence of "
        "97.5 %. The checked rows have to be of the top of to_check.csv, or a random sample."
    )
    return section("compared", title, f"<ul>{lines}</ul>", _note(note))


def _alternatives(page: AgreementPage) -> str:
    if not page.alternatives:
        return ""
    lines = "".join(f"<li>{isolated(one.sentence)}</li>" for one in page.alternatives)
    note = (
        "The alternative annotator test (Calderon, Reichart and Dror, 2025): each person in turn "
        "is left out, and source and person are compared with the others. It needs no checked "
        "rows, and says nothing of who is right where all people err."
    )
    return section("alternative", "In a person's place?", f"<ul>{lines}</ul>", _note(note))


def _pairs(page: AgreementPage) -> str:
    head, *rows = page.table()
    drawn = table(head, rows, "Agreement of two sources", text=(1,), stacked=True)
    kappa, alpha = page.explained
    return section("agreement", "Agreement", _note(kappa), drawn, _note(alpha))


def _per_class(page: AgreementPage) -> str:
    rows = [
        [pair.first, *("-" if one is None else f"{one.value:.2f}" for one in pair.per_class)]
        for pair in page.with_truth
    ]
    head = ["source", *page.classes]
    drawn = table(head, rows, "Kappa per class", stacked=False)
    note = f"Kappa of each class against all others, with the {page.truth}."
    return section("classes", "Per class", drawn, _note(note))


def _confusions(page: AgreementPage) -> str:
    if not page.confusions:
        return ""
    head = [f"{page.truth} / source", *page.classes]
    parts = [
        details(
            one.source,
            table(
                head,
                [
                    [name, *map(count, counts)]
                    for name, counts in zip(page.classes, one.counts, strict=True)
                ],
                f"Confusion of {one.source}",
            ),
            is_open=index == 0,
        )
        for index, one in enumerate(page.confusions)
    ]
    note = (
        f"Numbers of rows: a row per class by the {page.truth}, a column per label of the source."
    )
    if page.checked:
        note += " Each checked row counts for several: the sum is about that of all labels."
    return section("confusions", "Confusions", *parts, _note(note))


def _disagreements(page: AgreementPage) -> str:
    if not page.disagreements:
        return ""
    rows = [
        [
            count(one.row),
            cut(one.text, _CHARS),
            f"{one.label} ({percent(one.probability)})",
            "; ".join(f"{source}: {label}" for source, label in one.said.items()),
        ]
        for one in page.disagreements
    ]
    head = ["row", "text", "joint label", "labels"]
    drawn = table(head, rows, "Disagreements", text=(1, 2, 3), stacked=True)
    note = (
        "Joint label: of all sources together, with its probability. Rows of different kinds, the "
        "surest joint labels first."
    )
    return section("disagreements", "Telling disagreements", drawn, _note(note))


def _sent_back(page: AgreementPage) -> str:
    parts = []
    for source, rows in page.sent_back.items():
        if not rows:
            continue
        cells = [
            [count(one.row), cut(one.text, _CHARS), one.said[source], one.label]
            for one in rows[:_SENT]
        ]
        head = ["row", "text", "label", "joint label"]
        drawn = table(head, cells, f"Rows of {source}", text=(1, 2, 3), stacked=True)
        parts.append(details(f"{source}: {len(rows)} rows", drawn))
    if not parts:
        return ""
    note = _note("Labels that are most probably wrong, by all sources together; send_back.csv.")
    return section("back", "Rows to send back", note, *parts)
