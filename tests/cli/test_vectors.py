"""``lops select`` with vectors and soft labels of one's own, and with weights."""

import json

import numpy as np
import pytest

import lops_adapters
from lops_adapters.cli import select as command
from lops_adapters.core import LopsError

from ..noisy import HEADER, noisy_rows, read_table, write_table
from .selecting import select

pytestmark = pytest.mark.usefixtures("here")
ROWS = noisy_rows()
CODES = [int(row[2][-1]) for row in ROWS]
GOLD = [int(row[3][-1]) for row in ROWS]
VECTORS = (np.random.default_rng(0).normal(size=(120, 5)) + 4 * np.eye(5)[GOLD]).round(3)


def run(*arguments):
    return command.main([*map(str, arguments), "--quiet"])


def kept(folder="news-lops", suffix=".csv"):
    return read_table(command.Path(folder) / f"kept{suffix}")


LABEL = ["--label", "weak"]
TEXT = ["--text", "text"]


def refused(message, *arguments):
    with pytest.raises(LopsError, match=message):
        run(*arguments)


@pytest.mark.parametrize(
    ("suffix", "text"), [(".csv", TEXT), (".csv", []), (".jsonl", TEXT), (".parquet", TEXT)]
)
def test_an_npy_file(here, suffix, text):
    rows = [[*row[:2], "" if i == 4 else row[2], row[3]] for i, row in enumerate(ROWS)]
    labels = [row[2] for row in rows]
    np.save("vectors.npy", VECTORS)
    run(write_table(here / f"news{suffix}", rows), *text, *LABEL, "--embeddings", "vectors.npy")
    expected = lops_adapters.select(None, labels, embeddings=VECTORS)
    assert [row["nr"] for row in kept(suffix=suffix)] == [ROWS[i][0] for i in expected.kept]
    summary = json.loads((here / "news-lops" / "summary.json").read_text())
    first = summary["suspects"][0]
    assert first["text"] == (ROWS[first["row"] - 1][1] if text else f"(row {first['row']})")
    config = json.loads((here / "news-lops" / "config.json").read_text())
    assert "vectors.npy" in config["dataset"]["sha256"]
    assert "vectors: vectors.npy" in summary["source"]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_column_of_lists(here, suffix):
    path = here / f"news{suffix}"
    as_list = [row.tolist() for row in VECTORS]
    if suffix == ".csv":
        as_list = [json.dumps(row) for row in as_list]
    write_table(
        path, [[*row, own] for row, own in zip(ROWS, as_list, strict=True)], [*HEADER, "vector"]
    )
    run(path, *TEXT, *LABEL, "--embeddings", "vector")
    expected = lops_adapters.select(None, [row[2] for row in ROWS], embeddings=VECTORS)
    assert [row["nr"] for row in kept(suffix=suffix)] == [ROWS[i][0] for i in expected.kept]


def test_vectors_that_cannot_be_used(here):
    write_table(here / "news.csv", ROWS)
    given = ["news.csv", *TEXT, *LABEL, "--embeddings"]
    np.save("short.npy", VECTORS[:100])
    np.save("flat.npy", VECTORS[:, 0])
    np.save("words.npy", np.full((120, 2), "a"))
    np.save("objects.npy", np.array([{}] * 120), allow_pickle=True)
    np.save("long.npy", np.concatenate([VECTORS, VECTORS]))
    (here / "text.npy").write_text("1,2,3")
    whole = (here / "short.npy").read_bytes()
    (here / "empty.npy").write_bytes(b"")
    (here / "zip.npy").write_bytes(b"PK\x03\x04" + whole)
    (here / "cut.npy").write_bytes(whole[:100])
    (here / "huge.npy").write_bytes(whole.replace(b"(100, ", b"(9**9,"))
    (here / "head.npy").write_bytes(whole.replace(b"{", b"("))
    for name, message in (
        ("none.npy", "--embeddings none.npy: no such file; wanted an .npy file or a column"),
        ("short.npy", "embeddings short.npy has 100 rows, and the table 120; wanted one per row"),
        ("flat.npy", r"embeddings flat.npy holds float64 of shape \(120,\); wanted a matrix"),
        ("words.npy", "wanted a matrix of numbers"),
        ("objects.npy", "embeddings objects.npy cannot be read"),
        ("text.npy", "embeddings text.npy cannot be read"),
        ("long.npy", "embeddings long.npy has 240 rows, and the table 120; wanted one per row"),
        *((f"{n}.npy", f"{n}.npy cannot be read") for n in ("empty", "zip", "cut", "huge", "head")),
        ("vector", "no column 'vector'"),
        ("text", "embeddings text, line 2: found 'topic.*; wanted a list of numbers"),
    ):
        refused(message, *given, name)
    for last, shown in (([1.0], r"\[1.0\]"), ([1.0, 10**400], r"\[1.0, 1000.*")):
        rows = [[str(i), f"c{i % 2}", [1.0, 2.0]] for i in range(3)]
        rows.append(["3", "c1", last])
        path = write_table(here / "odd.jsonl", rows, ["text", "weak", "vector"])
        wanted = "wanted 2 numbers, as in line 1"
        message = f"embeddings vector, line 4: found {shown}; {wanted}"
        refused(message, path, *TEXT, *LABEL, "--embeddings", "vector")
    refused("--text is missing; wanted a column of texts, or --embeddings", "news.csv", *LABEL)
    assert not list(here.glob("*-lops"))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_soft_labels_a_column_per_class(here, suffix):
    soft = [[*(1.0 if code == c else 0.25 for c in (0, 1))] for code in CODES]
    soft[6] = [0.5, 0.5]
    rows = [
        [row[0], row[1], *map(str if suffix == ".csv" else float, own)]
        for row, own in zip(ROWS, soft, strict=True)
    ]
    path = write_table(here / f"news{suffix}", rows, ["nr", "text", "class 0", "class 1"])
    columns = ["--soft-labels", "class 0", "--soft-labels", "class 1"]
    run(path, *TEXT, *columns, "--encoder", "none")
    labels = [None if i == 6 else row[2] for i, row in enumerate(ROWS)]
    expected = select([row[1] for row in ROWS], labels)
    found = kept(suffix=suffix)
    assert [row["nr"] for row in found] == [ROWS[i][0] for i in expected.kept]
    assert [row["lops_label"] for row in found] == [labels[i] for i in expected.kept]
    weights = [float(row["lops_confidence"]) for row in found]
    assert weights == pytest.approx(expected.sample_weight[expected.kept], rel=5e-6)
    other = read_table(here / "news-lops" / f"relabelled{suffix}")
    assert [row["lops_label"] for row in other] == [row["lops_suggested"] for row in other]
    assert all(row["lops_label"] != row["lops_given"] for row in other)
    assert len(read_table(here / "news-lops" / f"abstained{suffix}")) == 1
    text = (here / "news-lops" / "summary.json").read_text()
    assert "Without a largest soft label: 1 row (" in text


def test_soft_labels_that_cannot_be_used(here):
    write_table(here / "news.csv", [[*row, "1"] for row in ROWS], [*HEADER, "votes"])
    soft = ["--soft-labels", "votes"]
    given = ["news.csv", *TEXT, *soft]
    refused("found --label and --soft-labels; give one", *given, *LABEL)
    refused("found neither --label, --labels nor --soft-labels", "news.csv", *TEXT)
    refused("--soft-labels votes, line 2: found 1; wanted a list or an object", *given)
    wanted = "found 'class [01]' for the class 'weak'; wanted a number"
    refused(wanted, *given, "--soft-labels", "weak")
    refused("the 120 rows has a largest soft label: all are ties", *given, *soft)
    refused("no column 'vote'", "news.csv", *TEXT, "--soft-labels", "vote")
