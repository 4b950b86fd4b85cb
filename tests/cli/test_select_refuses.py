"""What ``lops select`` refuses, in which words, before any training."""

import json
import os
import sys

import pytest

from lops_adapters.cli import select as command
from lops_adapters.cli.main import main
from lops_adapters.cli.select_options import class_shares
from lops_adapters.console import BAD_INPUT
from lops_adapters.core import LopsError
from lops_adapters.tables import fit

from ..noisy import noisy_rows, write_table

ROWS = noisy_rows()
OPTIONS = ["--text", "text", "--label", "weak", "--probe", "linear", "--quiet"]


@pytest.fixture(autouse=True)
def no_selection(here, monkeypatch):
    def trained(*_, **__):
        raise AssertionError("the selection began")

    monkeypatch.setattr(fit, "select_labelled", trained)


def refused(message, *arguments):
    """Arguments may stand in one string."""
    arguments = [part for item in arguments for part in str(item).split()]
    with pytest.raises(LopsError, match=message):
        command.main([*arguments, *OPTIONS])
    assert not [entry.name for entry in os.scandir() if entry.is_dir()]


def test_files_and_columns_that_are_not_there(here):
    write_table(here / "news.csv", ROWS)
    write_table(here / "other.csv", ROWS, ["nr", "text", "weak", "gold"])
    write_table(here / "news.jsonl", ROWS)
    write_table(here / "one.csv", ROWS)
    (here / "notes.docx").write_text("x")
    refused("mews.csv: no such file; did you mean news.csv.", "mews.csv")
    refused("nope.csv: no such file .from ", "nope.csv")
    refused("part-.*: no such file", "part-*.csv")
    refused("news.csv is given twice", "news.csv ./news.csv")
    refused("notes.docx: unknown suffix '.docx'; wanted one of .csv, .tsv", "notes.docx")
    refused("files have several formats .csv, jsonl.", "news.csv news.jsonl")
    refused(
        "other.csv has other columns than news.csv: 'nr', 'text', 'weak', 'gold', "
        "not 'nr', 'text', 'weak', 'true'; give files with the same columns",
        "news.csv other.csv",
    )
    for column in ("Text", "tekst", "wek", "tru"):  # never the labels nor the gold labels
        columns = "its columns are 'nr', 'text', 'weak', 'true'. Did you mean --text 'text'"
        with pytest.raises(LopsError, match=f"no column '{column}'; {columns}"):
            command.main(["news.csv", *OPTIONS, "--gold", "true", "--text", column])
    for column, near in (("weakk", "weak"), ("tru", "true")):
        with pytest.raises(LopsError, match=f"no column '{column}'; .* mean --label '{near}'"):
            command.main(["news.csv", "--text", "text", "--label", column, "--quiet"])
    refused(
        "no column 'zzz'; its columns are 'nr', 'text', 'weak', 'true'.$", "news.csv --gold zzz"
    )
    with pytest.raises(
        LopsError, match="--label and --text are both 'text'; give different columns"
    ):
        command.main(["news.csv", "--text", "text", "--label", "text", "--quiet"])
    refused("--label and --gold are both 'weak'", "news.csv --gold weak")


HEAD = "text,weak\n"
LATIN = HEAD.encode() + "caf\xe9,x\nb,y\n".encode("latin-1")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "a.csv is empty; wanted a header"),
        ("a.csv", HEAD, "the table has no rows"),
        ("a.csv", HEAD + "a,x\nb,y,z\n", "a.csv, line 3: found 3 fields; wanted 2, as in the he"),
        ("a.csv", HEAD + "a,x\nb,x\n", "all 2 rows have the label 'x'; wanted at least two cl"),
        ("a.csv", HEAD + "a,\nb,\n", "none of the 2 rows has a label in column 'weak'; check --l"),
        ("a.csv", "text,text,weak\na,b,c\n", "a.csv: 2 columns are named 'text'"),
        ("a.csv", "text|weak\na|x\n", "has no column 'text'; its columns are 'text|weak'. "
         "The header looks separated by '|'; give --delimiter '|'$"),
        ("a.csv", 'nr;"text";"weak, true"\n1;a;x\n', "separated by ';'; give --delimiter ';'$"),
        ("a.csv", 'text\t"weak, true"\na\tx\n', "separated by tab; give --delimiter tab$"),
        ("a.tsv", 'text,"weak\t true"\na,x\n', "separated by ','; give --delimiter ','$"),
        ("a.csv", "a b\na x\n", "no column 'text'; its columns are 'a b'. Check --delimiter.$"),
        ("a.csv", LATIN, "a.csv, line 2: byte 0xe9 .* is not UTF-8; .* or to lops select give its "
         "encoding, probably --encoding cp1252"),
        ("a.csv", HEAD + '"a,x\nb,y,z\n', "a.csv, lines 2 to 3: not proper CSV.*give --no-quotes"),
        ("a.jsonl", '{"text": "a", "weak": 1}\n{"text": "b", "weak": "1"}\n', "labels in 'weak' "
         "have several types: int .1 in line 1., str .'1' in line 2.; make them all"),
        ("a.jsonl", '{"text": 5, "weak": "x"}\n', "a.jsonl, line 1: the text is 5 .int.; wanted a "
         "string; check --text"),
        ("a.jsonl", '{"text": "a", "weak": ["x", "y"]}\n', "a.jsonl, line 1: the label is .'x', "
         "'y'., which holds several classes or none; wanted one class name per row"),
        ("a.jsonl", '{"text": "a", "weak": "x"}\n{"text": \n', "a.jsonl, line 2: not JSON"),
        ("a.jsonl", "[1]\n", "a.jsonl, line 1: found .1.; wanted one JSON object per line"),
        ("a.parquet", "text", "a.parquet cannot be read as Parquet"),
    ],
)  # fmt: skip
def test_contents_that_make_no_sense(here, name, content, message):
    (here / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(message, name)


def test_contents_that_do_not_fit_the_options(here):
    (here / "a.csv").write_text("text,weak,true\na,x,\nb,y,\n")
    gold = "none of the 2 rows has a gold label in column 'true'; fill in some, or leave out --gold"
    refused(gold, "a.csv --gold true")
    refused("--delimiter is ',,' for a csv file; wanted one character", "a.csv --delimiter ,,")
    refused("committee decides how many to keep, and --keep is 0.5", "a.csv --keep 0.5")
    (here / "latin.csv").write_bytes(LATIN)
    refused("latin.csv(, after line 1)?: bytes that are not ascii", "latin.csv --encoding ascii")
    refused("--encoding is 'klingon', which Python does not know", "latin.csv --encoding klingon")
    for encoding in ("utf-16", "utf-32"):
        (here / "wide.csv").write_bytes((HEAD + "a,x\nb,y\n").encode(encoding))
        begins = f"wide.csv begins with the byte order mark of {encoding.upper()} and would be read"
        advice = f"save it as UTF-8, or to lops select give --encoding {encoding}$"
        refused(f"{begins} as utf-8; {advice}", "wide.csv")
        refused(f"{begins} as cp1252; {advice}", "wide.csv --encoding cp1252")


def test_outputs_that_cannot_be_written(here, monkeypatch):
    write_table(here / "news.csv", ROWS)
    refused(
        "--corrected is kept.toml; wanted a name that ends in one of "
        ".csv, .tsv, .jsonl, .ndjson, .json, .parquet, .pq, .arrow$",
        "news.csv --corrected kept.toml",
    )
    refused(
        r"cannot write into .*news.csv .Not a directory.; give another --output",
        "news.csv --output news.csv/inner",
    )
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "pyarrow", None)
        refused(
            r"^news-lops/kept.parquet needs pyarrow, which is not installed; run: pip install ",
            "news.csv --format parquet",
        )
        refused(
            "^clean.pq needs pyarrow, which is not installed; run: pip install ",
            "news.csv --corrected clean.pq",
        )

    def forbidden(dir):
        raise PermissionError(13, "Permission denied", f"{dir}/tmpx1y2")

    monkeypatch.setattr("tempfile.TemporaryFile", forbidden)
    refused(
        rf"^cannot write into {here} .Permission denied.; give another --output$",
        "news.csv --output deep/er",
    )
    refused(
        rf"^cannot write into {here} .Permission denied.; give another --corrected$",
        "news.csv --corrected clean.csv",
    )


def test_names_that_no_file_can_have(here):
    write_table(here / "news.csv", ROWS)
    for name in ("a\0b.csv", "a\ud800b.csv"):
        refused("cannot be the name of a file", name)
        for option in ("--output", "--corrected"):
            refused("cannot be the name of a file", "news.csv", option, name)
    os.symlink("loop", here / "loop")
    os.symlink("loop.csv", here / "loop.csv")
    for option, name in (
        ("--output", "loop"),
        ("--output", "loop/in"),
        ("--corrected", "loop.csv"),
    ):
        with pytest.raises(LopsError, match=f"{option} is {name}, which links to itself"):
            command.main(["news.csv", *OPTIONS, option, name])


def test_inputs_that_cannot_be_read(here, monkeypatch):
    write_table(here / "news.csv", ROWS)

    def forbidden(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    for name in ("open", "is_dir"):
        with monkeypatch.context() as patched:
            patched.setattr(f"pathlib.Path.{name}", forbidden)
            refused("^cannot read news.csv: Permission denied$", "news.csv")


def test_what_is_wrong_with_the_input_is_said_before_the_output(here):
    write_table(here / "news.csv", ROWS)
    (here / "there").mkdir()
    (here / "there" / "thesis.tex").write_text("x")
    for message, more in (
        ("no column 'zzz'", ["--text", "zzz"]),
        ("--encoding is 'klingon'", ["--encoding", "klingon"]),
        ("--delimiter is 'xx'", ["--delimiter", "xx"]),
        ("there already exists", []),
    ):
        with pytest.raises(LopsError, match=message):
            command.main(["news.csv", *OPTIONS, "--output", "there", *more])


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("none.json is .*missing .*No such file.*; --words wants JSON", ["--words", "none.json"]),
        (r"\. is damaged .*; --words wants JSON", ["--words", "."]),
        *(
            (f"{f} is damaged .*; --words wants JSON", ["--words", f])
            for f in ("news.csv", "latin.json", "deep.json", "list.json")
        ),
    ],
)
def test_files_of_words(here, message, options):
    write_table(here / "news.csv", ROWS)
    (here / "latin.json").write_bytes('{"é": ["a"]}'.encode("latin-1"))
    (here / "deep.json").write_text("[" * 100_000)
    (here / "list.json").write_text("[]")
    refused(message, "news.csv", *options)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("--sure is 1.5; wanted a probability", "--sure 1.5"),
        ("--keep is 2.0; wanted 'auto', or a fraction", "--keep 2"),
        ("and --keep is 0.5; leave it out, or use --method learning-order", "--keep 0.5"),
        ("and --every is 3; leave it out", "--every 3"),
        ("leave --per-class out", "--per-class --method released"),
        ("margin has no option '--sure'; leave it out", "--sure 0.9 --method margin"),
        ("--probe is 'linera'; did you mean 'linear'?", "--probe linera"),
        ("--class-shares: found 'a'; wanted a class and a number, as in", "--class-shares a"),
        ("--class-shares: found 'a 5'; wanted a class", "--class-shares twice.txt"),
        ("shares.json is damaged or missing", "--class-shares shares.json"),
        ("automatic has no option '--labelled-by'", "--labelled-by rules --method automatic"),
        ("--words need an encoder, which compares texts with them, and --encoder is none",
         "--words words.json --encoder none"),
    ],
)  # fmt: skip
def test_options_are_named_as_typed(here, capsys, message, options):
    write_table(here / "news.csv", ROWS)
    (here / "words.json").write_text('{"class 0": ["a"], "class 1": ["b"]}')
    (here / "twice.txt").write_text("a 5\n\na 5\n")
    given = ["select", "news.csv", "--text", "text", "--label", "weak", *options.split()]
    assert main(given) == BAD_INPUT
    assert message in capsys.readouterr().err


def test_shares_of_classes_by_hand_and_in_files(here):
    shares = {f"class {code}": float(code) for code in range(400)}
    lines = [f"{name}\t{share}" for name, share in shares.items()]
    (here / "shares.txt").write_text("\n".join(lines))
    (here / "shares.json").write_text(json.dumps(shares))
    for given in (", ".join(lines), "shares.txt", "shares.json"):
        assert class_shares(given) == shares


@pytest.mark.parametrize("option", ["--encoder", "--probe"])
def test_an_encoder_that_does_not_exist_is_refused_before_the_table_is_read(
    here, option, monkeypatch
):
    pytest.importorskip("transformers")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # read once, at import
    (here / "news.csv").write_bytes(b"\x00")  # not even a table
    for encoder, reason in [
        ("no/such-model", "it is not in the cache, and HF_HUB_OFFLINE is set"),
        ("./no/such/folder", "no such folder"),
    ]:
        with pytest.raises(
            LopsError, match=f"cannot load the encoder '{encoder}' .{reason}.; want"
        ):
            command.main(["news.csv", "--text", "text", "--label", "weak", option, encoder])


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("--sure", "auto", "a number"),
        ("--relabel", "sure", "a number"),
        ("--keep", "half", "auto or a number"),
    ],
)
def test_what_is_no_number(option, value, wanted, capsys):
    with pytest.raises(SystemExit):
        main(["select", "a.csv", "--text", "text", "--label", "weak", option, value])
    said = f"argument {option}: found '{value}'; wanted {wanted} such as 0.5\n"
    assert said in capsys.readouterr().err
