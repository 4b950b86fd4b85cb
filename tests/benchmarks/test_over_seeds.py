"""Comparisons over seeds: of the same documents, of the runs whose results are there, and made
once.
"""

import json
from functools import partial

import numpy as np
import pytest

from benchmarks import collect, over_seeds, runner
from benchmarks.protocol import Cell
from lops_adapters.core import LopsError
from lops_adapters.storage import pack_strings, write_arrays

CELLS = [
    Cell(f"self-training-linear-toy-seed{seed}", "self_training", "python -m m") for seed in (0, 1)
]
GOLD = np.array([0, 1] * 50, dtype=np.int16)


def write(folder, work, seed, *, sha256="same", gold=GOLD, started="t"):
    name = CELLS[seed].name
    folder.mkdir(exist_ok=True)
    about = {"seed": seed, "started": started, "dataset": {"sha256": sha256}}
    (folder / f"{name}.json").write_text(
        json.dumps({"about": about, "result": {}}), encoding="utf-8"
    )
    (work / name).mkdir(parents=True, exist_ok=True)
    arms = {
        "standard": np.zeros_like(gold),
        "lops": gold if seed == 0 else np.zeros_like(gold),
        "random": np.zeros_like(gold),
    }
    write_arrays(
        work / name / "predictions.npz", classes=pack_strings(["a", "b"]), gold=gold, **arms
    )


@pytest.fixture
def places(tmp_path):
    return tmp_path / "results", tmp_path / "work"


def test_two_seeds_are_compared_once_and_anew_when_one_is_measured_anew(places):
    write(*places, 0)
    assert over_seeds.compare(CELLS, *places) == []
    write(*places, 1)
    (path,) = over_seeds.compare(CELLS, *places)
    assert path.name == "over-seeds-self-training-linear-toy.json"
    result = json.loads(path.read_text(encoding="utf-8"))["result"]
    assert result["of"] == {"0": "t", "1": "t"}
    found = result["significance"]
    assert sorted(found["lops"]) == ["random", "standard"]
    assert found["lops"]["standard"]["micro"]["difference"] == pytest.approx(
        0.25
    )  # the mean of 0.5 and 0
    assert (
        found["lops"]["standard"]["micro"]["low"] == 0.0
    )  # a resample may have the seed without a difference alone
    assert found["random"]["standard"]["macro"]["p_value"] == 1.0
    assert over_seeds.compare(CELLS, *places) == []
    write(*places, 1, started="later")
    assert over_seeds.compare(CELLS, *places) == [path]


def test_other_samples_are_not_compared_and_missing_predictions_are_a_hole(places):
    write(*places, 0)
    write(*places, 1, sha256="other")
    assert over_seeds.compare(CELLS, *places) == []
    write(*places, 1)
    (places[1] / CELLS[1].name / "predictions.npz").unlink()
    assert over_seeds.compare(CELLS, *places) == []


def test_predictions_of_other_documents_are_an_error(places):
    write(*places, 0)
    write(*places, 1, gold=GOLD[::-1].copy())
    with pytest.raises(
        LopsError, match="are about different documents or classes; remove the older one"
    ):
        over_seeds.compare(CELLS, *places)


def test_run_compares_at_its_end_whatever_only_says(tmp_path, monkeypatch, capsys):
    for module in (runner, collect):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    template = {
        "kind": "self_training",
        "name": "self-training-linear-toy-seed{s}",
        "command": "python -m m",
        "lists": {"s": [0, 1]},
    }
    (tmp_path / "tiny.json").write_text(json.dumps({"templates": [template]}), encoding="utf-8")
    (tmp_path / "results").mkdir()
    results, work = (tmp_path / name / "tiny" for name in ("results", "work"))
    for seed in (0, 1):
        write(results, work, seed)
    again = partial(runner.run_protocol, str(tmp_path / "tiny.json"), work=work.parent)
    assert again(only="*-seed0") == 0
    assert (results / "over-seeds-self-training-linear-toy.json").exists()
    write(results, work, 1, gold=GOLD[::-1].copy(), started="later")
    assert again(only="*-seed0") == 1
    assert "comparing seeds: " in capsys.readouterr().out
