"""``duplicates.csv``: near-duplicates, which ``lops apply`` can delete."""

import pytest

from lops_adapters.cli import apply

from ..noisy import noisy_rows, read_table, write_table
from .selecting import run, select

pytestmark = pytest.mark.usefixtures("here")
ROWS = noisy_rows(n=60)


def table(here):
    other = "class 1" if ROWS[3][2] == "class 0" else "class 0"
    rows = [
        ["u", "no label here", "", ""],
        *ROWS,
        ["a", ROWS[3][1].upper() + "!", other, ""],
        ["b", ROWS[8][1], ROWS[8][2], ""],
    ]
    return rows, write_table(here / "news.csv", rows)


def test_groups_with_the_numbers_of_the_table(here, capsys):
    rows, path = table(here)
    assert run(path) == 0
    found = read_table(here / "news-lops" / "duplicates.csv")
    assert [row["group"] for row in found] == ["1", "1", "2", "2"]
    assert [int(row["row"]) for row in found] == [5, 62, 10, 63]
    for row in found:
        given = rows[int(row["row"]) - 1]
        assert (row["label"], row["text"]) == (given[2], given[1])
    said = capsys.readouterr().out
    assert said.startswith("Problem: Near-duplicates: 2 groups of 4 rows, 1 with several labels.\n")
    assert ", duplicates, report.html\n" in said
    page = (here / "news-lops" / "report.html").read_text()
    assert "Near-duplicates: 2 groups of 4 rows" in page
    assert "2 groups of nearly equal texts; groups with several labels first (1)" in page
    expected = select([row[1] for row in rows], [row[2] for row in rows]).near_duplicates()
    assert [group.tolist() for group in expected] == [[4, 61], [9, 62]]


def test_copies_are_deleted_with_the_file(here):
    rows, path = table(here)
    run(path)
    found = read_table(here / "news-lops" / "duplicates.csv")
    lines = ["row,label", *(f"{row['row']}," for row in found[1::2])]
    (here / "corrections.csv").write_text("\n".join(lines))
    given = ["corrections.csv", "news.csv", "--label", "weak", "--output", "new.csv"]
    assert apply.main(given) == 0
    assert [row["nr"] for row in read_table(here / "new.csv")] == [row[0] for row in rows[:-2]]
