"""The measurement of the engines, on few rows."""

import json
import sys

import pytest

from benchmarks.pages import common
from benchmarks.pages import scale as pages
from benchmarks.speed import engines

from .stored import about, write_result

pytest.importorskip("pyarrow")


def measure(monkeypatch, folder, *arguments):
    monkeypatch.setattr(sys, "argv", ["x", *arguments])
    monkeypatch.setattr(engines, "_PAUSE", 0.1)
    engines.main()
    (path,) = folder.glob("speed/*")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_one_process(results, monkeypatch):
    asked = ["--documents", "2000", "--probe-rows", "600", "--engines", "process"]
    item = measure(monkeypatch, results, *asked)
    assert item["about"]["dataset"]["documents"] == 2000
    assert item["about"]["command"].startswith("python -m benchmarks.speed.engines --documents")
    found = item["result"]["process"]
    assert found["rows"] == 2000 > found["kept"] > 1000
    assert found["peak_bytes"] > 50e6
    assert found["processor_seconds"] > 0
    assert len(found["processes"]) == 1
    assert "| 2,000 | none | one process | " in pages.engines().text


def test_a_second_run_has_the_vectors(results, monkeypatch):
    asked = ["--documents", "60", "--engines", "process", "--encoder", "folder/minilm"]
    seconds = iter([1234.0, 12.0])

    def instead(engine, path, probe_rows, encoder):
        assert encoder == "folder/minilm"
        return {"seconds": next(seconds), "processor_seconds": 2000.0, "peak_bytes": 1}

    monkeypatch.setattr(engines, "measured", instead)
    measure(monkeypatch, results, *asked)
    assert "| 60 | folder/minilm | one process | 1,234 | 2,000 | 12 |" in pages.encoding().text
    assert pages.engines().text == common.HOLE.text


def put(folder, rows, processor):
    """Write a result file with round numbers."""
    own = {"seconds": 2 * processor, "processor_seconds": processor, "peak_bytes": 10**9}
    of = about("generated")
    of["dataset"]["documents"] = rows
    path = folder / "speed" / f"speed-engines-{rows}.json"
    write_result(path, {"documents": rows, "process": own}, of)


def test_costs_on_paper(results):
    """100 seconds for the fit, 50 per million rows."""
    put(results, 10**6, 150)
    put(results, 4 * 10**6, 300)
    block = pages.costs().text
    assert "| fit | 100 |" in block
    assert "| per million rows | 50 |" in block
    assert "| 100,000,000 | 1.4 |" in block
    assert f"| 10,000,000,000 | {(100 + 50 * 10**4) / 3600:.1f} |" in block


def test_nothing_measured(results):
    assert pages.engines().text == pages.costs().text == common.HOLE.text
    put(results, 10**6, 150)
    assert pages.costs().text == common.HOLE.text  # two sizes are needed


def test_the_stages_of_ray_are_read():
    said = "count, 20 parts, 3.2 s: x\njudge, 1,000 parts, 1.5 s\n"
    assert engines._STAGE.findall(said) == [("count", "3.2"), ("judge", "1.5")]
