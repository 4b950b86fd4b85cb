"""Exports of Argilla (JSON): a row per annotator of a record."""

from collections.abc import Sequence
from typing import Any

from lops_adapters.formats.layouts import EVERY, SCALAR, Layout, of_parts
from lops_adapters.formats.nested import Annotation, Nested

ANNOTATOR, NUMBER = "user_id", "id"
RECORD = {
    "fields": {},
    "metadata": {},
    "suggestions": {EVERY: {}},
    "responses": {EVERY: [{ANNOTATOR: SCALAR}]},
}


class Argilla(Nested):
    """Records: their fields and metadata, a column per question, its suggestion, the annotator."""

    name = "argilla"
    shape = RECORD

    def annotations(self, record: dict[str, Any]) -> list[Annotation]:
        fields = {**(record.get("metadata") or {}), **(record.get("fields") or {})}
        about: dict[str, Any] = {NUMBER: record.get("id")}
        places: dict[str, Any] = {}
        for name, one in (record.get("suggestions") or {}).items():
            about[f"{name}.suggestion"] = (one or {}).get("value")
            places[f"{name}.suggestion"] = ("suggestions", name, "value")
        rows: dict[Any, Annotation] = {}
        for name, responses in (record.get("responses") or {}).items():
            for index, one in enumerate(responses or ()):
                if not one:
                    continue
                who = one.get(ANNOTATOR)
                row = rows.setdefault(who, Annotation({ANNOTATOR: who}, dict(places), []))
                row.cells[name] = one.get("value")
                row.places[name] = ("responses", name, index, "value")
                row.parts.append(("responses", name, index))
        annotations = [*rows.values()] or [Annotation({}, places, [])]
        return [
            Annotation({**fields, **row.cells, **about, **fields}, row.places, row.parts)
            for row in annotations
        ]

    def layout(self, records: Sequence[dict[str, Any]]) -> Layout | None:
        fields = dict.fromkeys(name for one in records for name in one.get("fields") or ())
        questions = dict.fromkeys(name for one in records for name in one.get("responses") or ())
        suggested = [
            f"{name}.suggestion" for one in records for name in one.get("suggestions") or ()
        ]
        who = ANNOTATOR if questions else None
        return of_parts([*fields], [*questions] or [*dict.fromkeys(suggested)], who, "Argilla")
