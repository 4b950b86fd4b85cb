"""``lops select``: what it writes, what it refuses, and that gold labels change nothing."""

import csv
import json
import os
import re
import signal
import sys

import numpy as np
import pytest

from lops_adapters.cli import select as command
from lops_adapters.cli.main import main
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.formats import files
from lops_adapters.tables import engine

from ..noisy import HEADER, noisy_rows, read_table, write_table
from .selecting import select

pytestmark = pytest.mark.usefixtures("here")
ROWS = noisy_rows()
NO_ENCODER = ["--encoder", "none"]
ADDED = ["lops_confidence", "lops_selected", "lops_suggested"]
OPTIONS = ["--text", "text", "--label", "weak", "--quiet"]


def run(*arguments):
    """Run the command, without an encoder unless one is given."""
    encoder = [] if {"--encoder", "--method"} & set(arguments) else NO_ENCODER
    return command.main([*map(str, arguments), *OPTIONS, *encoder])


def said_by(folder):
    """Return the sentences of the report of news.csv, one a line."""
    page = json.loads((folder / "news-lops" / "summary.json").read_text(encoding="utf-8"))
    return "\n".join([*page["why"], ""])


def original(rows):
    return [[row[name] for name in HEADER] for row in rows]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_every_row_comes_back_unchanged(here, suffix, capsys):
    expected = select(
        [row[1] for row in ROWS], [row[2] for row in ROWS], method="learning-order", keep=0.5
    )
    path = write_table(here / f"news{suffix}", ROWS)
    assert run(path, "--method", "learning-order", "--keep", 0.5) == 0
    folder = here / "news-lops"
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        [
            "config.json",
            *(f"{part}{suffix}" for part in ("kept", "rejected", "relabelled")),
            "report.html",
            "summary.json",
        ]
    )
    kept, rejected = read_table(folder / f"kept{suffix}"), read_table(folder / f"rejected{suffix}")
    assert list(kept[0]) == [*HEADER, "lops_learnt_at", *ADDED]
    assert original(kept) == [ROWS[i] for i in expected.kept]
    assert original(rejected) == [ROWS[i] for i in expected.rejected]
    for rows, positions, yes in (
        (kept, expected.kept, (True, "1")),
        (rejected, expected.rejected, (False, "0")),
    ):
        assert all(row["lops_selected"] in yes for row in rows)
        times = [
            float(row["lops_learnt_at"]) if row["lops_learnt_at"] not in ("", None) else np.inf
            for row in rows
        ]
        assert times == expected.learnt_at[positions].tolist()
        assert [float(row["lops_confidence"]) for row in rows] == pytest.approx(
            expected.confidence[positions], rel=5e-6
        )  # six digits are written
        assert [row["lops_suggested"] for row in rows] == list(
            map(expected.shown_suggestion, positions)
        )
    said = capsys.readouterr().out
    assert expected.summary() in said
    assert re.search(r"\nWritten to news-lops/: kept, rejected, .*, report\.html\n", said)
    assert "\nNext: open news-lops/report.html" in said
    page = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert page["title"].startswith(f"news{suffix}: kept by the ")
    assert page["source"] == f"{path}; texts: text, labels: weak"


def test_what_is_written_beside_the_rows(here):
    path = write_table(here / "news.csv", ROWS)
    known = "--class-shares", "class 0 30", "--labelled-by", "people"
    run(path, "--gold", "true", "--id", "nr", "--seed", 3, *known)
    config = json.loads((here / "news-lops" / "config.json").read_text())
    assert config["framework"] == "select"
    assert config["seed"] == 3
    assert config["settings"]["gold"] == "true"
    assert config["settings"]["method"] == "committee"
    assert config["settings"]["class_shares"] == {"class 0": 30.0}
    assert config["settings"]["labelled_by"] == "people"
    assert config["dataset"]["sha256"] == files.checksums([path])
    assert {"versions", "git_commit", "device", "command", "started"} <= set(config)
    summary = json.loads((here / "news-lops" / "summary.json").read_text())
    wrong = np.mean([row[2] != row[3] for row in ROWS])
    assert summary["noise_before"] == pytest.approx(wrong)
    assert summary["noise_after"] < wrong
    assert {suspect["id"] for suspect in summary["suspects"]} <= {row[0] for row in ROWS}


def test_some_gold_labels_are_enough(here, capsys):
    path = write_table(
        here / "news.csv", [row if i % 2 else [*row[:3], ""] for i, row in enumerate(ROWS)]
    )
    run(path, "--gold", "true")
    wrong = np.mean([row[2] != row[3] for row in ROWS[1::2]])
    said = capsys.readouterr().out
    n = len(ROWS) // 2
    assert f"{n} of {len(ROWS)} rows have a gold label; noise is measured on these." in said
    assert f"\nGold labels of {n} rows: {100 * wrong:.1f} % wrong before, " in said
    summary = json.loads((here / "news-lops" / "summary.json").read_text())
    assert summary["n_gold"] == len(ROWS) // 2
    assert summary["noise_before"] == pytest.approx(wrong)


def test_types_of_parquet_stay(here):
    import datetime

    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(
        {
            "when": [datetime.datetime(2020, 1, 1 + i % 28) for i in range(len(ROWS))],
            "text": [row[1] for row in ROWS],
            "weak": pa.array([int(row[2][-1]) for row in ROWS], type=pa.int8()),
            "tags": [["a", "b"]] * len(ROWS),
        }
    ).replace_schema_metadata({"by": "hand"})
    parquet.write_table(table, here / "typed.parquet")
    run("typed.parquet")
    kept = parquet.read_table(here / "typed-lops" / "kept.parquet")
    assert kept.schema.names == [*table.schema.names, *ADDED]
    for name in table.schema.names:
        assert kept.schema.field(name).type == table.schema.field(name).type
    assert kept.schema.field("lops_suggested").type == pa.int8()
    assert kept.schema.field("lops_selected").type == pa.bool_()
    assert kept.schema.metadata[b"by"] == b"hand"
    given = table.to_pylist()
    assert all(row in given for row in kept.select(table.schema.names).to_pylist())


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (".csv", "jsonl"), (".csv", "parquet"), (".jsonl", "tsv"), (".jsonl", "parquet"),
        (".parquet", "csv"), (".parquet", "jsonl"),
    ],
)  # fmt: skip
def test_formats_can_be_changed(here, given, wanted):
    run(write_table(here / f"news{given}", ROWS), "--format", wanted, "--relabel", "0.5")
    folder = here / "news-lops"
    rows = [*read_table(folder / f"kept.{wanted}"), *read_table(folder / f"rejected.{wanted}")]
    assert sorted(original(rows)) == ROWS
    assert list(rows[0]) == [*HEADER, *ADDED]
    (relabelled, *_) = read_table(folder / f"relabelled.{wanted}")
    assert list(relabelled) == [
        *HEADER,
        *ADDED,
        "lops_given",
        "lops_row",
        "lops_counts",
        "lops_sha256",
    ]
    assert relabelled["weak"] == relabelled["lops_suggested"] != relabelled["lops_given"]


def test_an_output_that_is_there(here):
    path = write_table(here / "news.csv", ROWS)
    run(path)
    before = (here / "news-lops" / "kept.csv").read_bytes()
    with pytest.raises(
        LopsError, match="news-lops already exists; give --force to replace it, or another --output"
    ):
        run(path)
    (here / "news-lops" / "rejected.tsv").write_text("of a run with --format tsv")
    (here / "news-lops" / ".DS_Store").write_text("x")
    run(path, "--force")
    assert (here / "news-lops" / "kept.csv").read_bytes() == before
    assert not (here / "news-lops" / "rejected.tsv").exists()
    (here / "mine").mkdir()
    (here / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(
        LopsError, match="mine was not written by lops select, so --force does not replace it"
    ):
        run(path, "--output", "mine", "--force")
    assert (here / "mine" / "thesis.tex").exists()
    write_table(here / "news-lops" / "kept.tsv", ROWS)
    with pytest.raises(LopsError, match=r"the input .*kept.tsv is in the output folder news-lops"):
        run("news-lops/kept.tsv", "--output", "news-lops", "--force")
    with pytest.raises(LopsError, match=r"news.csv is a file; wanted a folder"):
        run(path, "--output", "news.csv", "--force")
    with pytest.raises(
        LopsError, match="already has a column 'lops_confidence', as written by lops select"
    ):
        run("news-lops/kept.csv", "--output", "again")


def test_what_others_put_into_the_folder_stays(here):
    path = write_table(here / "news.csv", ROWS)
    run(path)
    for name in ("notes.txt", "corrected.csv", "kept.xlsx"):
        mine = here / "news-lops" / name
        mine.write_text("by hand")
        with pytest.raises(
            LopsError,
            match=rf"holds files that lops select did not write \('{name}'\), so --force does not",
        ):
            run(path, "--force")
        assert mine.read_text() == "by hand"
        mine.unlink()
    (here / "news-lops" / "mine").mkdir()
    with pytest.raises(LopsError, match=r"holds files that lops select did not write .'mine'."):
        run(path, "--force")


def test_a_disk_that_is_full(here, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", str(here / ".news-lops.1.tmp"))

    monkeypatch.setattr(engine, "write_pages", full)
    with pytest.raises(LopsError, match=r"^cannot write news-lops: No space left on device$"):
        run(write_table(here / "news.csv", ROWS))
    assert [p.name for p in here.iterdir()] == ["news.csv"]


def test_a_run_that_is_stopped_leaves_nothing(here, monkeypatch, capsys):
    path = write_table(here / "news.csv", ROWS)
    monkeypatch.setattr(engine, "write_pages", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    # programs started in the background ignore the signal
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["select", str(path), *OPTIONS, *NO_ENCODER]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert [p.name for p in here.iterdir()] == ["news.csv"]
    assert "Stopped. No partial output was written." in capsys.readouterr().err


def test_repeated_and_torn_texts(here, capsys):
    rows = [
        *ROWS,
        *ROWS[:3],
        ["x", ROWS[0][1], "class 1" if ROWS[0][2] == "class 0" else "class 0", "class 0"],
    ]
    run(write_table(here / "news.csv", rows))
    said = capsys.readouterr().out
    assert "Same text and same label as an earlier row: 3 rows." in said_by(here)
    line = (here / "news.csv").read_text().count("\n")
    assert (
        f"Problem: Same text as an earlier row, but another label: 1 row (line {line}). At "
        "most one of the labels is right.\n" in said
    )


def test_places_in_several_files_name_the_file(here, capsys):
    good = write_table(here / "good.csv", noisy_rows(n=40, noise=0))
    bad = write_table(here / "bad.csv", [["x", "a text", "", ""], ["y", "another", "", ""]])
    run(good, bad)
    assert "Without a label: 2 rows (lines 2, 3 of " in capsys.readouterr().out
    worse = write_table(here / "worse.csv", [["x", "a text", "", ""]])
    run(good, bad, worse, "--force")
    said = capsys.readouterr().out
    assert "3 rows (lines 2 of " in said
    assert f"bad.csv, 3 of {bad}, 2 of {worse})" in said
    (here / "a.jsonl").write_text('{"text": "a", "weak": 1}\n')
    (here / "b.jsonl").write_text('{"text": "b", "weak": "1"}\n')
    with pytest.raises(
        LopsError, match=r"int .1 in line 1 of a\.jsonl., str .'1' in line 1 of b\.jsonl.; make"
    ):
        run("a.jsonl", "b.jsonl")


def test_other_delimiters_and_encodings(here):
    rows = [[row[0], row[1].replace("common", "é"), *row[2:]] for row in ROWS]
    text = write_table(here / "news.csv", rows).read_text(encoding="utf-8")

    def kept(name, encoding, *more):
        (here / f"{name}.csv").write_bytes(text.encode(encoding))
        run(f"{name}.csv", *more)
        parts = [here / f"{name}-lops" / f"{part}.csv" for part in ("kept", "rejected")]
        return [path.read_bytes() for path in parts]

    expected = kept("news", "utf-8")
    assert kept("cp1252", "cp1252", "--encoding", "cp1252") == expected
    assert kept("marked", "utf-8-sig") == [b"\xef\xbb\xbf" + part for part in expected]
    run("marked.csv", "--format", "jsonl", "--force")
    assert (here / "marked-lops" / "kept.jsonl").read_bytes().startswith(b'{"nr"')
    with (here / "other.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([HEADER, *rows])
    for name in ("\\t", "tab"):
        run("other.csv", "--delimiter", name, "--force")
        head = (here / "other-lops" / "kept.csv").read_text(encoding="utf-8").split("\n")[0]
        assert head == "\t".join([*HEADER, *ADDED])


def test_random_labels_are_all_kept_and_none_is_changed(here):
    """Block by block: a warning, no rejected and no relabelled row."""
    order = np.random.default_rng(0).permutation(len(ROWS)).tolist()
    rows = [[*row[:2], ROWS[i][2], row[3]] for i, row in zip(order, ROWS, strict=True)]
    with pytest.warns(LopsWarning, match="hardly more than by guessing, so all are kept"):
        run(write_table(here / "news.csv", rows), "--probe-rows", "90")
    folder = here / "news-lops"
    assert original(read_table(folder / "kept.csv")) == rows
    for part in ("rejected", "relabelled"):
        path = folder / f"{part}.csv"
        assert not path.exists() or read_table(path) == []
    assert {row["lops_suggested"] == row["weak"] for row in read_table(folder / "kept.csv")} == {
        True
    }


def test_how_sure(here, capsys):
    path = write_table(here / "news.csv", ROWS)
    run(path, "--sure", "0.98")
    expected = select([row[1] for row in ROWS], [row[2] for row in ROWS], sure=0.98)
    assert original(read_table(here / "news-lops" / "kept.csv")) == [ROWS[i] for i in expected.kept]
    assert "right with a probability of at least 0.98." in capsys.readouterr().out
    config = json.loads((here / "news-lops" / "config.json").read_text())
    assert (config["settings"]["sure"], config["settings"]["encoder"]) == (0.98, None)
    unsure = {i for i in expected.rejected.tolist() if expected.suggested[i] == ROWS[i][2]}
    assert unsure  # a rejected label that is the most probable one is not suggested
    for file, number, suggested in [
        ("rejected", lambda row: int(row["nr"]), "lops_suggested"),
        ("to_check", lambda row: int(row["row"]) - 1, "suggested"),
    ]:
        rows = {number(row): row for row in read_table(here / "news-lops" / f"{file}.csv")}
        said = {i for i, row in rows.items() if row[suggested] == "unsure"}
        assert said == unsure & set(rows)


def test_without_the_libraries_of_an_encoder(here, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    path = write_table(here / "news.csv", ROWS)
    assert main(["select", str(path), *OPTIONS]) == 0
    assert "neighbours by LSA, neighbours and logistic regression on static.\n" in said_by(here)
    assert main(["select", str(path), *OPTIONS, "--encoder", "minilm", "--output", "new"]) == 2
    said = capsys.readouterr().err
    assert "error: The encoder minilm needs PyTorch, which is not installed; run: pip ins" in said
    assert not (here / "new").exists()


def test_an_error_of_reading_is_not_reported_as_one_of_writing(here, monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError(2, "No such file or directory", "/elsewhere/table.npy")

    monkeypatch.setattr(engine, "survey_of", missing)
    with pytest.raises(LopsError, match=r"^/elsewhere/table\.npy: No such file or directory$"):
        run(write_table(here / "news.csv", ROWS))
