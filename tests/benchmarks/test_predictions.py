"""Significance at collection, from the predictions of the arms, which are kept in one file."""

import numpy as np
import pytest

from benchmarks.predictions import significance
from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset as load
from lops_adapters.storage import write_csv


def predictions(run, arm, ids, labels):
    (run / arm).mkdir(parents=True)
    write_csv(
        run / arm / "predictions.csv",
        ["id", "predicted", "probability"],
        [(name, label, 1) for name, label in zip(ids, labels, strict=True)],
    )


def test_lops_against_all_and_all_against_standard(tmp_path):
    dataset = load("demo", quiet=True).sample(100, 3)
    gold, ids = list(dataset.gold.labels), dataset.corpus.ids
    constant = [dataset.corpus.classes[0]] * 100
    for arm, labels in {"lops": gold, "standard": constant, "random": constant}.items():
        predictions(tmp_path / "run", arm, ids, labels)
    sample = "--dataset demo --max-docs 100 --seed 3"
    command = f"python -m lops_adapters.self_training {sample} --iterations 1"
    found = significance(command, tmp_path / "run", tmp_path / "kept.npz", None)["significance"]
    assert {first: sorted(others) for first, others in found.items()} == {
        "lops": ["random", "standard"],
        "random": ["standard"],
    }
    share = np.mean([label == constant[0] for label in gold])
    assert found["lops"]["standard"]["micro"]["difference"] == pytest.approx(1 - share)
    assert found["lops"]["standard"]["macro"]["p_value"] < 0.01
    assert found["random"]["standard"]["macro"] == {
        "difference": 0.0,
        "low": 0.0,
        "high": 0.0,
        "p_value": 1.0,
    }
    with np.load(tmp_path / "kept.npz") as kept:
        assert set(kept.files) == {"classes", "gold", "lops", "standard", "random"}
        assert (kept["gold"] == kept["lops"]).all()
    with pytest.raises(
        LopsError, match=r"holds other ids than the 800 documents of demo; measure the cell again"
    ):
        significance("python -m m --dataset demo", tmp_path / "run", tmp_path / "kept.npz", None)
