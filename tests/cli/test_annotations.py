"""``lops select`` with one row per annotation: votes of one text."""

import json
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.cli import select as command
from lops_adapters.core import LopsError
from lops_adapters.labels.naming import key_of

from ..noisy import noisy_texts, read_table, write_table

pytestmark = pytest.mark.usefixtures("here")
TEXTS, _, GOLD = noisy_texts(n=120, k=3, noise=0.0)
CLASSES = sorted(set(GOLD))
WHO = {"ann": 0.95, "bob": 0.9, "eve": 0.4}
OPTIONS = ["--text", "text", "--encoder", "none", "--quiet", "--force"]
HEADER = ["id", "text", "label", "who", "gold"]


def cast(gold, right, rng):
    return gold if rng.random() < right else CLASSES[CLASSES.index(gold) - 1]


def annotations():
    """Three labels of every text, text by text; the last text lacks eve's."""
    rng = np.random.default_rng(0)
    return [
        [f"t{i}", text, cast(gold, right, rng), who, gold]
        for i, (text, gold) in enumerate(zip(TEXTS, GOLD, strict=True))
        for who, right in WHO.items()
        if (i, who) != (119, "eve")
    ]


def run(*arguments, folder="out"):
    command.main([*map(str, arguments), *OPTIONS, "--output", folder])
    return Path(folder)


def parts(folder, suffix=".csv"):
    return [row for part in ("kept", "rejected") for row in read_table(folder / f"{part}{suffix}")]


@pytest.mark.parametrize(
    ("suffix", "more"), [(".csv", []), (".jsonl", ["--id", "id"]), (".parquet", [])]
)
def test_one_row_per_text(suffix, more, capsys):
    """As from a table with a column per source."""
    rows = annotations()
    path = write_table(Path(f"t{suffix}"), rows, HEADER)
    folder = run(path, "--label", "label", "--source", "who", "--gold", "gold", *more)
    said = capsys.readouterr().out
    assert "359 rows are labels of 120 texts by 3 sources; one row is written per text." in said
    found = parts(folder, suffix)
    assert sorted(row["text"] for row in found) == sorted(TEXTS)
    assert list(found[0])[:6] == ["id", "text", "gold", "ann", "bob", "eve"]
    votes = {(row[1], row[3]): row[2] for row in rows}
    assert all((row[who] or None) == votes.get((row["text"], who)) for row in found for who in WHO)
    wide = [
        [text, *(votes.get((text, who), "") for who in WHO), gold]
        for text, gold in zip(TEXTS, GOLD, strict=True)
    ]
    other = write_table(Path("wide.csv"), wide, ["text", *WHO, "gold"])
    expected = parts(run(other, "--labels", "ann,bob,eve", "--gold", "gold", folder="wide"))
    for one, two in zip(found, expected, strict=True):
        assert (one["text"], one["lops_label"]) == (two["text"], two["lops_label"])
    assert (folder / "sources.csv").read_text() == Path("wide/sources.csv").read_text()
    assert sum(row["lops_label"] == row["gold"] for row in found) > 110


def test_what_is_written_names_texts():
    """The lists of rows to check, the page and the relabelled rows."""
    path = write_table(Path("t.csv"), annotations(), HEADER)
    folder = run(path, "--label", "label", "--source", "who")
    to_check = read_table(folder / "to_check.csv")
    assert {(row["column"], row["counts"]) for row in to_check} == {("label", "texts in text")}
    assert all(row["key"] == key_of("texts", row["text"]) for row in to_check)
    stored = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert {row["key"] for row in stored["suspects"]} == {key_of("texts", text) for text in TEXTS}
    assert stored["table"]["command"].startswith("lops apply corrections.csv t.csv")
    header = (folder / "relabelled.csv").read_text(encoding="utf-8").strip()
    assert header.endswith(",lops_row,lops_counts,lops_sha256")


def test_lists_of_responses():
    """A row per text, with as many labels as it has."""
    texts = {}
    for _, text, label, who, _ in annotations():
        texts.setdefault(text, []).append((label, who))
    with open("t.jsonl", "w", encoding="utf-8") as file:
        for text, pairs in texts.items():
            labels, who = zip(*pairs, strict=True)
            file.write(json.dumps({"text": text, "labels": labels, "users": who}) + "\n")
    found = parts(run("t.jsonl", "--label", "labels", "--source", "users"), ".jsonl")
    assert sorted(row["text"] for row in found) == sorted(TEXTS)
    assert {row["text"]: row["eve"] for row in found}[TEXTS[119]] is None
    with open("t.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps({"text": "x", "labels": ["class 0"], "users": ["ann", "bob"]}) + "\n")
    with pytest.raises(LopsError, match=r"t.jsonl, line 121: found 1 labels and 2 sources; wanted"):
        run("t.jsonl", "--label", "labels", "--source", "users")


def test_a_source_that_labels_a_text_several_times():
    """Its most frequent label; a tie is no vote. Other cells are of the first row."""
    rows = annotations()
    more = [[*rows[0][:2], label, "ann", ""] for label in ("class 1", "class 1")]
    more += [[*rows[3][:2], "class 1" if rows[3][2] != "class 1" else "class 2", "ann", "x"]]
    path = write_table(Path("t.csv"), [*rows, *more], HEADER)
    found = {row["text"]: row for row in parts(run(path, "--label", "label", "--source", "who"))}
    assert found[TEXTS[0]]["ann"] == "class 1"
    assert found[TEXTS[1]]["ann"] == ""
    assert found[TEXTS[1]]["gold"] == GOLD[1]


def test_what_cannot_be_joined():
    rows = [row for row in annotations() if row[3] == "ann"]
    path = write_table(Path("t.csv"), [*rows, rows[0]], HEADER)
    with pytest.raises(LopsError, match="all rows are from the source 'ann'; leave --source out"):
        run(path, "--label", "label", "--source", "who")
    path = write_table(Path("t.csv"), annotations(), HEADER)
    with pytest.raises(LopsError, match="--engine ray reads one row per text"):
        run(path, "--label", "label", "--source", "who", "--engine", "ray")


def test_ids_of_several_texts_do_not_join_them(capsys):
    """Threads, for instance: the texts count, and a note says so."""
    rows = [["thread", *row[1:]] for row in annotations()]
    path = write_table(Path("t.csv"), rows, HEADER)
    assert len(parts(run(path, "--label", "label", "--source", "who", "--id", "id"))) == 120
    said = capsys.readouterr().out
    assert "id joins no rows, since most ids that repeat have several texts; rows with equa" in said
    assert "Such ids: 'thread' (t.csv, line 5)." in said


@pytest.mark.parametrize("label", [{"a": 1}, [["x"], ["y"]]])
def test_a_label_that_is_an_object_is_named(label):
    """Two sources, one of which gives an object; a list of labels has a source for each."""
    names = ["ann", "bob"] if isinstance(label, list) else "bob"
    rows = [
        {"text": "one", "label": "x", "who": "ann"},
        {"text": "one", "label": label, "who": names},
    ]
    Path("a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(LopsError, match=r"line 2: the label is .*; wanted one class name per row"):
        run("a.jsonl", "--label", "label", "--source", "who")
