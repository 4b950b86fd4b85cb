"""Layouts of tools: JSON arrays, Label Studio, fastText, class folders, archives, encodings."""

import csv
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from lops_adapters.cli import apply, select
from lops_adapters.core import LopsError

from ..noisy import noisy_texts, read_table, write_table

pytestmark = pytest.mark.usefixtures("here")
TEXTS, LABELS, _ = noisy_texts(n=60, k=2, noise=0.1)
ROWS = [[text, label] for text, label in zip(TEXTS, LABELS, strict=True)]
OPTIONS = ["--encoder", "none", "--quiet", "--force", "--output", "out"]


def run(*arguments):
    select.main([*map(str, arguments), "--text", "text", *OPTIONS])


def rows(suffix=".csv"):
    """Text and label of the kept and rejected rows."""
    found = [
        row for part in ("kept", "rejected") for row in read_table(Path("out", f"{part}{suffix}"))
    ]
    return sorted([row["text"], row["label"]] for row in found)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("kind", ["json", "jsonl", "csv"])
def test_an_array_of_objects(indent, kind):
    records = [{"text": text, "n": 1.50, "label": label} for text, label in ROWS]
    Path("t.json").write_text(json.dumps(records, indent=indent), encoding="utf-8")
    run("t.json", "--label", "label", "--format", kind)
    assert rows(f".{kind}") == sorted(ROWS)


def test_an_array_on_standard_input(monkeypatch):
    content = json.dumps([{"text": text, "label": label} for text, label in ROWS]).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    run("-", "--label", "label")
    assert rows(".json") == sorted(ROWS)


ARRAY = '\ufeff [ {"label": "a", "n": 1.50},\r\n\r\n  {"n": 2,"label":"b"} , {"x": "é"}\r\n ]\r\n'


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ("", ARRAY),
        ("2,c\n", ARRAY.replace('"b"', '"c"')),
        ("1,\n", ARRAY.replace('{"label": "a", "n": 1.50},\r\n\r\n  ', "")),
        ("3,\n", ARRAY.replace(' , {"x": "é"}', "")),
        ("3,c\n", ARRAY.replace('"é"}', '"é", "label": "c"}')),
    ],
)
def test_other_bytes_of_an_array_stay(changes, expected):
    Path("t.json").write_bytes(ARRAY.encode())
    Path("c.csv").write_text("row,label\n" + changes)
    apply.main(["c.csv", "t.json", "--output", "out.json"])
    assert Path("out.json").read_bytes().decode() == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "t.json is empty; wanted an array of objects"),
        ('{"a":\n 1}', "t.json is one object, whose keys are 'a'; wanted an array of objects,"),
        ('[{"text": "1", "label": "a"}, 2]', "t.json, row 2: found 2; wanted an array of objects"),
        ('[{"text": "1", "label": "a"} {"a": 2}]', "t.json, after row 1: found '{\"a\": 2}]'"),
        ('[{"text": "1", "label": "a"}, {"a"', "t.json, row 2: not JSON"),
    ],
)
def test_no_array_of_objects(content, message):
    Path("t.json").write_text(content)
    with pytest.raises(LopsError, match=message):
        run("t.json", "--label", "label")


def tasks():
    """Two annotators of every task: the second one errs in each fifth."""
    other = {"class 0": "class 1", "class 1": "class 0"}
    for number, (text, label) in enumerate(ROWS, 1):
        pairs = [(1, label), (2, other[label] if number % 5 == 0 else label)]
        annotations = [
            {
                "id": number * 10 + who,
                "completed_by": {"id": who, "email": f"ann{who}@example.org"},
                "was_cancelled": False,
                "result": [
                    {
                        "value": {"choices": [choice]},
                        "from_name": "label",
                        "to_name": "text",
                        "type": "choices",
                    }
                ],
            }
            for who, choice in pairs
        ]
        cancelled = {"completed_by": {"id": 1}, "was_cancelled": True, "result": []}
        yield {
            "id": number,
            "annotations": [*annotations, cancelled],
            "predictions": [],
            "data": {"text": text, "source": "web"},
        }


def test_label_studio_with_several_annotators(capsys):
    Path("export.json").write_text(json.dumps(list(tasks())), encoding="utf-8")
    run("export.json", "--label", "label", "--source", "annotator")
    said = capsys.readouterr().out
    assert "120 rows are labels of 60 texts by 2 sources" in said
    found = read_table(Path("out/kept.jsonl"))
    assert list(found[0])[:5] == [
        *("text", "source", "task", "ann1@example.org", "ann2@example.org")
    ]
    ((_, *header), *lines) = csv.reader(
        Path("out/to_check.csv").read_text("utf-8-sig").splitlines(keepends=True)
    )
    filled = [[line[0], *line[1:3], "class 0", *line[4:]] for line in lines[:3]]
    with open("filled.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["row", *header], *filled])
    Path("export.json").write_text(json.dumps(list(tasks())[::-1]), encoding="utf-8")
    apply.main(["filled.csv", "export.json", "--output", "new.json", "--quiet"])
    checked = {line[4] for line in filled}
    for task, before in zip(
        json.loads(Path("new.json").read_text()), [*tasks()][::-1], strict=True
    ):
        for one in before["annotations"][:2] if task["data"]["text"] in checked else ():
            one["result"][0]["value"]["choices"] = ["class 0"]
        assert task == before


def test_an_export_needs_no_columns(capsys):
    """Annotators are sources only where texts have labels by several."""
    Path("export.json").write_text(json.dumps(list(tasks())), encoding="utf-8")
    select.main(["export.json", *OPTIONS])
    said = capsys.readouterr().out
    assert (
        "Read as an export of Label Studio: --text text --label label --source annotator." in said
    )
    assert "120 rows are labels of 60 texts by 2 sources" in said
    one = [{**task, "annotations": task["annotations"][:1]} for task in tasks()]
    Path("export.json").write_text(json.dumps(one), encoding="utf-8")
    other = {"class 0": "class 1", "class 1": "class 0"}[LABELS[6]]
    Path("c.csv").write_text(f"row,label\n7,{other}\n")
    select.main(["export.json", *OPTIONS, "--checked", "c.csv", "--corrected", "again.json"])
    assert (
        "Read as an export of Label Studio: --text text --label label." in capsys.readouterr().out
    )
    corrected = json.loads(Path("again.json").read_text())
    assert [task["data"]["text"] for task in corrected] == TEXTS
    labels = {row["lops_row"]: row["label"] for row in read_table(Path("out/relabelled.jsonl"))}
    labels[7] = other
    for number, (task, before) in enumerate(zip(corrected, one, strict=True), 1):
        choices = task["annotations"][0]["result"][0]["value"]["choices"]
        before["annotations"][0]["result"][0]["value"]["choices"] = choices
        assert task == before
        assert choices == [labels.get(number, LABELS[number - 1])]
    config = json.loads(Path("out/config.json").read_text())["settings"]
    assert (config["text"], config["label"], config["source"]) == ("text", "label", None)


def test_label_studio_with_one_annotator():
    """A task that nobody has labelled is a row without a label."""
    exported = [{**task, "annotations": task["annotations"][:1]} for task in tasks()]
    exported[0]["annotations"] = []
    Path("export.json").write_text(json.dumps(exported), encoding="utf-8")
    run("export.json", "--label", "label")
    assert rows(".jsonl") == sorted(ROWS[1:])
    assert [row["text"] for row in read_table(Path("out/abstained.jsonl"))] == [TEXTS[0]]
    exported[1]["annotations"][0]["result"][0]["value"]["choices"] = ["class 0", "class 1"]
    Path("export.json").write_text(json.dumps(exported), encoding="utf-8")
    with pytest.raises(LopsError, match=r"export.json, row 2: the label .*several classes"):
        run("export.json", "--label", "label")


def test_lines_of_fasttext():
    lines = [f"__label__{label[-1]} {text}\n" for text, label in ROWS]
    Path("train.txt").write_text("".join(lines), encoding="utf-8")
    run("train.txt", "--label", "label")
    assert rows() == sorted([text, label[-1]] for text, label in ROWS)
    Path("train.txt").write_text("".join([*lines, "__label__0 __label__1 both\n"]))
    with pytest.raises(LopsError, match=r"train.txt, line 61: the label is .*several classes"):
        run("train.txt", "--label", "label")


def test_a_folder_of_class_folders():
    """As 20 Newsgroups: a text per file, with or without .txt."""
    for number, (text, label) in enumerate(ROWS):
        folder = Path("news", label)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (f"{number:03d}" if number % 2 else f"{number:03d}.txt")).write_text(text)
    (Path("news") / ".hidden").mkdir()
    run("news", "--label", "label", "--id", "id")
    assert rows() == sorted(ROWS)
    first = read_table(Path("out/kept.csv"))[0]
    assert (Path("news") / first["id"]).read_text() == first["text"]
    Path("c.csv").write_text("id,label\nclass 0/000.txt,class 1\n")
    apply.main(["c.csv", "news", "--id", "id", "--output", "new.csv"])
    assert [row["label"] for row in read_table(Path("new.csv"))].count("class 0") == (
        LABELS.count("class 0") - 1
    )
    (Path("one") / "a").mkdir(parents=True)
    (Path("one") / "a" / "1.txt").write_text("x")
    with pytest.raises(LopsError, match=r"or a folder of .txt files per class"):
        run("one", "--label", "label")


def test_an_archive_of_one_table():
    write_table(Path("t.csv"), ROWS, ["text", "label"])
    with zipfile.ZipFile("tickets.zip", "w") as archive:
        archive.write("t.csv", "data/t.csv")
        archive.writestr("__MACOSX/data/._t.csv", "x")
        archive.writestr("readme.txt", "notes")
    run("tickets.zip", "--label", "label")
    assert rows() == sorted(ROWS)
    Path("c.csv").write_text("row,label\n")
    apply.main(["c.csv", "tickets.zip", "--output", "new.csv"])
    assert Path("new.csv").read_bytes() == Path("t.csv").read_bytes()
    with zipfile.ZipFile("two.zip", "w") as archive:
        archive.write("t.csv", "a.csv")
        archive.write("t.csv", "b.csv")
    with pytest.raises(LopsError, match=r"two.zip holds a.csv, b.csv; wanted one table"):
        run("two.zip", "--label", "label")
    Path("bad.csv.zip").write_bytes(b"PK nothing")
    with pytest.raises(LopsError, match=r"bad.csv.zip cannot be unpacked .*; wanted zip"):
        run("bad.csv.zip", "--label", "label")


WORDS = {
    "cp1252": "Größe für Käse und Äpfel, schön",
    "gb18030": "这是一个关于体育比赛的新闻",
    "cp932": "これはスポーツのニュースです",
    "cp1251": "это новость о спорте и погоде",
}


@pytest.mark.parametrize("encoding", WORDS)
def test_the_likely_encoding_is_named(encoding):
    lines = [f"{WORDS[encoding]} {i},{'ab'[i % 2]}\n" for i in range(20)]
    Path("t.csv").write_bytes(("text,label\n" + "".join(lines)).encode(encoding))
    with pytest.raises(LopsError, match=f"line 2: byte .* probably --encoding {encoding}$"):
        run("t.csv", "--label", "label")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(encoding):
    Path("t.csv").write_bytes("text,label\na,b\n".encode(encoding))
    with pytest.raises(LopsError, match=f"begins with zero bytes.* give --encoding {encoding}$"):
        run("t.csv", "--label", "label")


@pytest.mark.parametrize(
    "content",
    [
        "The company has no plans to move all production@neutral\nAnother line@positive\n",
        "a,ham\nb,spam\nc,ham\nd,ham\n",
    ],
)
def test_a_file_without_a_header(content):
    Path("t.csv").write_text(content)
    with pytest.raises(LopsError, match=r"The first line looks like a row, not like names of col"):
        run("t.csv", "--label", "label")
