"""Gold labels reach the evaluation, the one method that is defined by them, and nothing else."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.self_training import pipeline, run

from ..framework_checks import assert_same_but_measurements, measured, metrics_of, stripped
from ..framework_tools import with_permuted_gold

BLIND = ("standard", "lops", "random")


@pytest.fixture(scope="module")
def blind(dataset, go, tmp_path_factory):
    return go(dataset, tmp_path_factory.mktemp("blind") / "run", arms=BLIND)


@pytest.fixture(scope="module")
def without(dataset, go, tmp_path_factory):
    return go(Dataset(dataset.corpus), tmp_path_factory.mktemp("without") / "run", arms=BLIND)


@pytest.fixture(scope="module")
def permuted_gold(dataset):
    return with_permuted_gold(dataset)


@pytest.fixture(scope="module")
def permuted(permuted_gold, go, tmp_path_factory):
    return go(permuted_gold, tmp_path_factory.mktemp("permuted") / "run", arms=BLIND)


@pytest.mark.parametrize("other", ["permuted", "without"])
def test_other_gold_labels_change_nothing_but_the_measurements(blind, other, request):
    assert_same_but_measurements(request.getfixturevalue(other).path, blind.path)


def test_without_gold_labels_the_measurements_are_null(without, blind):
    stored = metrics_of(without.path)
    values = measured(stored)
    assert len(values) == 1 + 3 * (3 + 3 * 4)
    assert values == [None] * len(values)
    assert stripped(stored) == stripped(blind.metrics)


def test_permuted_gold_labels_change_the_measurements(permuted, blind):
    assert measured(permuted.metrics) != measured(blind.metrics)
    assert permuted.metrics["pseudo_labels"]["noise"] > blind.metrics["pseudo_labels"]["noise"]
    assert stripped(permuted.metrics) == stripped(blind.metrics)


def test_the_method_defined_by_them_keeps_what_is_right(
    finished, permuted_gold, dataset, go, tmp_path
):
    for row in finished.metrics["arms"]["optimal"]["iterations"]:
        assert row["selected_noise"] == 0
        assert row["selected"] == round(row["pseudo_labels"] * (1 - row["noise"]))
    other = go(permuted_gold, tmp_path / "run", arms=["optimal"])
    assert other.metrics["arms"]["optimal"]["iterations"][0]["selected_noise"] == 0
    assert (other.path / "optimal" / "selection-0.csv").read_bytes() != (
        finished.path / "optimal" / "selection-0.csv"
    ).read_bytes()
    with pytest.raises(
        LopsError,
        match="optimal is defined by gold labels, and toy has none; leave that method out",
    ):
        go(Dataset(dataset.corpus), tmp_path / "none", arms=["optimal"])


def test_no_other_method_is_handed_any(monkeypatch, dataset, go, tmp_path):
    given = {}
    run_arm, build = run.run_arm, pipeline.build

    def arm(name, *args, gold, **kwargs):
        given[name] = [gold]
        return run_arm(name, *args, gold=gold, **kwargs)

    def noted(name, *args, gold, **kwargs):
        given[name].append(gold)
        return build(name, *args, gold=gold, **kwargs)

    monkeypatch.setattr(run, "run_arm", arm)
    monkeypatch.setattr(pipeline, "build", noted)
    go(dataset, tmp_path / "run", iterations=1)
    assert {
        name for name, all_given in given.items() if any(gold is not None for gold in all_given)
    } == {"optimal"}
    assert set(given) == {"standard", "lops", "random", "optimal"}
    assert len(given["optimal"][1]) == 49  # of the pseudo-labelled alone
