"""CSV, TSV, JSONL, Parquet and pickled tables, seed files beside them, and AG News."""

import csv
import json
from pathlib import Path

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset as load

from ..noisy import write_table
from .conftest import FRAME

SEEDS = json.dumps({"sports": ["goal", "game"], "business": ["markets"]})


RECORDS = [
    {"id": "x1", "text": 'A "goal",\nthen\ttwo', "label": "sports"},
    {"id": "x2", "text": "", "label": "business"},
    {"id": "x3", "text": "Zürich 株", "label": "sports"},
]


KINDS = ("csv", "csv.gz", "xlsx", "tsv", "jsonl", "parquet")


def written(path, records):
    return write_table(path, [list(record.values()) for record in records], list(records[0]))


@pytest.mark.parametrize("kind", KINDS)
def test_tables_with_the_usual_columns(tmp_path, kind):
    dataset = load(written(tmp_path / f"mine.{kind}", RECORDS))
    assert dataset.corpus.name == "mine"
    assert dataset.corpus.ids == ("x1", "x2", "x3")
    assert dataset.corpus.texts == tuple(record["text"] for record in RECORDS)
    assert dataset.gold.labels == ("sports", "business", "sports")
    assert dataset.corpus.classes == ("business", "sports")


@pytest.mark.parametrize("kind", KINDS)
def test_tables_with_named_columns_and_without_labels(tmp_path, kind):
    records = [{"n": 7, "body": r["text"], "topic": number} for number, r in enumerate(RECORDS)]
    path = written(tmp_path / f"mine.{kind}", records)
    dataset = load(path, text_column="body", label_column="topic")
    assert dataset.gold.labels == ("0", "1", "2")
    assert dataset.corpus.ids == ("0", "1", "2")
    assert load(path, text_column="body", seeds={"sports": ["goal"]}).gold is None
    with pytest.raises(LopsError, match=r"document ids must differ.*: 7;"):
        load(path, text_column="body", id_column="n")


@pytest.mark.parametrize("kind", KINDS)
def test_missing_columns_are_named(tmp_path, kind):
    path = written(tmp_path / f"mine.{kind}", [{"body": "x", "topic": "y"}])
    with pytest.raises(
        LopsError, match=r"no column 'text'.*its columns are 'body', 'topic'.*text_column"
    ):
        load(path)
    with pytest.raises(LopsError, match=r"no column 'class'.*'body', 'topic'.*label_column"):
        load(path, text_column="body", label_column="class")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_missing_cells_are_named(tmp_path, kind):
    with pytest.raises(LopsError, match=r"(line|row) 2: no text in column 'text'"):
        load(written(tmp_path / f"a.{kind}", [{"text": "x"}, {"text": None}]))
    with pytest.raises(LopsError, match=r"(line|row) 2, column 'label': it is missing"):
        load(
            written(
                tmp_path / f"b.{kind}", [{"text": "x", "label": "y"}, {"text": "x", "label": None}]
            )
        )
    with pytest.raises(LopsError, match=r"(line|row) 1: the text is 5 in column 'text'"):
        load(written(tmp_path / f"c.{kind}", [{"text": 5}]))


def test_pickled_table(put):
    dataset = load(put("mine", {"reviews.pkl": FRAME}) / "reviews.pkl")
    assert (dataset.corpus.name, len(dataset)) == ("reviews", 4)
    with pytest.raises(LopsError, match="row 1: no text in column 'text'"):
        load(Path(__file__).parent / "fixtures" / "pandas31_arrow_missing_p5.pkl")


def test_seed_words_beside_a_file(put):
    folder = put("mine", {"a.csv": "text,label\na,sports\n", "seedwords.json": SEEDS})
    assert load(folder / "a.csv").corpus.seeds["business"] == ("markets",)
    assert load(folder).corpus.seeds["business"] == ("markets",)
    (folder / "seeds.json").write_text('{"sports": ["match"]}')
    assert load(folder / "a.csv").corpus.seeds == {"sports": ("match",)}
    assert load(folder / "a.csv", seeds=folder / "seedwords.json").corpus.classes == (
        "business",
        "sports",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not json", "cannot be read as seed words"),
        ('["a"]', "these are no seed words"),
        ('{"a": "goal"}', "these are no seed words"),
        ('{"a": [1]}', "these are no seed words"),
        ('{"a": ["x"], "a": ["y"]}', "twice"),
    ],
)
def test_bad_seed_files(put, content, message):
    folder = put("mine", {"a.csv": "text\nx\n", "seeds.json": content})
    with pytest.raises(LopsError, match=message):
        load(folder)
    with pytest.raises(LopsError, match="no such file of seed words"):
        load(folder / "a.csv", seeds=folder / "none.json")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"text\n", "holds no document"),
        ("a.csv", b"text,label\nx\n", "line 2: found 1 fields; wanted 2"),
        ("a.csv", b'text,label\n"x,y\nz,w,v\n', "not proper CSV"),
        ("a.csv", b"text,label\nx,NULL\n", "line 2, column 'label': it is missing; wanted a name"),
        ("a.csv", b"text,text\nx,y\n", "2 columns are called 'text'"),
        ("a.csv", b"text,label\nx,\n", "line 2, column 'label': it is missing"),
        (
            "a.jsonl",
            b'{"text": "x"}\n{"text": "y", "label": "z"}\n',
            "line 1, column 'label': it is missing",
        ),
        ("a.jsonl", b'{"text": "\\ud800"}\n', "not valid Unicode"),
        ("a.jsonl", b'{"text": "x", "label": true}\n', "found True"),
        ("a.parquet", b"PAR1 not", "cannot be read as Parquet"),
        ("a.docx", b"x", "files ending in .docx are not read"),
    ],
)
def test_bad_files(put, name, content, message):
    with pytest.raises(LopsError, match=message):
        load(put("mine", {name: content}) / name)


def test_blank_lines_and_the_byte_order_mark_do_no_harm(put):
    folder = put(
        "mine",
        {
            "a.csv": "\ufefftext,label\r\n\r\nx,y\r\n\r\n",
            "a.jsonl": '\ufeff{"text": "x"}\n\n{"text": "y"}\n',
        },
    )
    assert load(folder / "a.csv").corpus.texts == ("x",)
    assert load(folder / "a.jsonl").corpus.texts == ("x", "y")


def test_a_long_document_passes_and_the_field_limit_is_restored(put):
    csv.field_size_limit(2**17)
    long = "word " * 100_000
    assert load(put("mine", {"a.csv": f"text\n{long}\n"})).corpus.texts == (long,)
    assert csv.field_size_limit() == 2**17


# AG News

AGNEWS = '"3","Fears","Unions say ""no""."\n"1","Race\\on","#36;10"\n'


@pytest.mark.parametrize("header", ["", "Class Index,Title,Description\n"])
def test_agnews_csv(put, header):
    dataset = load(put("mine", {"news.csv": header + AGNEWS}) / "news.csv")
    assert dataset.corpus.texts == ('Fears Unions say "no".', "Race\\on #36;10")
    assert dataset.gold.labels == ("business", "politics")
    assert dataset.corpus.classes == ("business", "politics", "sports", "technology")
    assert dataset.corpus.seeds["technology"] == (
        "computer",
        "telescope",
        "software",
        "microsoft",
        "space",
    )


def test_bad_agnews_csv(put):
    folder = put("mine", {"news.csv": AGNEWS + '"5","x","y"\n'})
    with pytest.raises(LopsError, match="line 3: found"):
        load(folder / "news.csv")
    with pytest.raises(LopsError, match="no named columns, so label_column"):
        load(folder / "news.csv", label_column="x")


def test_real_agnews(real_data):
    dataset = load(real_data / "agnews_test.csv", quiet=True)
    assert len(dataset) == 7600
    assert {
        label: dataset.gold.labels.count(label) for label in dataset.corpus.classes
    } == dict.fromkeys(["business", "politics", "sports", "technology"], 1900)
    assert dataset.corpus.texts[0].startswith(
        "Fears for T N pension after talks Unions representing"
    )
