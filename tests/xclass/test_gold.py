"""Gold labels reach the evaluation and nothing else."""

import pytest

from lops_adapters.datasets import Dataset

from ..framework_checks import assert_same_but_measurements, measured, metrics_of, stripped
from ..framework_tools import with_permuted_gold


@pytest.fixture(scope="module")
def without(dataset, go, tmp_path_factory):
    return go(Dataset(dataset.corpus), tmp_path_factory.mktemp("without") / "run")


@pytest.fixture(scope="module")
def permuted(dataset, go, tmp_path_factory):
    return go(with_permuted_gold(dataset), tmp_path_factory.mktemp("permuted") / "run")


@pytest.mark.parametrize("other", ["permuted", "without"])
def test_other_gold_labels_change_nothing_but_the_measurements(finished, other, request):
    assert_same_but_measurements(request.getfixturevalue(other).path, finished.path)


def test_without_gold_labels_the_measurements_are_null(without, finished):
    stored = metrics_of(without.path)
    values = measured(stored)
    assert len(values) == 1 + 2 * 2 + 3 * (3 + 4)
    assert values == [None] * len(values)
    assert stripped(stored) == stripped(finished.metrics)
    assert stored["stages"] == {
        stage: {"micro_f1": None, "macro_f1": None} for stage in ("representation", "alignment")
    }


def test_permuted_gold_labels_change_the_measurements(permuted, finished):
    assert measured(permuted.metrics) != measured(finished.metrics)
    assert permuted.metrics["pseudo_labels"]["noise"] > finished.metrics["pseudo_labels"]["noise"]
    assert (
        permuted.metrics["stages"]["alignment"]["micro_f1"]
        < finished.metrics["stages"]["alignment"]["micro_f1"]
    )
    assert stripped(permuted.metrics) == stripped(finished.metrics)
