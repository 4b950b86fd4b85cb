"""The final classifier of texts, and the arms that select what it is trained on."""

import numpy as np
import pytest

from lops_adapters import load
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.westclass.framework import WESTCLASS
from lops_adapters.westclass.settings import WestclassSettings

from ..framework_tools import read_rows
from .toys import CLASSES

FAST = {"classifier": "linear", "pretrain_epochs": 3, "max_iterations": 12, "every": 1}
ARMS = ["standard", "committee-documents", "random-documents", "optimal-documents"]


@pytest.fixture(scope="module")
def done(dataset, go, tmp_path_factory):
    return go(dataset, tmp_path_factory.mktemp("final") / "run", ARMS, **FAST)


def codes(path, stage):
    with np.load(path / "work" / f"{stage}.npz") as stored:
        return stored["probabilities"].argmax(axis=1)


@pytest.mark.slow
def test_all_arms_share_one_network(done):
    stages = {entry.stem for entry in (done.path / "work").iterdir()}
    assert {name for name in stages if "training" in name} == {
        "standard-pretraining",
        "standard-self-training",
    }
    rows = [arm["iterations"] for arm in done.metrics["arms"].values()]
    assert {tuple(row["stage"] for row in arm) for arm in rows} == {
        ("pre-training", "self-training", "round 1")
    }
    assert len({tuple(row["macro_f1"] for row in arm[:2]) for arm in rows}) == 1


def test_pseudo_labels_are_what_the_network_predicts(done, dataset):
    predicted = [CLASSES[code] for code in codes(done.path, "standard-self-training")]
    wrong = np.array(predicted) != np.array(dataset.gold.labels)
    for arm in ARMS:
        rows = read_rows(done.path / arm / "selection-documents.csv")
        assert [row["pseudo_label"] for row in rows] == predicted
        kept = np.array([row["selected"] == "1" for row in rows])
        last = done.metrics["arms"][arm]["iterations"][2]
        assert (last["pseudo_labels"], last["noise"]) == (72, pytest.approx(wrong.mean()))
        assert (last["selected"], last["selected_noise"]) == (
            kept.sum(),
            pytest.approx(wrong[kept].mean()),
        )
        if arm != "standard":
            assert done.metrics["arms"][arm]["selected"] == kept.sum()
            assert kept.sum() < 72
    assert done.metrics["arms"]["standard"]["selected"] == 36  # pseudo documents
    assert done.metrics["arms"]["optimal-documents"]["selected_noise"] == 0


@pytest.mark.parametrize(
    ("classifier", "frozen"), [("network", False), ("linear", False), ("hybrid", True)]
)
def test_an_encoder_is_needed_where_it_is_used(classifier, frozen):
    needed = WESTCLASS.needs(WestclassSettings(classifier=classifier))
    assert ("transformers" in needed) == frozen


def test_the_hybrid_classifier_reads_the_encoder(dataset, go, bert, tmp_path):
    """Also one with fewer positions than the usual 128 word pieces."""
    own = {**FAST, "classifier": "hybrid", "encoder": bert}
    done = go(dataset, tmp_path / "run", ["standard"], **own)
    assert load(done.path, device="cpu").classifier.kind == "hybrid"


def test_arms_without_gold_labels_are_refused_by_their_names(dataset, go, tmp_path):
    without = Dataset(dataset.corpus, None)
    with pytest.raises(LopsError, match=r"^optimal-documents needs gold labels"):
        go(without, tmp_path / "run", ["optimal-documents"], **FAST)


def test_pseudo_documents_have_no_gold_labels(dataset, go, tmp_path):
    with pytest.raises(LopsError, match="pseudo documents have none; wanted optimal-documents"):
        go(dataset, tmp_path / "run", ["optimal"], **FAST)
