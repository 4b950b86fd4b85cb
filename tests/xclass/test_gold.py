"""Gold labels reach the evaluation and nothing else."""

import json

import numpy as np
import pytest

from lops_adapters.datasets import Dataset, GoldLabels

from .test_resume import names

MEASURED = {"metrics.json", "config.json"}
GOLD = {"noise", "selected_noise", "micro_f1", "macro_f1"}
TIME = {"seconds", "seconds_selection"}


@pytest.fixture(scope="module")
def without(dataset, go, tmp_path_factory):
    return go(Dataset(dataset.corpus), tmp_path_factory.mktemp("without") / "run")


@pytest.fixture(scope="module")
def permuted(dataset, go, tmp_path_factory):
    gold = np.random.default_rng(1).permutation(np.array(dataset.gold.labels, dtype=object)).tolist()
    assert gold != list(dataset.gold.labels)
    return go(Dataset(dataset.corpus, GoldLabels(gold)), tmp_path_factory.mktemp("permuted") / "run")


@pytest.mark.parametrize("other", ["permuted", "without"])
def test_other_gold_labels_change_nothing_but_the_measurements(finished, other, request):
    run = request.getfixturevalue(other)
    assert names(run.path) == names(finished.path)
    for name in set(names(finished.path)) - MEASURED:
        one, two = run.path / name, finished.path / name
        if name.endswith(".npz"):
            with np.load(one) as stored, np.load(two) as expected:
                assert all((stored[key] == expected[key]).all() for key in set(expected.files) - {"seconds"}), name
        else:
            assert one.read_bytes() == two.read_bytes(), name
    stored, expected = (json.loads((path / "config.json").read_text()) for path in (run.path, finished.path))
    assert stored["dataset"] == expected["dataset"]


def measured(metrics, wanted):
    """All values under the wanted keys, in order."""
    if isinstance(metrics, dict):
        return [value for key, item in metrics.items() for value in ([item] if key in wanted else measured(item, wanted))]
    return [value for item in metrics for value in measured(item, wanted)] if isinstance(metrics, list) else []


def stripped(metrics):
    if isinstance(metrics, dict):
        return {key: stripped(item) for key, item in metrics.items() if key not in GOLD | TIME}
    return [stripped(item) for item in metrics] if isinstance(metrics, list) else metrics


def test_without_gold_labels_the_measurements_are_null(without, finished):
    stored = json.loads((without.path / "metrics.json").read_text())
    values = measured(stored, GOLD)
    assert len(values) == 1 + 2 * 2 + 3 * (3 + 4)
    assert values == [None] * len(values)
    assert stripped(stored) == stripped(finished.metrics)
    assert stored["stages"] == {stage: {"micro_f1": None, "macro_f1": None} for stage in ("representation", "alignment")}


def test_permuted_gold_labels_change_the_measurements(permuted, finished):
    assert measured(permuted.metrics, GOLD) != measured(finished.metrics, GOLD)
    assert permuted.metrics["pseudo_labels"]["noise"] > finished.metrics["pseudo_labels"]["noise"]
    assert permuted.metrics["stages"]["alignment"]["micro_f1"] < finished.metrics["stages"]["alignment"]["micro_f1"]
    assert stripped(permuted.metrics) == stripped(finished.metrics)
