"""Where tables come from: packed files, spreadsheets, standard input, folders."""

import contextlib
import gzip
import io
import json
import sys

import pytest

from lops_adapters.cli import apply, standard_input
from lops_adapters.cli.main import main
from lops_adapters.core import LopsError
from lops_adapters.formats import files, lines
from lops_adapters.formats.readers import open_table

from ..noisy import HEADER, noisy_rows, read_table, write_table
from .selecting import OPTIONS, run

pytestmark = pytest.mark.usefixtures("here")
ROWS = noisy_rows()


def refused(message, *arguments):
    with pytest.raises(LopsError, match=message):
        run(*arguments)


def expected(here, suffix=".csv"):
    """The kept rows of the plain table."""
    run(write_table(here / f"plain{suffix}", ROWS))
    return (here / "plain-lops" / f"kept{suffix}").read_bytes()


def correct(here, table, *more):
    """Apply a correction to the table and return the corrected rows."""
    (here / "corrections.csv").write_text("row,label\n3,class 7\n5,\n")
    given = ["corrections.csv", table, "--label", "weak", "--output", "new.csv", *more]
    assert apply.main([*given, "--force"]) == 0
    return [list(row.values()) for row in read_table(here / "new.csv")]


CORRECTED = [[*row[:2], "class 7" if i == 2 else row[2], row[3]] for i, row in enumerate(ROWS)]
del CORRECTED[4]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_packed_files(here, suffix):
    kept = expected(here, suffix)
    packed = here / f"news{suffix}.gz"
    packed.write_bytes(gzip.compress((here / f"plain{suffix}").read_bytes()))
    run(packed.name)
    assert (here / "news-lops" / f"kept{suffix}").read_bytes() == kept
    summary = json.loads((here / "news-lops" / "summary.json").read_text())
    assert summary["table"]["command"] == (
        f"lops apply corrections.csv news{suffix}.gz --output news-corrected{suffix}"
    )
    assert correct(here, packed.name) == CORRECTED


def test_other_encodings_are_packed_too(here):
    kept = expected(here)
    wide = (here / "plain.csv").read_bytes().decode().encode("utf-16")
    (here / "news.csv.gz").write_bytes(gzip.compress(wide))
    run("news.csv.gz", "--encoding", "utf-16")
    assert (here / "news-lops" / "kept.csv").read_bytes() == kept
    refused("news.csv.gz begins with the byte order mark of UTF-16", "news.csv.gz", "--force")


def test_damaged_and_hostile_packed_files(here, monkeypatch):
    whole = gzip.compress(write_table(here / "news.csv", ROWS).read_bytes())
    (here / "cut.csv.gz").write_bytes(whole[:-200])
    (here / "no.csv.gz").write_bytes(b"text,weak\na,b\n")
    (here / "bad.csv.gz").write_bytes(whole[:40] + b"\0\0\0\0" + whole[44:])
    for name in ("cut", "no", "bad"):
        refused(f"{name}.csv.gz cannot be unpacked .*; wanted gzip", f"{name}.csv.gz")
    monkeypatch.setattr(lines, "LARGE", 2**20)
    (here / "bomb.csv.gz").write_bytes(gzip.compress(b"text,weak\n" + b"a" * 2**22))
    refused("bomb.csv.gz unpacks to more than 200 times its size", "bomb.csv.gz")
    (here / "news.parquet.gz").write_bytes(whole)
    refused("news.parquet.gz: unknown suffix '.gz'; wanted one of .csv", "news.parquet.gz")
    refused("--corrected is new.csv.gz; wanted a name that ends in one of .csv", "news.csv",
            "--corrected", "new.csv.gz")  # fmt: skip


def book(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_spreadsheets(here, capsys):
    kept = expected(here)
    path = book(here / "news.xlsx", first=[HEADER, *ROWS], other=[["a"], [1]])
    run(path)
    assert (here / "news-lops" / "kept.csv").read_bytes() == kept
    summary = json.loads((here / "news-lops" / "summary.json").read_text())
    assert summary["table"]["command"].endswith("news.xlsx --output news-corrected.csv")
    assert correct(here, "news.xlsx") == CORRECTED
    book(here / "second.xlsx", notes=[["read me"]], data=[[], HEADER, [], *ROWS])
    run("second.xlsx", "--sheet", "data")
    assert (here / "second-lops" / "kept.csv").read_bytes() == kept
    summary = json.loads((here / "second-lops" / "summary.json").read_text())
    assert "second.xlsx --sheet data --output" in summary["table"]["command"]
    assert correct(here, "second.xlsx", "--sheet", "data") == CORRECTED


def test_cells_of_spreadsheets(here, capsys):
    import datetime

    rows = [
        [row[1], int(row[2][-1]), None if i % 2 else 1.5, i == 0, datetime.date(2026, 1, 2)]
        for i, row in enumerate(ROWS)
    ]
    book(here / "news.xlsx", data=[["text", "weak", "n", "first", "day", None], *rows])
    run("news.xlsx", "--format", "jsonl")
    found = read_table(here / "news-lops" / "kept.jsonl")[0]
    own = rows[[row[1] for row in ROWS].index(found["text"])]
    assert found["weak"] == str(own[1])
    assert found["n"] == ("" if own[2] is None else "1.5")
    assert found["first"] in ("true", "false")
    assert found["day"].startswith("2026-01-02")
    rows[2][1] = None
    book(here / "gaps.xlsx", data=[["text", "weak"], *([row[0], row[1]] for row in rows)])
    run("gaps.xlsx")
    assert "Without a label: 1 row (row 4), neither kept nor rejected." in capsys.readouterr().out


def test_spreadsheets_that_cannot_be_read(here, monkeypatch):
    path = book(here / "news.xlsx", data=[HEADER, *ROWS], wide=[["text", "weak"], ["a", "b", "c"]])
    refused("news.xlsx has no sheet 'none'; its sheets are 'data', 'wide'", path, "--sheet", "none")
    refused("news.xlsx, row 2: found 3 cells; wanted 2, as in the header", path, "--sheet", "wide")
    write_table(here / "news.csv", ROWS)
    refused("--sheet is 'data', but news.csv is no spreadsheet", "news.csv", "--sheet", "data")
    refused("several formats .csv, xlsx.", "news.csv", "news.xlsx")
    (here / "no.xlsx").write_text("text,weak\n")
    refused("no.xlsx cannot be read as a spreadsheet", "no.xlsx")
    monkeypatch.setattr("lops_adapters.formats.lines.LARGE", 100)
    monkeypatch.setattr("lops_adapters.formats.lines.RATIO", 1)
    refused("news.xlsx unpacks to more than", "news.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    refused(r"news.xlsx needs openpyxl.*'lops_adapters\[excel\]'", "news.xlsx")


def test_a_cell_far_outside(here, monkeypatch):
    """A file of six kilobytes, whose rectangle has 1.6 billion cells."""
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    for row in [HEADER, *ROWS[:20]]:
        made.active.append(row)
    made.active["XFD100000"] = "x"
    monkeypatch.setattr("lops_adapters.formats.xlsx._LAST_ROW", 100_000)
    made.save(here / "far.xlsx")
    refused("far.xlsx, row 100000: found 16384 cells; wanted 4, as in the header", "far.xlsx")


def test_rows_with_empty_cells_far_outside(here, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    from openpyxl.styles import Font

    made = openpyxl.Workbook()
    for row in [HEADER, *ROWS[:20]]:
        made.active.append(row)
    for row in range(2, 22):
        made.active.cell(row, 16_000).font = Font(bold=True)
    made.save(here / "wide.xlsx")
    monkeypatch.setattr("lops_adapters.formats.xlsx._BESIDE", 100_000)
    refused("wide.xlsx, row [0-9]+: cells far outside the table; save it as CSV", "wide.xlsx")


def test_damaged_spreadsheets(here):
    """One of three parts, cut or with other bytes, read to its end: a LopsError or the rows."""
    import random
    import zipfile

    draw, whole = random.Random(0), book(here / "news.xlsx", data=[HEADER, *ROWS[:30]])
    for case in range(40):
        path = here / f"bad{case}.xlsx"
        with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w") as target:
            names = source.namelist()
            chosen = draw.choice([n for n in names if n.startswith("xl/")])
            for name in names:
                content = bytearray(source.read(name))
                if name == chosen:
                    at = draw.randrange(len(content))
                    content[at : at + draw.choice([1, 9, 999])] = draw.randbytes(
                        draw.choice([0, 1])
                    )
                target.writestr(name, bytes(content))
        if case % 4 == 0:
            raw = bytearray(path.read_bytes())
            raw[draw.randrange(len(raw))] ^= 255
            path.write_bytes(raw)
        with contextlib.suppress(LopsError):
            for _ in open_table([path]).cells(HEADER[:1]):
                pass


class Stdin:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)

    def isatty(self):
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "packed"), [(".csv", False), (".tsv", True), (".jsonl", True), (".parquet", False)]
)
def test_standard_input(here, suffix, packed, monkeypatch, capsys):
    kept = expected(here, suffix)
    content = (here / f"plain{suffix}").read_bytes()
    monkeypatch.setattr(sys, "stdin", Stdin(gzip.compress(content) if packed else content))
    run("-")
    assert (here / "stdin-lops" / f"kept{suffix}").read_bytes() == kept
    summary = json.loads((here / "stdin-lops" / "summary.json").read_text())
    assert summary["source"] == "standard input; texts: text, labels: weak"
    assert summary["table"]["command"].startswith("lops apply corrections.csv TABLE --output ")
    config = json.loads((here / "stdin-lops" / "config.json").read_text())
    assert list(config["dataset"]["sha256"]) == ["standard input"]
    if not packed:
        assert config["dataset"]["sha256"] == {
            "standard input": next(
                iter(
                    json.loads((here / "plain-lops" / "config.json").read_text())["dataset"][
                        "sha256"
                    ].values()
                )
            )
        }


def test_standard_input_that_cannot_be_read(here, monkeypatch, capsys):
    for content, message in (
        (b"", "standard input is empty; wanted a table"),
        (b"a,b\n1,2\n", "standard input has no column 'text'"),
        (b"\x1f\x8bno", "standard input cannot be unpacked; wanted gzip"),
        (b'{"text": "a", "weak": "x"}\n{', "standard input, line 2: not JSON"),
    ):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        refused(message, "-")
    refused("found - next to files; give standard input alone", "-", "news.csv")
    monkeypatch.setattr(sys, "stdin", Stdin(b""))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert main(["select", "-", *OPTIONS]) == 2
    assert "error: standard input is a terminal; pipe" in capsys.readouterr().err
    assert not list(here.iterdir())


def test_folders_are_one_table(here):
    kept = expected(here)
    parts = here / "parts"
    parts.mkdir()
    write_table(parts / "part-1.csv", ROWS[:50])
    (parts / "part-2.csv.gz").write_bytes(
        gzip.compress(write_table(here / "rest.csv", ROWS[50:]).read_bytes())
    )
    for name in ("_SUCCESS", ".hidden.csv", "notes.txt", "~$open.xlsx"):
        (parts / name).write_text("x")
    run("parts")
    assert (here / "part-1-lops" / "kept.csv").read_bytes() == kept
    assert [path.name for path in files.find(["parts"])] == ["part-1.csv", "part-2.csv.gz"]
    (here / "empty").mkdir()
    refused("empty is a folder without tables; wanted files that end in one of .csv", "empty")
    write_table(parts / "part-3.jsonl", ROWS)
    refused("several formats .csv, jsonl.", "parts")


def test_what_the_first_bytes_tell():
    for start, suffix in (
        (b"\xef\xbb\xbf{}", ".jsonl"),
        (b" \n{", ".jsonl"),
        (b"a,b\nc\td", ".csv"),
        (b"a\tb\r\n", ".tsv"),
        (b"PK\x03\x04...", ".xlsx"),
        (gzip.compress(b"a\tb\n" * 9), ".tsv.gz"),
    ):
        assert standard_input.suffix_of(start) == suffix
