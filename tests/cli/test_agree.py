"""``lops agree``: the folder, the loop of checking, and errors."""

import json
import re
from pathlib import Path

import pytest

from lops_adapters.cli.agree import main
from lops_adapters.core import LopsError

from ..noisy import read_table, write_table
from ..texts.test_agree import labelled


@pytest.fixture
def table(here):
    texts, true, votes = labelled(120)
    rows = zip(texts, *votes.values(), true, strict=True)
    write_table(here / "labels.csv", rows, ["text", *votes, "right"])
    return true


WHO = ("ann", "ben", "cem")
ARGUMENTS = ["labels.csv", "--text", "text", "--labels", "ann,ben,model"]


def test_a_loop_of_checking(table, tmp_path, capsys):
    assert main([*ARGUMENTS, "--people", "ann"]) == 0
    said = capsys.readouterr().out
    assert "Kappa is the agreement beyond chance" in said
    assert "No row is checked" in said
    folder = tmp_path / "labels-agreement"
    assert {path.name for path in folder.iterdir()} == {
        "config.json", "agreement.json", "report.html", "to_check.csv", "send_back.csv"
    }  # fmt: skip
    rows = read_table(folder / "to_check.csv")
    assert len(rows) == 50
    for row in rows:
        assert row["text"] == f"text {int(row['row']) - 1}"
        row["checked"] = table[int(row["row"]) - 1]
    write_table(tmp_path / "filled.csv", [list(row.values()) for row in rows], list(rows[0]))
    arguments = [*ARGUMENTS, "--people", "a*", "--checked", "filled.csv", "--force"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    stored = json.loads((folder / "agreement.json").read_text(encoding="utf-8"))
    assert stored["checked"] == 50
    assert [one["source"] for one in stored["comparisons"]] == ["ben", "model"]
    assert "points" in said
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "As good as a person?" in page
    assert "Kappa is the agreement beyond chance" in page
    again = {row["row"] for row in read_table(folder / "to_check.csv")}
    assert not again & {row["row"] for row in rows}


def test_a_column_of_checked_labels(table, capsys):
    assert main([*ARGUMENTS, "--checked-column", "right", "--output", "out"]) == 0
    assert "checked rows" in capsys.readouterr().out


def annotations(texts, order=1):
    """A row per annotation: texts of each item, in turn by three people; order -1: reversed."""
    rows = [
        [f"q{item}", text, who, label]
        for item, of_item in enumerate(texts)
        for text, who, label in zip(of_item, WHO, ("aab", "bba")[item % 2], strict=True)
    ]
    write_table(Path("notes.csv"), rows[::order], ["item", "body", "who", "topic"])
    return ["notes.csv", "--text", "body", "--label", "topic", "--source", "who", "--force"]


def test_a_model_in_the_place_of_a_person(table, tmp_path, capsys):
    arguments = ["--labels", "ann,ben,guess,model", "--people", "ann,ben,guess"]
    assert main([*ARGUMENTS[:3], *arguments, "--alternative", "15"]) == 0
    said = capsys.readouterr().out
    folder = tmp_path / "labels-agreement"
    (found,) = json.loads((folder / "agreement.json").read_text(encoding="utf-8"))["alternatives"]
    assert found["people"] == ["ann", "ben", "guess"]
    assert "of 3 people, who cost 15 points more" in said
    assert "alternative annotator test" in (folder / "report.html").read_text(encoding="utf-8")


def test_rows_with_the_same_id_are_one_text(here, capsys):
    texts = [[f"text {i}", f"text {i} ", ""] for i in range(9)]
    arguments = annotations([*texts, ["", "one", "another"]])
    main([*arguments, "--id", "item"])
    said = capsys.readouterr().out
    assert "ann              ben    10  100.0 %" in said
    assert "30 rows are labels of 10 texts by 3 sources; one row is written per text." in said
    assert "Ids with several texts, of which the first is read: 'q9' (notes.csv, line 31)." in said
    rows = read_table(here / "notes-agreement/to_check.csv")
    assert {row["text"] for row in rows} == {*(f"text {i}" for i in range(9)), "one"}
    assert {row["counts"] for row in rows} == {"ids in item"}


def test_sources_without_a_shared_row_have_no_kappa(here, capsys):
    arguments = annotations([[f"text {i}", f"{i} more", f"other {i}"] for i in range(9)])
    main(arguments)
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()[1:7]]
    assert [line[-5:] for line in lines] == [["0", "-", "no", "shared", "row"]] * 6
    assert "Here: no shared row." in said
    page = (here / "notes-agreement/report.html").read_text(encoding="utf-8")
    assert "3 sources of 27 texts: no text has labels of two" in page


def test_a_loop_of_checking_a_row_per_annotation(here, capsys):
    """The file names texts: the rows may stand in another order."""
    texts = [[f"text {i}"] * 3 for i in range(20)]
    main(annotations(texts))
    rows = read_table(here / "notes-agreement/to_check.csv")
    header = list(rows[0])
    assert header[-4:] == ["key", "column", "sha256", "counts"]
    sent_back = (here / "notes-agreement/send_back.csv").read_text(encoding="utf-8")
    assert sent_back.splitlines()[0].endswith(",key,column,sha256,counts")
    for row in rows:
        row["checked"] = "ab"[int(row["text"].split()[1]) % 4 == 1]
    write_table(here / "filled.csv", [list(row.values()) for row in rows], header)
    main([*annotations(texts), "--checked", "filled.csv"])
    rate = re.compile(r"\nann +checked rows +20 +75\.0 %")
    assert rate.search(capsys.readouterr().out)
    main([*annotations(texts, order=-1), "--checked", "filled.csv"])
    assert rate.search(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--people", "eve"], "--people is 'eve', and the sources are ann, ben, model"),
        (["--margin", "0"], "--margin is 0; wanted points above 0"),
    ],
)
def test_errors(table, arguments, message):
    with pytest.raises(LopsError, match=message):
        main([*ARGUMENTS, *arguments])
