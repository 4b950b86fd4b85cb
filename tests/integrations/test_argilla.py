"""Records of Argilla in, suggestions out; no server."""

from uuid import UUID

import pytest

from lops_adapters import LopsError, select
from lops_adapters.integrations.argilla import add_suggestions, label_of, select_records

from ..noisy import noisy_texts

rg = pytest.importorskip("argilla", reason="Argilla is not installed: make test-integrations")
TEXTS, LABELS, _ = noisy_texts()


def record(text, answers=(), suggested=None, status="submitted", number=0):
    """A record with one answer per person."""
    responses = [
        rg.Response("label", answer, user_id=UUID(int=person), status=status)
        for person, answer in enumerate(answers)
    ]
    suggestions = [rg.Suggestion("label", suggested)] if suggested else []
    return rg.Record(str(number), {"text": text}, responses=responses, suggestions=suggestions)


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ({"answers": "aba", "suggested": "b"}, "a"),
        ({"answers": "ab", "suggested": "b"}, None),
        ({"suggested": "b"}, "b"),
        ({"answers": "aa", "suggested": "b", "status": "discarded"}, "b"),
        ({"answers": "aa", "status": "draft"}, None),
        ({"answers": "a", "status": None}, "a"),
        ({}, None),
    ],
)
def test_the_label_of_a_record(given, label):
    found = record("a text", **given)
    assert label_of(found, "label") == label
    assert label_of(found, "another") is None


def test_rejected_records_get_suggestions():
    records = [
        record(text, [label] * (i % 3), None if i % 3 else label, number=i)
        for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))
    ]
    judged = select_records([*records, record("no label", number=900)], encoder=None)
    expected = select(TEXTS, LABELS, encoder=None)
    assert judged.records[:-1] == records
    assert judged.selection.abstained.tolist() == [120]
    assert judged.selection.kept.tolist() == expected.kept.tolist()
    changed = add_suggestions(judged)
    where = [i for i in expected.rejected if expected.suggested[i] != LABELS[i]]
    assert changed == [records[i] for i in where]
    assert len(changed) > 5
    for i in where:
        found = records[i].suggestions["label"]
        assert (found.value, found.agent) == (expected.suggested[i], "lops_adapters")
        assert found.score == expected.suggested_probability[i]
        assert records[i].to_dict()["suggestions"]["label"]["value"] == found.value  # as it is sent
    kept = records[expected.kept[0]]
    assert not any(found.agent == "lops_adapters" for found in kept.suggestions)


def test_what_is_refused():
    with pytest.raises(LopsError, match=r"records hold a str; wanted argilla\.Record"):
        select_records(["a", "b"])
    with pytest.raises(LopsError, match="none of 1 records has an answer or a suggestion"):
        select_records([record("a text")])
    with pytest.raises(LopsError, match="a record has no field 'body', only text; pass field="):
        select_records([record("a text", "a")], field="body")
