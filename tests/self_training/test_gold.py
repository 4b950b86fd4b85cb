"""Gold labels reach the one method that is defined by them, and no other."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset

from ..framework_tools import with_permuted_gold


@pytest.fixture(scope="module")
def permuted_gold(dataset):
    return with_permuted_gold(dataset)


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
        LopsError, match="optimal needs gold labels, and toy has none; leave it out"
    ):
        go(Dataset(dataset.corpus), tmp_path / "none", arms=["optimal"])
