"""The measurements of speed, on little data."""

import json
import resource
import sys

import numpy as np
import pytest

from benchmarks import framework_costs
from benchmarks.pages import speed
from benchmarks.speed import pairs, scale, watching
from benchmarks.speed.generated import documents


@pytest.fixture
def measured(results, monkeypatch):
    def run(module, *arguments):
        monkeypatch.setattr(sys, "argv", ["x", *arguments])
        before = set(results.glob("speed/*"))
        module.main()
        (new,) = set(results.glob("speed/*")) - before
        return json.loads(new.read_text(encoding="utf-8"))

    return run


def test_made_up_documents():
    corpus, labels = documents(400, classes=4, noise=0.5, seed=1)
    again, same = documents(400, classes=4, noise=0.5, seed=1)
    assert corpus.texts == again.texts
    assert labels == same
    topics = np.array(
        [[(int(word[1:]) - 500) // 200 for word in text.split()[:8]] for text in corpus.texts]
    )
    assert (topics == topics[:, :1]).all()
    right = topics[:, 0] == [int(label[-2:]) for label in labels]
    assert 0.55 < right.mean() < 0.7  # half are drawn again, a quarter of these right by chance
    assert documents(400, classes=4, noise=0.5, seed=2)[0].texts != corpus.texts


def test_scale(measured):
    item = measured(scale, "--documents", "300")
    found = item["result"]
    assert item["about"]["dataset"]["documents"] == 300
    assert item["about"]["command"] == "python -m benchmarks.speed.scale --documents 300"
    assert found["margin"]["kept"] == 150
    assert found["lops"]["documents_per_second"] == pytest.approx(300 / found["lops"]["seconds"])
    assert found["peak_bytes"] >= found["texts_bytes"] > 0
    assert "| linear | 300 |" in speed.scale().text


def test_watching(measured):
    item = measured(watching, "--dataset", "demo", "--repeats", "1")
    found = item["result"]
    assert found["watching"] > 0
    assert "times_faster" not in found
    assert f"| demo | linear | {found['documents']} |" in speed.watching().text


def test_what_a_framework_costs(measured, monkeypatch):
    monkeypatch.setattr(framework_costs, "FRAMEWORKS", ("self_training",))
    given = ["iterations=1", "classifier=linear", "arms=standard"]
    item = measured(framework_costs, "--max-docs", "100", "--given", *given)
    cost = item["result"]
    assert cost["given"] == given
    assert set(cost["macro_f1"]) == set(cost["arms"]) == {"standard"}
    assert (cost["framework"], cost["documents"]) == ("self_training", 100)
    assert 0.5 < cost["processor_seconds"] < 2 * cost["seconds"] + 1
    assert 5e7 < cost["peak_bytes"] < 8e9
    seconds = cost["processor_seconds"]
    options = "`--iterations 1`, `--classifier linear`, `--arms standard`"
    row = f" | 100 | {options} | {seconds:.0f} | {10 * seconds:.0f} | "
    row += f"{cost['peak_bytes'] / 1e9:.1f} | {100 * cost['macro_f1']['standard']:.1f} |"
    assert row in str(speed.frameworks())
    with pytest.raises(SystemExit, match=r"lops_adapters\.none .* failed"):
        framework_costs.run("none", [])


def test_pairs_are_whole_processes_in_turn(measured, results, monkeypatch, tmp_path):
    asked = []

    def cost(arguments, code, columns, compiled):
        asked.append(code)
        return {"processor_seconds": 10.0 + len(asked), "peak_bytes": 1e8}

    monkeypatch.setattr(pairs, "cost", cost)
    found = measured(pairs, "--before-dir", str(tmp_path), "--rounds", "3")
    assert asked == 4 * [tmp_path, pairs.HERE, tmp_path, pairs.HERE, pairs.HERE]
    assert found["about"]["command"] == (
        "python -m benchmarks.speed.pairs --before-dir DIR --rounds 3"
    )
    (row,) = [row for row in speed.pairs().text.splitlines() if "| command | 3 |" in row]
    assert row.endswith("| command | 3 | 22.0 | 0.88 | 100 | 1.00 |")  # of rounds two to four


def test_the_cost_of_a_process(tmp_path, monkeypatch):
    table = {"text": ["a"], "weak": ["b"]}
    compiled = tmp_path / "compiled"
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "module.py").touch()
    script = ["-c", "import module; open('table.csv').readline()"]
    found = pairs.cost(script, tmp_path, table, str(compiled))
    assert list(compiled.rglob("module.*.pyc"))
    assert 0 < found["processor_seconds"] < 60
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # more after other tests
    assert 1e6 < found["peak_bytes"] < 1e9 + ours
    with pytest.raises(SystemExit, match="has failed"):
        pairs.cost(["-c", "raise SystemExit(1)"], tmp_path, table, str(compiled))
