"""``--engine ray``: the rows of the engine in this process, whatever is lost on the way."""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.cli import select as command
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.formats.readers import open_table
from lops_adapters.labels.columns import Columns
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.scale import engine
from lops_adapters.scale.cluster import got
from lops_adapters.tables.survey import survey_of

from ..connections import recorded, remote_peers
from ..noisy import HEADER, noisy_rows, read_table, write_table

OPTIONS = ["--text", "text", "--label", "weak", "--gold", "true"]
ROWS = noisy_rows(n=240, k=3)
COPIED = [*ROWS, *([f"again{i}", *row[1:]] for i, row in enumerate(ROWS[:60]))]
PARTS = ("kept", "rejected", "relabelled")


@pytest.fixture(autouse=True)
def here(ray, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return tmp_path


def run(*arguments, encoder=("--encoder", "none")):
    return command.main([*map(str, arguments), *OPTIONS, *encoder])


def run_on_ray(*arguments, encoder=("--encoder", "none")):
    return run(*arguments, "--engine", "ray", encoder=encoder)


def write_parts(folder, rows, count, suffix):
    folder.mkdir(exist_ok=True)
    for number, at in enumerate(np.array_split(np.arange(len(rows)), count)):
        write_table(folder / f"{number:02d}{suffix}", [rows[i] for i in at])


def rows_of(folder, suffix):
    """All cells of kept, rejected and relabelled rows; Ray reads no checksums."""
    found = {}
    for part in PARTS:
        single = folder / f"{part}{suffix}"
        paths = [single] if single.exists() else sorted((folder / part).glob(f"*{suffix}"))
        found[part] = [row for path in paths for row in read_table(path)]
        for row in found[part]:
            row.pop("lops_sha256", None)
    return found


def same(one, other):
    """Pages of the same table, in one file or several."""
    one, other = (json.loads((Path(f) / "summary.json").read_text()) for f in (one, other))
    for name in ("n_rows", "n_kept", "n_gold", "noise_after", "classes", "thresholds"):
        assert one[name] == other[name], name
    assert [row["row"] for row in one["suspects"]] == [row["row"] for row in other["suspects"]]


@pytest.mark.parametrize(("count", "suffix"), [(1, ".parquet"), (3, ".csv"), (17, ".jsonl")])
def test_a_sample_as_large_as_the_table(here, count, suffix):
    """Also of copies, whose verdicts differ by fold."""
    write_table(here / f"whole{suffix}", COPIED)
    write_parts(here / "parts", COPIED, count, suffix)
    run(f"whole{suffix}", "--quiet")
    run_on_ray(f"parts/*{suffix}", "--output", "out", "--quiet")
    assert rows_of(here / "out", suffix) == rows_of(here / "whole-lops", suffix)
    same(here / "out", here / "whole-lops")
    assert sorted(path.name for path in here.iterdir()) == sorted(
        ["out", "parts", f"whole{suffix}", "whole-lops"]
    )


@pytest.mark.parametrize("count", [1, 17])
def test_rows_outside_the_sample(here, count, capsys):
    write_table(here / "whole.csv", COPIED)
    write_parts(here / "parts", COPIED, count, ".csv")
    run("whole.csv", "--probe-rows", 90, "--sure", "0.8", "--quiet")
    run_on_ray("parts/*.csv", "--output", "out", "--probe-rows", 90, "--sure", "0.8")
    assert rows_of(here / "out", ".csv") == rows_of(here / "whole-lops", ".csv")
    same(here / "out", here / "whole-lops")
    said, shown = capsys.readouterr().err, json.loads((here / "out" / "config.json").read_text())
    assert [line.split(",")[0] for line in said.splitlines()] == ["count", "draw", "fit", "score"]
    assert f"count, {count} part" in said
    assert shown["settings"]["probe_rows"] == 90
    assert len(shown["dataset"]["bytes"]) == count


def test_checked_rows_outside_the_sample(here, capsys):
    """From a file and from a column, in parts of the table that begin at any row."""
    rows = [[*row, row[3] if i in (150, 299) else ""] for i, row in enumerate(COPIED)]
    write_table(here / "whole.csv", rows, [*HEADER, "seen"])
    (here / "parts").mkdir()
    for number, at in enumerate(np.array_split(np.arange(len(rows)), 3)):
        write_table(here / f"parts/{number}.csv", [rows[i] for i in at], [*HEADER, "seen"])
    given = [f"{i},{row[3]}" for i, row in enumerate(ROWS[:60], 1)]
    (here / "given.csv").write_text("\n".join(["row,label", *given, "100,-", ""]))
    checks = ("--checked", "given.csv", "--checked-column", "seen", "--probe-rows", 90, "--quiet")
    run("whole.csv", *checks)
    run_on_ray("parts/*.csv", "--output", "out", *checks)
    assert capsys.readouterr().out.count(" wrong, by 63 checked rows") == 2
    found = rows_of(here / "out", ".csv")
    assert found == rows_of(here / "whole-lops", ".csv")
    kept = {row["nr"]: row["weak"] for row in found["kept"]}
    checked = [*range(60), 150, 299]
    assert [kept[COPIED[i][0]] for i in checked] == [COPIED[i][3] for i in checked]
    assert COPIED[99][0] not in kept


def test_rows_without_a_label(here):
    """-1 among codes; it is known only after all parts that -1 is no class."""
    rows = [
        [*row[:2], "-1" if i % 3 == 1 or i < 20 else row[2][-1], row[3][-1]]
        for i, row in enumerate(ROWS)
    ]
    write_table(here / "whole.csv", rows)
    write_parts(here / "parts", rows, 12, ".csv")
    run("whole.csv", "--probe-rows", 90, "--quiet")
    run_on_ray("parts/*.csv", "--output", "out", "--probe-rows", 90, "--quiet")
    for part in ("kept", "rejected", "abstained"):
        found = [r for p in sorted((here / "out" / part).iterdir()) for r in read_table(p)]
        assert found == read_table(here / "whole-lops" / f"{part}.csv")


@pytest.mark.parametrize("more", [[], ["--probe-rows", 120]])
def test_the_engines_agree_with_an_encoder(here, tiny, more, monkeypatch, capsys):
    def narrow(_, **more):
        return EmbeddingProbe(tiny, max_tokens=16, precision="float32", **more)

    monkeypatch.setattr("lops_adapters.selection.committee.committee.EmbeddingProbe", narrow)
    monkeypatch.setattr("lops_adapters.extras.require", lambda *_: None)
    write_table(here / "whole.csv", COPIED)
    write_parts(here / "parts", COPIED, 3, ".csv")
    run("whole.csv", *more, "--quiet", encoder=("--encoder", "minilm"))
    before = capsys.readouterr().out
    run_on_ray("parts/*.csv", "--output", "out", *more, "--quiet", encoder=("--encoder", "minilm"))
    printed = capsys.readouterr().out
    assert ", regression " in (here / "whole-lops" / "report.html").read_text()
    assert (
        printed.partition("\nWritten to")[0].partition(": ")[2]
        == (before.partition("\nWritten to")[0].partition(": ")[2])
    )
    found, expected = (rows_of(here / folder, ".csv") for folder in ("out", "whole-lops"))
    for part in PARTS:
        assert [row["nr"] for row in found[part]] == [row["nr"] for row in expected[part]]
        for one, other in zip(found[part], expected[part], strict=True):
            assert float(one["lops_confidence"]) == pytest.approx(
                float(other["lops_confidence"]), abs=0.01
            )


def dies_once(part, boxed, folder, kind):
    """Score, but the first worker at this part is killed when it has begun to write."""
    sign = Path(folder).parent / "died"
    if part.number == 1 and not sign.exists():
        sign.touch()
        (Path(folder) / "kept" / "part-00001.csv").write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
    return write(part, boxed, folder, kind)


write = engine._write


def test_votes_and_a_worker_that_is_killed(here, monkeypatch):
    """Three sources, one of which abstains often; most rows are outside the sample."""
    rng, rows = np.random.default_rng(0), []
    for number, text, _, gold in ROWS:
        votes = [gold if rng.random() < share else "class 0" for share in (0.9, 0.7, 0.5)]
        votes[2] = votes[2] if rng.random() < 0.4 else ""
        rows.append([number, text, *(votes if number != ROWS[7][0] else [""] * 3), gold])
    header = ["nr", "text", "a", "b", "c", "true"]
    write_table(here / "whole.csv", rows, header)
    (here / "parts").mkdir()
    for number, at in enumerate(np.array_split(np.arange(len(rows)), 3)):
        write_table(here / f"parts/{number}.csv", [rows[i] for i in at], header)
    options = ["--text", "text", "--labels", "a,b,c", "--gold", "true", "--probe-rows", "100"]
    options += ["--encoder", "none", "--quiet"]
    assert command.main(["whole.csv", *options]) == 0
    monkeypatch.setattr(engine, "_write", dies_once)
    assert command.main(["parts/*.csv", *options, "--engine", "ray", "--output", "out"]) == 0
    assert (here / "died").exists()
    assert rows_of(here / "out", ".csv") == rows_of(here / "whole-lops", ".csv")
    sources = [(here / place / "sources.csv").read_text() for place in ("out", "whole-lops")]
    assert sources[0] == sources[1]
    unvoted = [row for path in (here / "out/abstained").iterdir() for row in read_table(path)]
    assert [row["nr"] for row in unvoted] == [ROWS[7][0]]
    assert unvoted[0]["lops_suggested"].startswith("class")


def test_parquet_from_parts_without_rows_to_write(here):
    """No part has a row that is relabelled, and one has no rejected row."""
    write_parts(here / "parts", ROWS[:80], 3, ".jsonl")
    run_on_ray("parts/*.jsonl", "--output", "out", "--format", "parquet", "--quiet")
    found = rows_of(here / "out", ".parquet")
    assert len(found["kept"]) + len(found["rejected"]) == 80


def test_a_bad_row_is_named(here):
    rows = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    rows[130]["text"] = 5
    for number in range(3):
        own = rows[80 * number : 80 * number + 80]
        text = "".join(json.dumps(row) + "\n" for row in own)
        (here / f"{number}.jsonl").write_text(text)
    with pytest.raises(LopsError, match=r"/1.jsonl, line 51: the text is 5 .*check --text"):
        run_on_ray("?.jsonl", "--output", "out", "--quiet")
    assert not (here / "out").exists()


def test_parts_of_a_parquet_file(here):
    import pyarrow as pa
    from pyarrow import parquet

    texts = pa.array([row[1] for row in ROWS[:199]] + [None])
    table = pa.table({"text": texts, "weak": [[row[2]] if i < 160 else ["a", "b"] for i, row in
                                              enumerate(ROWS[:200])]})  # fmt: skip
    parquet.write_table(table, here / "odd.parquet", row_group_size=40)
    found = open_table([Path("odd.parquet")]).parts(70)
    assert [part.start.part for part in found] == [
        ((0, 1), 0), ((2, 3), 80), ((4,), 160)
    ]  # fmt: skip
    assert sum(len(block) for part in found for block in part.blocks()) == 200
    with pytest.raises(LopsError, match=r"odd.parquet, row 161: the label is \['a', 'b'\]"):
        survey_of(found[2], Columns("text", "weak"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--method", "automatic"], "ray runs the committee, and the method is automatic"),
        (
            ["--method", "learning-order", "--keep", "0.5"],
            "ray runs the committee, and the method is learning-order",
        ),
        (["--probe", "minilm"], "trains the linear probe, and --probe is minilm"),
        (["--corrected", "c.csv"], "writes folders of files, and --corrected is c.csv"),
    ],
)
def test_what_needs_the_other_engine(here, more, message):
    path = write_table(here / "news.csv", ROWS)
    with pytest.raises(LopsError, match=message):
        run_on_ray(path, "--output", "out", *more)


def test_an_address_needs_the_engine(here):
    path = write_table(here / "news.csv", ROWS)
    with pytest.raises(LopsError, match="--address is here without --engine ray"):
        run(path, "--address", "here")


def test_warnings_of_the_fit_arrive(here):
    order = np.random.default_rng(0).permutation(240).tolist()
    rows = [[*row[:2], ROWS[i][2], row[3]] for i, row in zip(order, ROWS, strict=True)]
    write_table(here / "news.csv", rows)
    with pytest.warns(LopsWarning, match="hardly more than by guessing, so all are kept"):
        run_on_ray("news.csv", "--quiet")


def test_a_worker_that_is_lost_every_time(ray):
    task = ray.remote(max_retries=0)(lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(LopsError, match="a worker was lost several times"):
        got(ray, task.remote())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_connection_leaves_this_machine(here):
    write_parts(here / "parts", ROWS, 2, ".csv")
    with recorded() as found:
        assert run_on_ray("parts") == 0
    assert found == []
    assert remote_peers(os.getpid()) == set()  # Ray's own processes included
