"""Exports of annotation tools: columns are found, and corrections stand in the same layout.

argilla.json is by argilla 2.8.0, label_studio_min.json and .csv by the converter of
label-studio-sdk 2.1.2 from label_studio.json, doccano.jsonl by doccano 1.8.4. Prodigy's is as its
docs show.
"""

import json
from pathlib import Path

import pytest

from lops_adapters.cli import apply
from lops_adapters.core import LopsError
from lops_adapters.formats.files import find
from lops_adapters.formats.layouts import by_columns
from lops_adapters.formats.readers import open_table

FIXTURES = Path(__file__).parent / "exports"


def cells(name, *columns):
    table = open_table(find([str(FIXTURES / name)]))
    return [row for _, _, row in table.cells(columns)]


def layout(name):
    start = open_table(find([str(FIXTURES / name)])).start
    return str(start.layout or by_columns(start.columns))


@pytest.fixture
def correct(tmp_path, monkeypatch):
    """Apply corrections to a fixture; returns the texts before and after."""
    monkeypatch.chdir(tmp_path)

    def run(name, corrections, label):
        Path("c.csv").write_text(f"row,label\n{corrections}", encoding="utf-8")
        out = Path(f"out{Path(name).suffix}")
        apply.main(
            ["c.csv", str(FIXTURES / name), "--label", label, "--output", str(out), "--force"]
        )
        return (FIXTURES / name).read_bytes().decode(), out.read_bytes().decode()

    return run


EXPORTS = {
    "label_studio.json": ("text='text' label='topic' source='annotator'", "topic"),
    "label_studio_min.json": ("text='text' label='topic' source='annotator'", "topic"),
    "label_studio.csv": ("text='text' label='topic' source='annotator'", "topic"),
    "argilla.json": ("text='text' label='topic' source='user_id'", "topic"),
    "prodigy.jsonl": ("text='text' label='accept' source='_annotator_id'", "accept"),
    "doccano.jsonl": ("text='text' label='label'", "label"),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_the_columns_of_a_tool(name):
    assert layout(name) == EXPORTS[name][0]


@pytest.mark.parametrize("name", EXPORTS)
def test_no_correction_changes_no_byte(correct, name):
    before, after = correct(name, "", EXPORTS[name][1])
    assert after == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("label_studio.json", '["Money"]', '["Sports"]'),
        ("label_studio_min.json", '"Money"', '"Sports"'),
        ("label_studio.csv", "Money", "Sports"),
        ("argilla.json", '"value": "Money", "user_id": "0', '"value": "Sports", "user_id": "0'),
        ("prodigy.jsonl", '"accept":["Money"]', '"accept":["Sports"]'),
        ("doccano.jsonl", '["Money"]', '["Sports"]'),
    ],
)
def test_one_label_changes(correct, name, old, new):
    """Of the first row that has the label; no other byte."""
    labels = [row[0] for row in cells(name, EXPORTS[name][1])]
    number = 1 + [label in ("Money", ["Money"]) for label in labels].index(True)
    before, after = correct(name, f"{number},Sports\n", EXPORTS[name][1])
    assert after == before.replace(old, new, 1)


def test_argilla_rows():
    """A row per annotator; of a record without responses one, with its suggestion."""
    found = cells("argilla.json", "id", "text", "user_id", "topic", "topic.suggestion", "page")
    one, two = (f"00000000-0000-0000-0000-00000000000{i}" for i in (1, 2))
    assert found == [
        ("a1", "The match ended 3-1", one, "Sports", "Sports", 4),
        ("a1", "The match ended 3-1", two, "Money", "Sports", 4),
        ("a2", "Rates rose – again", one, "Money", None, None),
        ("a3", "A cup of “tea”", None, None, "Money", None),
    ]


def test_argilla_reads_what_was_written(correct, tmp_path):
    """Its own reader sees the corrected labels; a deleted row is a response less."""
    records = pytest.importorskip("argilla.records._io", reason="needs argilla")
    correct("argilla.json", "1,Money\n2,\n", "topic")
    first, second, third = records.JsonIO._records_from_json(tmp_path / "out.json")
    assert [(one.value, str(one.user_id)[-1]) for one in first.responses["topic"]] == [
        ("Money", "1")
    ]
    assert [one.value for one in second.responses["topic"]] == ["Money"]
    assert third.fields["text"] == "A cup of “tea”"


def test_argilla_suggestions(correct):
    _, after = correct("argilla.json", "4,Sports\n", "topic.suggestion")
    assert json.loads(after)[2]["suggestions"]["topic"]["value"] == "Sports"
    with pytest.raises(LopsError, match=r"argilla.json, row 2 has no label in 'topic.suggestion'"):
        correct("argilla.json", "3,Sports\n", "topic.suggestion")


def test_deleted_annotations_of_label_studio(correct):
    """The task stays, without the annotation, to be labelled again."""
    rows = cells("label_studio.json", "task", "topic")
    task = rows[0][0]
    own = [str(i) for i, row in enumerate(rows, 1) if row[0] == task]
    before, after = correct("label_studio.json", "".join(f"{i},\n" for i in own), "topic")
    first, *rest = json.loads(after)
    assert (first["id"], first["annotations"]) == (task, [])
    assert rest == json.loads(before)[1:]
    unlabelled = 1 + [row[1] for row in rows].index(None)
    _, after = correct("label_studio.json", f"{unlabelled},\n", "topic")
    gone = rows[unlabelled - 1][0]
    assert [one["id"] for one in json.loads(after)] == [
        one["id"] for one in json.loads(before) if one["id"] != gone
    ]


def test_prodigy_answers(correct):
    """A rejected or ignored example has no label, whatever its options say."""
    assert cells("prodigy.jsonl", "accept", "answer") == [
        (["Sports"], "accept"),
        (["Money"], "accept"),
        (None, "reject"),
        (None, "ignore"),
    ]
    _, after = correct("prodigy.jsonl", "3,Money\n", "accept")
    third = json.loads(after.splitlines()[2])
    assert (third["accept"], third["answer"]) == (["Money"], "accept")


@pytest.mark.parametrize(
    "columns",
    [
        ["a", "b"],
        ["_task_hash", "answer", "image", "accept"],
        ["title", "body", "id", "topic", "annotator", "annotation_id"],
        ["text", "id", "topic", "tone", "annotator", "annotation_id"],
    ],
)
def test_columns_that_tell_nothing(columns):
    assert by_columns(columns) is None


STUDIO = {
    "id": 7,
    "data": {"text": "a"},
    "annotations": [
        {"completed_by": 1, "result": [{"from_name": "topic", "value": {"choices": ["x"]}}]}
    ],
}
ARGILLA = {
    "id": "7",
    "fields": {"text": "a"},
    "metadata": {"n": 1},
    "suggestions": {"topic": {"value": "x"}},
    "responses": {"topic": [{"value": "x", "user_id": "u"}]},
}


def places(value, steps=()):
    """The steps to every value inside a record."""
    if isinstance(value, dict | list):
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*steps, key)
            yield from places(inside, (*steps, key))


@pytest.mark.parametrize("record", [STUDIO, ARGILLA])
@pytest.mark.parametrize("new", [None, 5, 0.5, "x", True, [], [1], [[None]], {}, {"a": 1}])
def test_a_value_of_another_type_is_named_with_its_place(tmp_path, record, new):
    """Or it is read, as a label or a text is; nothing ends in another error."""
    path = tmp_path / "a.json"
    for steps in places(record):
        changed = json.loads(json.dumps(record))
        inside = changed
        for step in steps[:-1]:
            inside = inside[step]
        inside[steps[-1]] = new
        path.write_text(json.dumps([record, changed]))
        said = ""
        try:
            table = open_table([path])
            rows = list(table.cells(table.columns))
        except LopsError as error:
            said = str(error)
        assert f"a.json, row 2: {steps[0]}" in said if said else len(rows) == 2
