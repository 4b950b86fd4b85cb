"""``lops select --checked``: rows to check out, checked rows in."""

import csv
import hashlib
import json
import re

import pytest

from lops_adapters.cli import select as command
from lops_adapters.core import LopsError

from ..noisy import HEADER, noisy_rows, read_table, write_table

ROWS = noisy_rows(n=240, k=3, noise=0.3)
pytestmark = pytest.mark.usefixtures("here")
OPTIONS = ["--text", "text", "--label", "weak", "--quiet", "--encoder", "none", "--force"]


def run(*arguments):
    return command.main([*map(str, arguments), *OPTIONS])


def filled(path, count=None):
    """Fill in the column of ``to_check.csv``; return the rows as numbers from 1."""
    rows = read_table(path)
    for row in rows[:count]:
        row["checked"] = ROWS[int(row["row"]) - 1][3]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return [int(row["row"]) for row in rows[:count]]


def written(path, rows, header="row,label"):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("suffix", "more"),
    [(".csv", []), (".jsonl", ["--probe-rows", "120"]), (".parquet", ["--probe-rows", "120"])],
)
def test_the_loop(here, suffix, more, capsys):
    table = write_table(here / f"news{suffix}", ROWS)
    run(table, "--output", "out", "--gold", "true", *more)
    assert "to_check (50), " in capsys.readouterr().out
    first = filled(here / "out" / "to_check.csv")
    assert len(first) == 50
    (here / "out" / "to_check.csv").rename(here / "first.csv")
    run(table, "--output", "out", "--gold", "true", "--checked", "first.csv", *more)
    said = capsys.readouterr().out
    assert re.search(
        r"\nall .* [\d.]+ % \([\d.]+-[\d.]+\) by 50 checked rows; (this range|checking 150 more) ",
        said,
    )
    kept = {row["nr"]: row for row in read_table(here / "out" / f"kept{suffix}")}
    for number in first:
        nr, _, _, true = ROWS[number - 1]
        assert kept[nr]["weak"] == true
        assert float(kept[nr]["lops_confidence"]) == 1
    later = [int(row["row"]) for row in read_table(here / "out" / "to_check.csv")]
    assert not set(first) & set(later)


def test_rows_left_empty_are_not_checked_and_files_add_up(here, capsys):
    table = write_table(here / "news.csv", ROWS)
    run(table, "--output", "out")
    filled(here / "out" / "to_check.csv", 10)
    (here / "out" / "to_check.csv").rename(here / "some.csv")
    more = written(here / "more.csv", ["240,class 1"])
    run(table, "--output", "out", "--checked", "some.csv", "--checked", more)
    assert "by 11 checked rows" in capsys.readouterr().out
    stored = json.loads((here / "out" / "config.json").read_text(encoding="utf-8"))
    assert stored["settings"]["checked"] == {
        str(name): hashlib.sha256((here / name).read_bytes()).hexdigest()
        for name in ("some.csv", more)
    }


def test_none_of_the_classes(here, capsys):
    table = write_table(here / "news.csv", ROWS)
    given = written(here / "given.csv", ["3,", "4,-", f"5,{ROWS[4][2]}"])
    run(table, "--output", "out", "--checked", given, "--probe-rows", "100")
    assert "by 3 checked rows" in capsys.readouterr().out
    rejected = {row["nr"]: row for row in read_table(here / "out" / "rejected.csv")}
    for number in (3, 4):
        row = rejected[ROWS[number - 1][0]]
        assert (row["lops_suggested"], float(row["lops_confidence"])) == ("", 0)
    assert ROWS[4][0] not in rejected


@pytest.mark.parametrize(("suffix", "more"), [(".csv", ["--probe-rows", "100"]), (".parquet", [])])
def test_a_column_of_the_table(here, suffix, more, capsys):
    said = {3: "class 0", 4: "-", 5: " Class 1"}
    rows = [[*row, said.get(number, "")] for number, row in enumerate(ROWS, 1)]
    table = write_table(here / f"news{suffix}", rows, [*HEADER, "seen"])
    given = written(here / "a.csv", ["7,class 2"])
    run(table, "--output", "out", "--checked-column", "seen", "--checked", given, *more)
    assert "by 4 checked rows" in capsys.readouterr().out
    kept = {row["nr"]: row["weak"] for row in read_table(here / "out" / f"kept{suffix}")}
    assert [kept.get(ROWS[number - 1][0]) for number in (3, 4, 5, 7)] == [
        "class 0",
        None,
        "class 1",
        "class 2",
    ]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("sene", "has no column 'sene'"),
        ("weak", "--checked-column is 'weak', a column with another purpose"),
        ("seen", "line 5: checked as 'class 1' in column 'seen', and as 'class 0' in --checked"),
    ],
)
def test_a_column_that_is_refused(here, column, words):
    rows = [[*row, "class 1" if i == 2 else ""] for i, row in enumerate(ROWS)]
    table = write_table(here / "news.csv", rows, [*HEADER, "seen"])
    given = written(here / "a.csv", ["3,class 0"])
    with pytest.raises(LopsError, match=re.escape(words)):
        run(table, "--output", "out", "--checked-column", column, "--checked", given)


@pytest.mark.parametrize(
    ("rows", "header", "words"),
    [
        (["241,class 0"], "row,label", "1 checked rows cannot be used: row 241 and such have no"),
        (["9" * 5000 + ",class 0"], "row,label", "cannot be used: row "),
        (["3,class 0,true"], "row,label,column", "holds labels of the column 'true', and --label"),
        (["3,class 0," + "a" * 64], "row,label,sha256", "was made for another table, or the table"),
        (
            ["1,a,", "2,b,"],
            "row,label,checked",
            "given.csv: no row is checked yet; fill in the col",
        ),
    ],
)
def test_what_is_refused(here, rows, header, words):
    table = write_table(here / "news.csv", ROWS)
    given = written(here / "given.csv", rows, header)
    with pytest.raises(LopsError, match=re.escape(words)):
        run(table, "--output", "out", "--checked", given)
    assert not (here / "out").exists()


def test_a_class_that_no_row_has(here, capsys):
    """A person names it; the row is kept with it, as with any other right label."""
    table = write_table(here / "news.csv", ROWS)
    given = written(here / "given.csv", ["3,clas 0", "4,chess", "5,-"])
    corrected = here / "corrected.csv"
    run(table, "--output", "out", "--checked", given, "--corrected", corrected)
    said = "Problem: Checked as a class that no row has as its label: 'chess' (1 row)"
    assert f"{said}, 'clas 0' (1 row, nearly 'class 0').\n" in capsys.readouterr().out
    kept = {row["text"]: row for row in read_table(here / "out" / "kept.csv")}
    assert kept[ROWS[2][1]]["weak"] == kept[ROWS[2][1]]["lops_suggested"] == "clas 0"
    assert kept[ROWS[3][1]]["weak"] == "chess"
    assert ROWS[4][1] not in kept
    assert [row["weak"] for row in read_table(corrected)][2:4] == ["clas 0", "chess"]
    train = {row["text"]: row for row in read_table(here / "out" / "train.csv")}
    assert (train[ROWS[3][1]]["label"], train[ROWS[3][1]]["weight"]) == ("chess", "1")
    classes = json.loads((here / "out" / "summary.json").read_text())["classes"]
    assert [one["count"] for one in classes if one["label"] in ("chess", "clas 0")] == [0, 0]


def test_a_class_that_no_row_has_is_a_number_where_labels_are(here):
    rows = [[*row[:2], int(row[2][-1]), row[3]] for row in ROWS]
    table = write_table(here / "news.jsonl", rows)
    given = written(here / "given.csv", ["3,7"])
    run(table, "--output", "out", "--checked", given)
    kept = {row["text"]: row for row in read_table(here / "out" / "kept.jsonl")}
    assert kept[ROWS[2][1]]["weak"] == 7
    written(here / "given.csv", ["3,chess"])
    with pytest.raises(LopsError, match="checked as 'chess', and the labels are of type int"):
        run(table, "--output", "other", "--checked", given)


def test_files_that_would_be_replaced(here):
    table = write_table(here / "news.csv", ROWS)
    run(table, "--output", "out")
    with pytest.raises(LopsError, match=r"to_check.csv is in the output folder out; move it, or"):
        run(table, "--output", "out", "--checked", "out/to_check.csv")


def test_the_second_page_downloads_under_another_name(here):
    table = write_table(here / "news.csv", ROWS)
    first = written(here / "corrections.csv", ["3,class 0"])
    run(table, "--output", "out", "--checked", first)
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert "--checked corrections-2.csv --force" in page


@pytest.mark.parametrize("more", [[], ["--probe-rows", "100"]])
def test_copies_of_a_checked_row_follow_it(here, more):
    copied = [*ROWS[:80], *ROWS[:80], *ROWS[:80]]
    table = write_table(here / "news.csv", copied)
    run(table, "--output", "out", *more)
    row = int(read_table(here / "out" / "to_check.csv")[0]["row"])
    new = "class 0" if copied[row - 1][2] != "class 0" else "class 1"
    given = written(here / "a.csv", [f"{row},{new}"])
    run(table, "--output", "out", "--checked", given, *more)
    kept = [r for r in read_table(here / "out" / "kept.csv") if r["nr"] == copied[row - 1][0]]
    assert [r["weak"] for r in kept] == [new] * 3


def test_files_that_contradict_each_other(here):
    table = write_table(here / "news.csv", ROWS)
    written(here / "a.csv", ["3,class 0"])
    written(here / "b.csv", ["3,class 1"])
    with pytest.raises(LopsError, match=r"b\.csv, line 2: row 3 is checked as 'class 1', and as"):
        run(table, "--checked", "a.csv", "--checked", "b.csv")


def test_checked_rows_are_in_the_sample(here, capsys):
    table = write_table(here / "news.csv", ROWS)
    some = written(here / "some.csv", [f"{i},{row[3]}" for i, row in enumerate(ROWS[:90], 1)])
    run(table, "--output", "out", "--checked", some, "--probe-rows", "120")
    said = capsys.readouterr().out
    assert "by 90 checked rows" in said
    assert "a sample of 120 of 240 rows" in said
    kept = {row["nr"]: row["weak"] for row in read_table(here / "out" / "kept.csv")}
    assert [kept[row[0]] for row in ROWS[:90]] == [row[3] for row in ROWS[:90]]


def test_other_methods(here):
    table = write_table(here / "news.csv", ROWS)
    given = written(here / "a.csv", ["3,class 0"])
    for option, value in (("--checked", given), ("--checked-column", "true")):
        with pytest.raises(LopsError, match=f"{option} needs the committee, and the method is"):
            run(table, option, value, "--method", "learning-order")
