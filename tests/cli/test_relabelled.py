"""``relabelled.csv`` of ``lops select``: rejected rows with the suggested label."""

import csv
import json
from functools import cache

import numpy as np
import pytest

from lops_adapters.core import LopsError

from ..noisy import HEADER, noisy_rows, read_table, write_table
from .selecting import run, select

pytestmark = pytest.mark.usefixtures("here")
ROWS = noisy_rows(n=240, k=3, noise=0.2)
COLUMNS = ["lops_confidence", "lops_selected", "lops_suggested", "lops_given", "lops_row"]
COLUMNS += ["lops_counts", "lops_sha256"]


@cache
def selected(method):
    return select([row[1] for row in ROWS], [row[2] for row in ROWS], method=method)


def expected(least=0.6, method="committee"):
    found = selected(method)
    return [
        (i, found.suggested[i])
        for i in found.rejected.tolist()
        if found.suggested[i] != ROWS[i][2] and found.suggested_probability[i] >= least
    ]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_rejected_rows_with_the_suggested_label(here, suffix, capsys):
    wanted = expected()
    assert 10 < len(wanted) < 60
    run(write_table(here / f"news{suffix}", ROWS), "--relabel", 0.6)
    found = read_table(here / "news-lops" / f"relabelled{suffix}")
    assert list(found[0]) == [*HEADER, *COLUMNS]
    before = [[*ROWS[i][:2], label, ROWS[i][3]] for i, label in wanted]
    assert [[row[name] for name in HEADER] for row in found] == before
    assert [row["lops_given"] for row in found] == [ROWS[i][2] for i, _ in wanted]
    assert [row["lops_suggested"] for row in found] == [label for _, label in wanted]
    rejected = {row["nr"] for row in read_table(here / "news-lops" / f"rejected{suffix}")}
    assert {row["nr"] for row in found} < rejected
    assert (
        f"Written to news-lops/: kept, rejected, relabelled ({len(wanted)}), "
        in capsys.readouterr().out
    )
    assert sum(row[0] == row[1] for row in ((ROWS[i][3], label) for i, label in wanted)) > (
        0.9 * len(wanted)
    )  # most suggestions are right


@pytest.mark.parametrize("least", [0.5, 1])
def test_how_probable_it_must_be(here, least, capsys):
    wanted = expected(least=least)
    run(write_table(here / "news.csv", ROWS), "--relabel", least)
    found = read_table(here / "news-lops" / "relabelled.csv")
    assert [row["nr"] for row in found] == [ROWS[i][0] for i, _ in wanted]
    config = json.loads((here / "news-lops" / "config.json").read_text())
    assert config["settings"]["relabel"] == least
    if not wanted:
        assert "relabelled (0)" in capsys.readouterr().out


@pytest.mark.slow
def test_types_of_parquet_stay(here):
    import pyarrow as pa
    from pyarrow import parquet

    labels = [int(row[2][-1]) for row in ROWS]
    texts = [row[1] for row in ROWS]
    for name, column in (
        ("integers", pa.array(labels, type=pa.int8())),
        ("names", pa.array([row[2] for row in ROWS]).dictionary_encode()),
        ("small", pa.array([row[2] for row in ROWS], pa.dictionary(pa.int8(), pa.string()))),
        ("large", pa.array([row[2] for row in ROWS], pa.large_string())),
    ):
        path = here / f"{name}.parquet"
        parquet.write_table(pa.table({"text": texts, "weak": column}), path)
        run(path, "--relabel", 0.6)
        found = parquet.read_table(here / f"{name}-lops" / "relabelled.parquet")
        assert found.schema.field("weak").type == column.type
        plain = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        assert found.schema.field("lops_given").type == plain
        assert [str(value)[-1] for value in found["weak"].to_pylist()] == [
            label[-1] for _, label in expected()
        ]
        assert [str(value)[-1] for value in found["lops_given"].to_pylist()] == [
            ROWS[i][2][-1] for i, _ in expected()
        ]


def test_json_keeps_every_other_byte(here):
    lines = [
        f'{{"n": 1.50, "weak" :{int(row[2][-1])} , "text": {json.dumps(row[1])}, '
        f'"in": {{"weak": 1}}, "é": 12345678901234567890}}'
        for row in ROWS
    ]
    (here / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    run("rows.jsonl", "--relabel", 0.6)
    found = (here / "rows-lops" / "relabelled.jsonl").read_text(encoding="utf-8").splitlines()
    heads = [line.split(', "lops_confidence"')[0] + "}" for line in found]
    assert heads == [
        lines[i].replace(f'"weak" :{ROWS[i][2][-1]} ,', f'"weak" :{label[-1]} ,')
        for i, label in expected()
    ]
    assert {type(json.loads(line)["lops_given"]) for line in found} == {int}


def test_other_methods_relabel_too(here):
    run(write_table(here / "news.csv", ROWS), "--method", "automatic", "--relabel", 0.4)
    found = read_table(here / "news-lops" / "relabelled.csv")
    wanted = expected(least=0.4, method="automatic")
    assert [row["nr"] for row in found] == [ROWS[i][0] for i, _ in wanted]
    assert wanted


@pytest.mark.parametrize("least", ["0", "-1", "1.01", "nan"])
def test_what_is_no_probability(here, least):
    write_table(here / "news.csv", ROWS)
    with pytest.raises(
        LopsError, match=r"--relabel is .*; wanted a probability above 0 and at most"
    ):
        run("news.csv", "--relabel", least)
    assert not (here / "news-lops").exists()


def test_what_to_train_on_is_one_file(here):
    """Every row with its most probable label, weighted by the probability of that label."""
    checked = {0: ROWS[0][3], 5: "-"}
    lines = ["row,checked", *(f"{row + 1},{label}" for row, label in checked.items())]
    (here / "checked.csv").write_text("\n".join(lines) + "\n")
    run(write_table(here / "news.csv", ROWS), "--checked", "checked.csv")
    texts, labels = [row[1] for row in ROWS], [row[2] for row in ROWS]
    found = select(texts, labels, checked={0: ROWS[0][3], 5: None})
    with (here / "news-lops" / "train.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["text", "label", "weight"]
    known = [i for i in range(len(ROWS)) if i != 5]  # a row of no class is not trained on
    assert [row[0] for row in rows] == [texts[i] for i in known]
    assert [row[1] for row in rows] == [found.corrected[i] for i in known]
    np.testing.assert_allclose([float(row[2]) for row in rows], found.weights[known], rtol=1e-4)
    assert rows[0][1:] == [ROWS[0][3], "1"]
    assert (found.corrected != np.array(labels, dtype=object)).sum() > 10
    assert found.weights[5] == 0


def test_other_methods_have_no_weights_to_train_with(here):
    run(write_table(here / "news.csv", ROWS), "--method", "automatic")
    assert not (here / "news-lops" / "train.csv").exists()
