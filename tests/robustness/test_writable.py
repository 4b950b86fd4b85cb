"""What cannot be written is repaired, or refused before any training."""

import json

import pytest

from lops_adapters.cli import select as command
from lops_adapters.core import LopsError
from lops_adapters.tables import fit

from ..noisy import noisy_texts, read_table

TEXTS, WEAK, _ = noisy_texts(n=40)
OPTIONS = ["--text", "text", "--label", "weak", "--probe", "linear", "--encoder", "none", "--quiet"]


def written(folder):
    names = [path for path in folder.iterdir() if path.stem in ("kept", "rejected")]
    return [row for name in names for row in read_table(name)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "parquet"])
@pytest.mark.parametrize("column", ["text", "weak", "other"])
def test_lone_surrogates(here, kind, column):
    rows = [
        {"text": text, "weak": label, "other": ""} for text, label in zip(TEXTS, WEAK, strict=True)
    ]
    rows = [{**row, column: row[column] + "\ud83d"} for row in rows]
    (here / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert command.main(["a.jsonl", "--format", kind, *OPTIONS]) == 0
    end = {"jsonl": "\ud83d"}.get(kind, "\ufffd")
    found = written(here / "a-lops")
    assert sorted(row[column] for row in found) == sorted(row[column][:-1] + end for row in rows)
    if column == "weak":
        suggested = {row["lops_suggested"] for row in found} - {"unsure"}
        assert {name[-1] for name in suggested} == {end}


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_views_of_parquet(here, kind):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table(
        {
            "text": pa.array(TEXTS, type=pa.string_view()),
            "weak": pa.array(WEAK, type=pa.string_view()),
            "raw": pa.array([b"x"] * len(TEXTS), type=pa.binary_view()),
        }
    )
    parquet.write_table(table, here / "a.parquet")
    assert command.main(["a.parquet", "--format", kind, *OPTIONS]) == 0
    assert sorted(row["text"] for row in written(here / "a-lops")) == sorted(TEXTS)


def test_what_cannot_be_repaired_is_refused_first(here, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def trained(*_, **__):
        raise AssertionError("the selection began")

    monkeypatch.setattr(fit, "select_labelled", trained)
    kind = pa.struct([("name", pa.string_view())])
    table = pa.table({"text": TEXTS, "weak": WEAK, "who": pa.array([None] * 40, type=kind)})
    parquet.write_table(table, here / "a.parquet")
    with pytest.raises(LopsError, match=r"column 'who' has the type struct.*give format='jsonl'"):
        command.main(["a.parquet", *OPTIONS])
    rows = [{"text": text, "weak": label} for text, label in zip(TEXTS, WEAK, strict=True)]
    lines = [json.dumps(row) + "\n" for row in [*rows, {**rows[0], "text": ["x"]}]]
    (here / "b.jsonl").write_text("".join(lines))
    with pytest.raises(LopsError, match="the text is"):
        command.main(["b.jsonl", "--format", "csv", *OPTIONS])
    mixed = [{**row, "n": 1 if place else "x"} for place, row in enumerate(rows)]
    (here / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in mixed))
    with pytest.raises(LopsError, match=r"a column has values of several types"):
        command.main(["c.jsonl", "--format", "parquet", *OPTIONS])
    assert not [path for path in here.iterdir() if path.is_dir()]


@pytest.mark.parametrize("number", [10**400, -(10**19), 2**64])
def test_integers_too_large_for_parquet(here, number):
    pytest.importorskip("pyarrow")
    rows = [
        {"text": text, "weak": label, "n": number} for text, label in zip(TEXTS, WEAK, strict=True)
    ]
    (here / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(LopsError, match=r"an integer of more than 64 bits.*give format='jsonl'"):
        command.main(["a.jsonl", "--format", "parquet", *OPTIONS])
    assert command.main(["a.jsonl", *OPTIONS]) == 0
