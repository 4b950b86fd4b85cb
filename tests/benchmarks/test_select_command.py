"""``lops select`` as the benchmark runs it, on the demo corpus and on few made-up documents."""

import json
import sys

import pytest

from benchmarks import select_command
from benchmarks.pages import select

pytestmark = pytest.mark.slow


def measure(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["x", *arguments])
    select_command.main()


def test_a_corpus_and_made_up_documents(results, monkeypatch):
    measure(monkeypatch)
    measure(monkeypatch, "--documents", "300", "--keep", "0.5")
    demo = json.loads(
        (results / "select" / "select-demo-tau-auto.json").read_text(encoding="utf-8")
    )["result"]
    path = results / "select" / "select-generated-300-tau-0.5.json"
    made = json.loads(path.read_text(encoding="utf-8"))["result"]
    assert demo["asked"] == "lops select demo.csv --text text --label weak --gold true"
    assert demo["classifier"] == "LinearProbe"
    assert 0 < demo["n_kept"] < demo["n_rows"]
    assert demo["noise_after"] < demo["noise_before"]
    assert made["noise_before"] is None
    assert 150 <= made["n_kept"] <= 170  # half of each of 20 classes, rounded up
    assert made["peak_bytes"] > made["file_bytes"] > 0
    rejected = f"{demo['n_rows'] - demo['n_kept']} of {demo['n_rows']}"
    assert select.printed("select-demo-*.json").text.startswith(
        f"```text\n$ {demo['asked']}\ndemo.csv: {rejected} labels are "
    )
    table = select.numbers().text
    assert "| generated | 300 | 0.5 |" in table
    assert table.index("generated") < table.index(f"| demo | {demo['n_rows']:,} | auto |")
