"""``lops apply``: corrections of a table, and every other cell as it was."""

import codecs
import os
import subprocess
import sys

import pytest

from lops_adapters.cli import apply as command
from lops_adapters.cli import select
from lops_adapters.core import LopsError
from lops_adapters.formats import base, files

from ..noisy import noisy_rows, read_table, write_table

pytestmark = pytest.mark.usefixtures("here")
ROWS = noisy_rows(n=12)
LABELS = [row[2] for row in ROWS]


def corrections(text, name="corrections.csv"):
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return name


def run(*arguments):
    return command.main([*map(str, arguments), "--quiet"])


CHANGED = "row,label\n2,class 9\n4,\n12,class 9\n"


@pytest.mark.parametrize("given", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("wanted", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_format(here, given, wanted, capsys):
    table = write_table(here / f"news{given}", ROWS)
    assert run(corrections(CHANGED), table, "--label", "weak", "--output", f"out{wanted}") == 0
    expected = [list(row) for row in ROWS]
    expected[1][2] = expected[11][2] = "class 9"
    del expected[3]
    assert [list(row.values()) for row in read_table(here / f"out{wanted}")] == expected
    assert capsys.readouterr().out == (
        "2 rows relabelled; 1 row deleted.\nNew classes: class 9 (2 rows).\n"
        f"Corrected table: out{wanted} (11 rows)\n"
    )
    assert sorted(path.name for path in here.iterdir()) == sorted(
        ["corrections.csv", table.name, f"out{wanted}"]
    )


def test_new_classes_that_are_named(here, capsys):
    (here / "t.csv").write_text("label\n" + "a\n" * 40)
    answers = ["long " * 100, *(f"class {number}" for number in range(35))]
    given = corrections("row,label\n" + "".join(f"{i},{one}\n" for i, one in enumerate(answers, 1)))
    assert run(given, "t.csv", "--label", "label", "--output", "out.csv") == 0
    said = capsys.readouterr().out.splitlines()[1]
    assert said.startswith(f"New classes: {'long ' * 12} (1 row), class 0 (1 row), ")
    assert said.endswith("class 28 (1 row) and 6 more.")


def test_what_stays_of_a_csv(here):
    """Every byte outside the corrected cells."""
    text = '\ufeffnr;"label";text\r\n1;"a";"one; ""quoted"""\r\n\r\n2;b;"with\nline"\r\n3;;é'
    (here / "t.csv").write_bytes(text.encode())
    given = corrections('row,label\n2,"x;y"\n')
    run(given, "t.csv", "--delimiter", ";", "--output", "out.csv")
    expected = text.replace("\n2;b;", '\n2;"x;y";')
    assert (here / "out.csv").read_bytes().decode() == expected


JSON = (
    b'{"n": 1.50, "label":"a" , "in": {"label": "a"}}\r\n\n'
    b'  {"label": "b", "big": 12345678901234567890}\n{"text": "none"}'
)


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ("", b"", b""),
        ("1,b\n", b'"label":"a" ,', b'"label":"b" ,'),
        ("2,a\n", b'{"label": "b"', b'{"label": "a"'),
        ("3,a\n", b'{"text": "none"}', b'{"text": "none", "label": "a"}'),
        ("2,\n", b'  {"label": "b", "big": 12345678901234567890}\n', b""),
        ("3,\n", b'{"text": "none"}', b""),
    ],
)
def test_other_bytes_of_json_stay(here, changes, old, new):
    (here / "t.jsonl").write_bytes(JSON)
    run(corrections("row,label\n" + changes), "t.jsonl", "--output", "out.jsonl")
    assert (here / "out.jsonl").read_bytes() == (JSON.replace(old, new) if old else JSON)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig", "gb18030"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_the_encoding_stays(here, encoding, suffix):
    lines = {
        ".csv": 'label,text\r\n"a",é\r\n\r\nb,"ü"',
        ".jsonl": '{"label": "a", "text": "é"}\r\n {"label":"b"}',
    }
    table, usual = f"t{suffix}", ["--encoding", encoding] if encoding != "utf-8-sig" else []
    (here / table).write_bytes(lines[suffix].encode(encoding))
    run(corrections("row,label\n1,ö\n"), table, *usual, "--output", f"out{suffix}")
    expected = lines[suffix].replace('"a"', '"ö"').encode(encoding)
    assert (here / f"out{suffix}").read_bytes() == expected


def test_big_endian_stays_and_a_label_needs_a_place_in_the_encoding(here):
    text = codecs.BOM_UTF16_BE + "label,text\na,é\n".encode("utf-16-be")
    (here / "t.csv").write_bytes(text)
    run(corrections("row,label\n"), "t.csv", "--encoding", "utf-16", "--output", "out.csv")
    assert (here / "out.csv").read_bytes() == text
    (here / "t.csv").write_bytes("label,text\na,é\n".encode("cp1252"))
    with pytest.raises(LopsError, match="'ж' has no place in cp1252, the encoding of the table"):
        run(corrections("row,label\n1,ж\n"), "t.csv", "--encoding", "cp1252", "--output", "o.csv")
    run(corrections("row,label\n1,ж\n"), "t.csv", "--encoding", "cp1252", "--output", "o.jsonl")
    assert (here / "o.jsonl").read_text(encoding="utf-8") == '{"label": "ж", "text": "é"}\n'


def test_several_files_are_one_table(here):
    (here / "a.csv").write_text("label,text\nx,1\nx,2", newline="")
    (here / "b.csv").write_text("label,text\ny,3\ny,4\n", newline="")
    run(corrections("row,label\n2,y\n3,x\n4,\n"), "a.csv", "b.csv", "--output", "out.csv")
    assert (here / "out.csv").read_text() == "label,text\nx,1\ny,2\nx,3\n"


@pytest.mark.parametrize(
    ("labels", "new", "expected"),
    [
        ([1, 2], "2", 2),
        ([1, 2], "7", 7),
        ([1.5, 2.5], "2.5", 2.5),
        ([1.5, 2.5], "3", 3.0),
        ([True, False], "False", False),
        ([True, False], "false", False),
        (["1", "2"], "2", "2"),
    ],
)
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_types_of_labels_stay(here, labels, new, expected, suffix):
    write_table(here / f"t{suffix}", [[label] for label in labels], ["label"])
    run(corrections(f"row,label\n1,{new}\n"), f"t{suffix}", "--output", f"out{suffix}")
    found = read_table(here / f"out{suffix}")[0]["label"]
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("suffix", "labels", "said", "new"),
    [
        *((".jsonl", [1, 2], "int", one) for one in ("x", "1.5", '"a"', "[" * 10_000)),
        *((".jsonl", [True, False], "bool", one) for one in ("x", "1.5", '"a"', "[" * 10_000)),
        *((suffix, [1.0, 2.0], "", one) for suffix in (".jsonl", ".parquet")
          for one in ("NaN", "Infinity", "-Infinity", "1e999", "9" * 400)),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_what_is_no_label_of_the_type(here, suffix, labels, said, new):
    write_table(here / f"t{suffix}", [[label] for label in labels], ["label"])
    path = corrections("row,label\n1," + '"' + new.replace('"', '""') + '"\n')
    with pytest.raises(LopsError, match=f"line 2: the label is .* are of type {said}"):
        run(path, f"t{suffix}", "--output", f"out{suffix}")
    assert not (here / f"out{suffix}").exists()


def test_parquet_keeps_its_schema(here):
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(
        {
            "label": pa.array(["a", "b", "a"]).dictionary_encode(),
            "tags": [["x"], [], None],
            "n": pa.array([1, 2, 3], type=pa.int8()),
        }
    ).replace_schema_metadata({"by": "hand"})
    parquet.write_table(table, here / "t.parquet")
    run(corrections("row,label\n1,c\n2,\n"), "t.parquet", "--output", "out.parquet")
    found = parquet.read_table(here / "out.parquet")
    assert found.schema.equals(table.schema)
    assert found.schema.metadata[b"by"] == b"hand"
    assert found.to_pylist() == [
        {"label": "c", "tags": ["x"], "n": 1},
        {"label": "a", "tags": None, "n": 3},
    ]


def test_more_than_a_block_of_rows(here, monkeypatch):
    monkeypatch.setattr(base, "BLOCK_ROWS", 50)
    rows = [[str(i), "a"] for i in range(120)]
    for suffix in (".csv", ".parquet"):
        write_table(here / f"t{suffix}", rows, ["nr", "label"])
        given = corrections("row,label\n50,b\n51,\n120,b\n")
        run(given, f"t{suffix}", "--output", f"out{suffix}")
        found = read_table(here / f"out{suffix}")
        assert len(found) == 119
        assert [row["nr"] for row in found if row["label"] == "b"] == ["49", "119"]
        assert "50" not in {row["nr"] for row in found}


def test_rows_by_id(here):
    table = write_table(here / "news.csv", ROWS)
    for text in (
        "row,label\n00003,x\n",  # the id in the column row
        "row,id,label\n1,00003,x\n",
        "row,id,label\n1, 00003 ,x\n",
    ):
        given = ["--id", "nr", "--label", "weak", "--output", "out.csv", "--force"]
        run(corrections(text), table, *given)
        assert [row["nr"] for row in read_table(here / "out.csv") if row["weak"] == "x"] == [
            "00003"
        ]


def test_the_apostrophe_of_a_spreadsheet(here):
    (here / "t.csv").write_text("id,label\n=1,-x\n+2,y\n")
    given = corrections("row,id,label\n1,'=1,y\n2,'+2,'-x\n")
    run(given, "t.csv", "--id", "id", "--output", "out.csv")
    assert (here / "out.csv").read_text() == "id,label\n=1,y\n+2,-x\n"


def test_labels_that_a_spreadsheet_shows_alike(here):
    (here / "t.csv").write_text("id,label\n1,=a\n2,'=a\n3,b\n")
    with pytest.raises(
        LopsError, match=r"line 2: the label is .'=a., and the table has .*'=a'; write"
    ):
        run(corrections("row,label\n3,'=a\n"), "t.csv", "--output", "out.csv")
    run(corrections("row,label\n3,=a\n"), "t.csv", "--output", "out.csv")
    assert (here / "out.csv").read_text() == "id,label\n1,=a\n2,'=a\n3,=a\n"


def test_rows_of_one_label_that_are_new_or_the_same(here, capsys):
    """A value of another type that is equal is no correction that changes nothing."""
    (here / "t.jsonl").write_text('{"label": 1}\n{"label": 1.0}\n{"label": 2}\n')
    run(corrections("row,label\n2,1\n1,1\n"), "t.jsonl", "--output", "out.jsonl")
    said = capsys.readouterr().out
    assert "1 row relabelled; 0 rows deleted; 1 row unchanged, with that label already." in said


def test_the_file_names_the_column_and_the_table(here, capsys):
    table = write_table(here / "news.csv", ROWS)
    sha256 = files.fingerprint(files.checksums([table]))
    text = f"row,label,column,sha256\n1,{LABELS[0]},weak,{sha256}\n2,x,weak,{sha256}\n"
    run(corrections(text), table, "--output", "out.csv")
    assert capsys.readouterr().out.startswith(
        "1 row relabelled; 0 rows deleted; 1 row unchanged, with that label already.\n"
    )
    with table.open("a") as file:
        file.write("x,y,z,w\n")
    with pytest.raises(LopsError, match="was made for another table, or the table has changed"):
        run("corrections.csv", table, "--output", "out.csv", "--force")
    bare = text.replace(",sha256", "").replace(f",{sha256}", "")
    run(corrections(bare), table, "--output", "out.csv", "--force")
    mixed = text.replace(sha256, "0" * 64, 1)
    with pytest.raises(LopsError, match="holds corrections of several tables: its column 'sha256'"):
        run(corrections(mixed), table, "--output", "new.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,lable\n1,a\n", "corrections.csv has no column 'label'; its columns are 'row', 'la"),
        ("nr,label\n1,a\n", "corrections.csv has no column 'row'; its columns are 'nr', 'label'"),
        ("", "corrections.csv is empty"),
        ("row,label\n13,a\n", "line 2: no row '13' in the table, which has 12 rows; is this the"),
        ("row,label\n1,a\n99,a\n98,a\n", "line 3: no row '99', '98' in the table"),
        ("row,label\n0,a\n", "line 2: the row is '0'; wanted its number, from 1, or --id COLUMN"),
        ("row,label\n-1,a\n", "line 2: the row is '-1'"),
        ("row,label\n1.0,a\n", "line 2: the row is '1.0'"),
        ("row,label\n,a\n", "line 2: the row is ''"),
        ("row,label\n²,a\n", "line 2: the row is '²'"),
        (f"row,label\n{'9' * 5000},a\n", "line 2: no row '999.* in the table, which has 12 rows"),
        (f"row,label\n{'0' * 5000},a\n", "line 2: the row is '000"),
        ("row,label\n3,a\n5,b\n3,c\n", "line 4: row 3 was corrected in line 2 already; give ever"),
        ("row,label\n3,a\n03,a\n", "line 3: row 3 was corrected in line 2 already"),
        ("row,label\n1,a,b\n", "line 2: found 3 fields; wanted 2"),
        ("row,label,column\n1,a,nope\n", "has no column 'nope'"),
    ],
)
def test_bad_corrections(here, text, message):
    table = write_table(here / "news.csv", ROWS)
    usual = [] if "column" in text else ["--label", "weak"]
    with pytest.raises(LopsError, match=message):
        run(corrections(text), table, *usual, "--output", "out.csv")
    assert not (here / "out.csv").exists()


def test_bad_ids(here):
    table = write_table(here / "news.csv", [*ROWS, ROWS[0]])
    usual = [table, "--id", "nr", "--label", "weak", "--output", "out.csv"]
    with pytest.raises(LopsError, match="no row 'zz' in the table, which has no such id in column"):
        run(corrections("row,label\nzz,a\n"), *usual)
    with pytest.raises(LopsError, match="the id '00000' is in several rows of the table; corre"):
        run(corrections("row,label\n00000,a\n"), *usual)
    run(corrections("row,label\n00001,a\n"), *usual)


def test_outputs_that_are_refused(here):
    table = write_table(here / "news.csv", ROWS)
    given = [corrections(CHANGED), table, "--label", "weak"]
    os.mkfifo("pipe")
    (here / "link.csv").symlink_to("pipe")
    for output, message in (
        ("link.csv", "--output is link.csv, a folder, a pipe or a device; wanted a file"),
        ("news.csv", "--output is news.csv, which is an input; give another file"),
        ("corrections.csv", "--output is corrections.csv, which is an input"),
        ("out.txt", "--output is out.txt; wanted a name that ends in one of .csv"),
        ("none/out.csv", "but .*none does not exist; create it first"),
    ):
        with pytest.raises(LopsError, match=message):
            run(*given, "--output", output, "--force")
    run(*given, "--output", "out.csv")
    with pytest.raises(LopsError, match=r"out.csv already exists; give --force to replace it"):
        run(*given, "--output", "out.csv")
    run(*given, "--output", "out.csv", "--force")
    with pytest.raises(LopsError, match=r"no column 'label'.*Did you mean"):
        run(given[0], write_table(here / "n.csv", ROWS, ["nr", "text", "labels", "true"]),
            "--output", "x.csv")  # fmt: skip


@pytest.mark.parametrize("name", ["out.csv", "link.csv"])
def test_what_a_killed_run_left_is_deleted(here, name):
    """The temporary file next to what is written, and the lock."""
    (here / "link.csv").symlink_to(here / "out.csv")
    table = write_table(here / "news.csv", ROWS)
    usual = [corrections(CHANGED), table, "--label", "weak", "--output", name, "--force"]
    killed = "import sys; from lops_adapters import storage as s; from pathlib import Path as P\n"
    killed += "with s.claimed(P(sys.argv[1])), s.replacing(P(sys.argv[1])) as t:\n"
    killed += "    t.write_text('half'); import os; os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", killed, name], check=False, env=os.environ)
    assert sum(path.name.startswith(".out.csv.") for path in here.iterdir()) == 2
    run(*usual)
    names = sorted(path.name for path in here.iterdir())
    assert names == ["corrections.csv", "link.csv", "news.csv", "out.csv"]


def test_an_input_that_changes(here, monkeypatch):
    table = write_table(here / "news.csv", ROWS)
    usual = command.changes

    def then(*arguments):
        made = usual(*arguments)
        write_table(table, ROWS[:-1])
        return made

    monkeypatch.setattr(command, "changes", then)
    with pytest.raises(LopsError, match=r"the input changed during the run .*nothing was written"):
        run(corrections("row,label\n1,x\n"), table, "--label", "weak", "--output", "out.csv")
    assert sorted(path.name for path in here.iterdir()) == ["corrections.csv", "news.csv"]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_relabelled_rows_are_corrections(here, suffix, capsys):
    """Rows of ``lops select`` with another label; their numbers find them again."""
    rows = noisy_rows(n=90)
    table = write_table(here / f"news{suffix}", rows)
    command = [table, "--text", "text", "--label", "weak", "--encoder", "none", "--output", "out"]
    select.main([*map(str, command), "--relabel", "0.01", "--quiet"])
    relabelled = read_table(here / "out" / f"relabelled{suffix}")
    capsys.readouterr()
    run(here / "out" / f"relabelled{suffix}", table, "--label", "weak", "--output", f"new{suffix}")
    assert capsys.readouterr().out.startswith(f"{len(relabelled)} rows relabelled; 0 rows deleted.")
    expected = [row[2] for row in rows]
    for row in relabelled:
        expected[int(row["lops_row"]) - 1] = row["weak"]
    assert [row["weak"] for row in read_table(here / f"new{suffix}")] == expected
    with pytest.raises(LopsError, match=r"has no column 'label'.*name the column of labels by --l"):
        run(here / "out" / f"relabelled{suffix}", table, "--output", "x.csv")
    with pytest.raises(LopsError, match=r"was made for another table.*remove the column lops_sha2"):
        run(
            *(here / "out" / f"relabelled{suffix}", f"new{suffix}", "--label", "weak"),
            *("--output", "x.csv"),
        )
    names = [name for name in relabelled[0] if name not in ("lops_counts", "lops_sha256")]
    old = write_table(here / f"old{suffix}", [[row[n] for n in names] for row in relabelled], names)
    with pytest.raises(LopsError, match=r"row .* had the label 'class .', and it has 'class"):
        run(old, f"new{suffix}", "--label", "weak", "--output", "x.csv")
    run(old, table, "--label", "weak", "--output", f"again{suffix}")
    assert read_table(here / f"again{suffix}") == read_table(here / f"new{suffix}")


def test_the_corrected_table_of_a_selection(here):
    """As from applying the relabelled rows, byte for byte; a checked row has its label."""
    rows = noisy_rows(n=90)
    table = write_table(here / "news.csv", rows)
    table.write_bytes(b"\xef\xbb\xbf" + table.read_bytes().replace(b"\r\n", b"\n"))
    command = [table, "--text", "text", "--label", "weak", "--encoder", "none", "--output", "out"]
    select.main([*map(str, command), "--relabel", "0.01", "--quiet", "--corrected", "new.csv"])
    relabelled = here / "out" / "relabelled.csv"
    run(relabelled, table, "--label", "weak", "--output", "applied.csv")
    assert (here / "new.csv").read_bytes() == (here / "applied.csv").read_bytes()
    assert (here / "new.csv").read_bytes() != table.read_bytes()
    checked = corrections(f"row,label\n5,{'class 0' if rows[4][2] != 'class 0' else 'class 1'}\n")
    more = ["--checked", checked, "--corrected", "new.jsonl", "--force", "--quiet"]
    select.main([*map(str, command), *more])
    found = read_table(here / "new.jsonl")
    assert list(found[0]) == ["nr", "text", "weak", "true"]
    assert found[4]["weak"] != rows[4][2]
    with pytest.raises(LopsError, match="--corrected needs one column of labels, --label"):
        select.main(["news.csv", "--text", "text", "--labels", "weak,true", "--corrected", "x.csv"])
