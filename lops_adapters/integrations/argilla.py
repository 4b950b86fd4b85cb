"""Selection for Argilla: records in, suggestions out; no server is asked::

    from lops_adapters.integrations.argilla import add_suggestions, select_records

    found = select_records(dataset.records(with_responses=True, with_suggestions=True))
    add_suggestions(found)
    dataset.records.log(found.records)               # people see the suggestions

Tested with Argilla 2.8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.texts.result import TextSelection
from lops_adapters.texts.select import select

AGENT = "lops_adapters"


class Judged(NamedTuple):
    """What :func:`select_records` returns.

    Attributes:
        records: as given.
        question: whose answers were judged.
        selection: among these records.

    """

    records: list[Any]
    question: str
    selection: TextSelection


def label_of(record: Any, question: str) -> Any:
    """Return a record's label: its most frequent answer, else its suggestion; None: neither.

    Drafts and discarded answers do not count. Answers that tie are no label.
    """
    answers = [
        answer.value
        for answer in record.responses[question]
        if answer.value is not None and getattr(answer.status, "value", None) in (None, "submitted")
    ]
    if answers:
        first, *others = Counter(answers).most_common(2)
        return None if others and others[0][1] == first[1] else first[0]
    suggested = {found.question_name: found.value for found in record.suggestions}
    return suggested.get(question)


def select_records(
    records: Iterable[Any], field: str = "text", question: str = "label", **choice: Any
) -> Judged:
    """Select the records whose labels to trust.

    Args:
        records: of Argilla, with their responses or suggestions; those without a label are neither
            kept nor judged.
        field: name of the text field.
        question: name of a label question.
        choice: as for :func:`lops_adapters.select`.

    Raises:
        LopsError: something else than records, a record without the field, no record with a label,
            and what the selection raises.

    """
    given = list(records)
    odd = next((record for record in given if not hasattr(record, "suggestions")), None)
    if odd is not None:
        raise LopsError(f"records hold a {type(odd).__name__}; wanted argilla.Record")
    labels = [label_of(record, question) for record in given]
    if all(label is None for label in labels):
        raise LopsError(
            f"none of {len(given)} records has an answer or a suggestion for the question "
            f"{question!r}; fetch them with with_responses=True and with_suggestions=True"
        )
    without = next((record for record in given if field not in record.fields), None)
    if without is not None:
        raise LopsError(
            f"a record has no field {field!r}, only {', '.join(without.fields)}; pass field="
        )
    selection = select([record.fields[field] for record in given], labels, **choice)
    return Judged(given, question, selection)


def add_suggestions(judged: Judged) -> list[Any]:
    """Suggest another label to the rejected records that have one, and return these records.

    The suggestion's score is its probability and its agent ``lops_adapters``. It replaces the
    record's suggestion for the question. Nothing is sent.

    Raises:
        LopsError: Argilla is not installed.

    """
    library = extras.load("argilla", "A suggestion")
    selection, changed = judged.selection, []
    for position in selection.rejected.tolist():
        label = selection.suggested[position]
        if label == selection.labels[position]:
            continue
        record = judged.records[position]
        score = float(selection.suggested_probability[position])
        record.suggestions.add(library.Suggestion(judged.question, label, score=score, agent=AGENT))
        changed.append(record)
    return changed
