"""Gold labels reach the evaluation and nothing else."""

from lops_adapters.datasets import Dataset, GoldLabels

from ..framework_checks import measured, names


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
