"""Rejected rows in the order of suspicion."""

from functools import partial

import numpy as np
import pytest

import lops_adapters
from lops_adapters.cli import select as command
from lops_adapters.tables import readers

from ..noisy import noisy_rows, read_table, write_table

ROWS = noisy_rows(n=240, k=3, noise=0.2)
OPTIONS = ["--text", "text", "--label", "weak", "--quiet", "--encoder", "none"]
select = partial(lops_adapters.select, encoder=None)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_most_suspicious_first(tmp_path, monkeypatch, suffix, kind):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(readers, "BLOCK_ROWS", 50)
    path = str(write_table(tmp_path / f"news{suffix}", ROWS))
    command.main([path, *OPTIONS, "--format", kind])
    plain = read_table(tmp_path / "news-lops" / f"rejected.{kind}")
    kept = (tmp_path / "news-lops" / f"kept.{kind}").read_bytes()
    command.main([path, *OPTIONS, "--format", kind, "--by-suspicion", "--force"])
    found = read_table(tmp_path / "news-lops" / f"rejected.{kind}")
    expected = select([row[1] for row in ROWS], [row[2] for row in ROWS])
    confidence = expected.confidence[[int(row["nr"]) for row in found]]
    assert (np.diff(confidence) >= 0).all()
    assert np.diff(confidence).max() > 0
    assert sorted(found, key=lambda row: row["nr"]) == plain
    assert (tmp_path / "news-lops" / f"kept.{kind}").read_bytes() == kept


def test_nothing_is_rejected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = str(write_table(tmp_path / "news.csv", ROWS))
    given = ["--text", "text", "--label", "weak", "--quiet", "--tau", "1", "--by-suspicion"]
    command.main([path, *given])
    assert read_table(tmp_path / "news-lops" / "rejected.csv") == []
