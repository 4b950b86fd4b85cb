"""``lops agree``: the folder, the loop of checking, and errors."""

import csv
import json

import pytest

from lops_adapters.cli.agree import main
from lops_adapters.core import LopsError

from ..texts.test_agree import labelled


@pytest.fixture
def table(here):
    texts, true, votes = labelled(120)
    rows = zip(texts, *votes.values(), true, strict=True)
    with open("labels.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text", *votes, "right"], *rows])
    return true


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
    with (folder / "to_check.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 50
    for row in rows:
        assert row["text"] == f"text {int(row['row']) - 1}"
        row["checked"] = table[int(row["row"]) - 1]
    with open("filled.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
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
    with (folder / "to_check.csv").open(encoding="utf-8", newline="") as file:
        again = {row["row"] for row in csv.DictReader(file)}
    assert not again & {row["row"] for row in rows}


def test_a_column_of_checked_labels(table, capsys):
    assert main([*ARGUMENTS, "--checked-column", "right", "--output", "out"]) == 0
    assert "checked rows" in capsys.readouterr().out


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


def test_one_source_is_refused(table):
    with pytest.raises(LopsError, match="wanted labels of several sources"):
        main(["labels.csv", "--text", "text", "--label", "ann"])
