"""Tables with more rows than ``--probe-rows``: read twice, scored block by block."""

import json
import re
import sys
from collections import Counter

import pytest

from lops_adapters.core import LopsError
from lops_adapters.formats import base, files
from lops_adapters.tables import engine, sample

from ..noisy import HEADER, noisy_rows, read_table, write_table
from .selecting import run

ROWS = noisy_rows(n=240, k=3)
CODES = [[*row[:2], row[2][-1], row[3][-1]] for row in ROWS]
PARTS = ("kept", "rejected", "relabelled")


@pytest.fixture(autouse=True)
def small_blocks(here, monkeypatch):
    monkeypatch.setattr(base, "BLOCK_ROWS", 50)


DIGEST = re.compile(rb"[0-9a-f]{64}")  # of the files, which differ


def files_of(folder, parts=PARTS):
    """The bytes of files, without the checksum of the table, which is of one or of several."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    sha256 = files.fingerprint(config["dataset"]["sha256"]).encode()
    found = {part: next(folder.glob(f"{part}.*")).read_bytes() for part in parts}
    return {part: content.replace(sha256, b"") for part, content in found.items()}


def streamed_whole(monkeypatch):
    """Take the path of large tables also where the sample is the table."""
    monkeypatch.setattr(engine, "IN_MEMORY", 0)
    monkeypatch.setattr(sample.Sample, "is_whole", False)


SETTINGS = [
    (".csv", ["--sure", "0.8", "--seed", "3"]),
    (".parquet", ["--per-class"]),
    (".tsv", ["--class-shares", "class 0 30", "--labelled-by", "rules"]),
    (".jsonl", []),
]


@pytest.mark.parametrize(("suffix", "more"), SETTINGS)
def test_a_sample_as_large_as_the_table_changes_nothing(here, suffix, more, monkeypatch):
    copied = [*ROWS, *([f"again{i}", *row[1:]] for i, row in enumerate(ROWS[:40]))]
    rows = [[*row[:2], "" if i % 9 == 1 else row[2], row[3]] for i, row in enumerate(copied)]
    path = write_table(here / f"news{suffix}", rows)
    run(path, "--gold", "true", "--output", "all", *more)
    streamed_whole(monkeypatch)
    run(path, "--gold", "true", "--output", "blocks", *more)
    parts = (*PARTS, "abstained")
    assert files_of(here / "all", parts) == files_of(here / "blocks", parts)
    one, other = (json.loads((here / f / "summary.json").read_text()) for f in ("all", "blocks"))
    for name in ("n_rows", "n_kept", "n_gold", "noise_before", "noise_after", "thresholds"):
        assert one[name] == other[name], name
    assert one["classes"] == other["classes"]
    assert [row["row"] for row in one["suspects"]] == [row["row"] for row in other["suspects"]]


def test_rows_outside_the_sample(here, capsys):
    path = write_table(here / "news.csv", ROWS)
    run(path, "--gold", "true", "--probe-rows", 90, "--output", "some")
    printed = capsys.readouterr().out
    assert "Fitted to a sample of 90 of 240 rows, with every class" in printed
    kept, rejected = (read_table(here / "some" / f"{part}.csv") for part in ("kept", "rejected"))
    (pairs,) = [line for line in printed.splitlines() if line.startswith("Often confused")]
    moved = Counter(f"{row['weak']} -> {row['lops_suggested']}" for row in rejected)
    for pair, rows in moved.most_common(1):
        assert f"{pair} ({rows})" in pairs  # of all rows, not of the sample
    wrong = {row["nr"] for row in kept if row["weak"] != row["true"]}
    assert len(kept) + len(rejected) == 240
    assert len(wrong) < 0.05 * len(kept)
    assert re.search(rf"^all +240 +{len(kept)} ", printed, re.M)
    page = json.loads((here / "some" / "summary.json").read_text())
    assert (page["n_rows"], page["n_kept"], page["n_gold"]) == (240, len(kept), 240)
    assert page["noise_after"] == len(wrong) / len(kept)
    assert len(page["suspects"]) == 90
    config = json.loads((here / "some" / "config.json").read_text())
    assert config["settings"]["probe_rows"] == 90
    assert config["dataset"]["documents"] == config["dataset"]["rows"] == 240


def test_blocks_and_files_change_no_row(here, monkeypatch):
    whole = write_table(here / "whole.csv", ROWS)
    run(whole, "--probe-rows", 90, "--output", "one")
    for i in range(6):
        write_table(here / f"part-{i}.csv", ROWS[40 * i : 40 * i + 40])
    monkeypatch.setattr(base, "BLOCK_ROWS", 7)
    run("part-*.csv", "--probe-rows", 90, "--output", "many")
    one, many = (
        {name: DIGEST.sub(b"", content) for name, content in files_of(here / run_).items()}
        for run_ in ("one", "many")
    )
    assert one == many


@pytest.mark.parametrize("more", [[], ["--probe-rows", "40"], ["--relabel", "1"]])
def test_parquet_of_few_rows(here, more):
    """Some parts have no rows to write."""
    run(write_table(here / "news.csv", ROWS[:80]), "--format", "parquet", *more)
    found = {part: read_table(here / "news-lops" / f"{part}.parquet") for part in PARTS}
    assert sorted(row["nr"] for part in PARTS[:2] for row in found[part]) == [
        row[0] for row in ROWS[:80]
    ]
    assert len(found["relabelled"]) < len(found["rejected"])


def test_quoted_line_breaks_do_not_make_a_table_large(here, capsys):
    """240 rows on 300 lines."""
    path = write_table(here / "news.csv", ROWS)
    run(path, "--probe-rows", 250)
    assert "sample" not in capsys.readouterr().out


@pytest.mark.parametrize("more", [["--method", "automatic"], ["--method", "margin"]])
def test_what_needs_all_rows_at_once(here, more, capsys):
    path = write_table(here / "news.csv", ROWS)
    run(path, *more, "--probe-rows", 90)
    assert "sample" not in capsys.readouterr().out


def test_what_is_refused(here):
    path = write_table(here / "news.csv", ROWS)
    with pytest.raises(LopsError, match="--probe-rows is 29 for 3 classes; wanted at least 30"):
        run(path, "--probe-rows", 29)
    with pytest.raises(LopsError, match="--probe-rows is 0; wanted at least 1"):
        run(path, "--probe-rows", 0)
    rows = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    rows[200]["weak"], rows[100]["text"] = 1, 5
    odd = here / "odd.jsonl"
    odd.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(LopsError, match=r"odd.jsonl, line 101: the text is 5 \(int\)"):
        run(odd, "--probe-rows", 90)
    rows[100]["text"] = None
    odd.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(LopsError, match=r"int \(1 in line 201\)"):
        run(odd, "--probe-rows", 90)
    assert [path for path in here.iterdir() if path.is_dir()] == []


def test_an_input_that_changes_between_the_passes(here, monkeypatch):
    path = write_table(here / "news.csv", ROWS)
    usual = engine.write_parts

    def then(*arguments, **settings):
        path.write_text(path.read_text() + "x,y,class 0,class 0\n")
        return usual(*arguments, **settings)

    monkeypatch.setattr(engine, "IN_MEMORY", 0)
    monkeypatch.setattr(engine, "write_parts", then)
    with pytest.raises(LopsError, match=r"the input changed during the run \(.*news.csv\)"):
        run(path, "--probe-rows", 90)
    assert not (here / "news-lops").exists()


def test_without_ray(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    path = write_table(here / "news.csv", ROWS)
    wanted = r"--engine ray needs Ray, .* run: pip install 'lops_adapters\[ray\]'"
    with pytest.raises(LopsError, match=wanted):
        run(path, "--engine", "ray")
    assert [found.name for found in here.iterdir()] == ["news.csv"]
