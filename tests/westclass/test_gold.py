"""Gold labels reach the evaluation and nothing else."""

import pytest

from lops_adapters.datasets import Dataset, GoldLabels

from ..framework_checks import assert_same_but_measurements, measured, metrics_of, names, stripped
from ..framework_tools import with_permuted_gold


@pytest.fixture(scope="module")
def runs(dataset, go, tmp_path_factory):
    """A run with the gold labels as they are, one with them permuted, one without them."""
    folder = tmp_path_factory.mktemp("runs")
    datasets = {
        "true": dataset,
        "permuted": with_permuted_gold(dataset),
        "without": Dataset(dataset.corpus),
    }
    sizes = {"network": "han", "pretrain_epochs": 8, "max_iterations": 5}
    return {name: go(given, folder / name, ["lops"], **sizes) for name, given in datasets.items()}


@pytest.mark.parametrize("other", ["permuted", "without"])
def test_other_gold_labels_change_nothing_but_the_measurements(runs, other):
    assert_same_but_measurements(runs[other].path, runs["true"].path)


def test_without_gold_labels_the_measurements_are_null(runs):
    stored = metrics_of(runs["without"].path)
    values = measured(stored)
    assert len(values) == 1 + 4 + 2 * 4
    assert values == [None] * len(values)
    assert stripped(stored) == stripped(runs["true"].metrics)


def test_permuted_gold_labels_change_the_measurements(runs):
    permuted, true = runs["permuted"].metrics, runs["true"].metrics
    assert stripped(permuted) == stripped(true)
    worse, better = permuted["arms"]["lops"], true["arms"]["lops"]
    assert worse["noise_after_pretraining"] > better["noise_after_pretraining"]
    assert worse["micro_f1"] < better["micro_f1"]


def test_labelled_documents_come_from_the_settings_not_from_gold_labels(dataset, go, tmp_path):
    """Where documents supervise, gold labels of the same documents change nothing either."""
    labelled = tuple((f"d{number}", dataset.gold.labels[number]) for number in range(3, 9))
    gold = GoldLabels(dataset.gold.labels[1:] + dataset.gold.labels[:1])
    more = {
        "supervision": "documents",
        "labelled": labelled,
        "network": "han",
        "pretrain_epochs": 6,
        "max_iterations": 3,
    }
    one = go(dataset, tmp_path / "one", ["standard"], **more)
    other = go(Dataset(dataset.corpus, gold), tmp_path / "other", ["standard"], **more)
    for name in set(names(one.path)) - {"metrics.json", "config.json"}:
        if not name.endswith(".npz"):
            assert (one.path / name).read_bytes() == (other.path / name).read_bytes(), name
    assert measured(one.metrics) != measured(other.metrics)
