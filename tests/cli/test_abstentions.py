"""Rows without a label: their own file, the counts, and corrections of the others."""

import json

import pytest

from ..noisy import HEADER, noisy_rows, read_table, write_table
from .selecting import run, select

pytestmark = pytest.mark.usefixtures("here")
ROWS = noisy_rows(n=150, k=3)
CODES = [[*row[:2], row[2][-1], row[3][-1]] for row in ROWS]  # labels 0, 1, 2


def parts(folder, suffix):
    names = ("kept", "rejected", "abstained")
    return {name: read_table(folder / f"{name}{suffix}") for name in names}


def with_abstentions(rows, value):
    return [[*row[:2], value if i % 5 == 1 else row[2], row[3]] for i, row in enumerate(rows)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "rows", "more"),
    [
        (".csv", with_abstentions(ROWS, ""), []),
        (".jsonl", with_abstentions(CODES, "-1"), []),
        (".parquet", with_abstentions(ROWS, "?"), ["--abstain", "x", "--abstain", "?"]),
    ],
)
def test_their_own_file(here, suffix, rows, more, capsys):
    assert run(write_table(here / f"news{suffix}", rows), "--gold", "true", *more) == 0
    labelled = [row for i, row in enumerate(rows) if i % 5 != 1]
    expected = select([row[1] for row in labelled], [row[2] for row in labelled])
    found = parts(here / "news-lops", suffix)
    assert [row["nr"] for row in found["kept"]] == [labelled[i][0] for i in expected.kept]
    rest = found["abstained"]
    assert [list(row.values())[: len(HEADER)] for row in rest] == rows[1::5]
    assert list(rest[0]) == [*HEADER, "lops_suggested", "lops_confidence"]
    assert sum(map(len, found.values())) == len(rows)
    said = capsys.readouterr().out
    assert "Without a label: 30 rows (" in said
    assert f"news{suffix}: {len(found['rejected'])} of 120 labels are " in said
    assert ", abstained (30), " in said
    summary = json.loads((here / "news-lops" / "summary.json").read_text())
    assert (summary["n_rows"], summary["n_abstained"]) == (120, 30)
    assert "rows without a label" in (here / "news-lops" / "report.html").read_text()


def test_minus_one_can_be_a_class(here, capsys):
    path = write_table(here / "news.csv", with_abstentions(CODES, "-1"))
    run(path)
    assert "-1 counts as no label; if it is a class, give --abstain ''." in capsys.readouterr().out
    run(path, "--abstain", "", "--force")  # a fifth of the rows, of any topic
    assert "ithout a label" not in capsys.readouterr().out


def test_integer_codes(here):
    lines = [
        json.dumps({"text": row[1], "weak": None if i % 5 == 1 else int(row[2])})
        for i, row in enumerate(CODES)
    ]
    (here / "news.jsonl").write_text("\n".join(lines))
    run("news.jsonl")
    text = (here / "news-lops" / "abstained.jsonl").read_text().splitlines()
    cells = [json.loads(line) for line in text]
    assert [line["text"] for line in cells] == [json.loads(line)["text"] for line in lines[1::5]]
    assert {line["lops_suggested"] for line in cells} == {0, 1, 2}
