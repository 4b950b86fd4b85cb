"""The final classifier of texts, and the arms that select what it is trained on."""

import numpy as np
import pytest

from ..framework_tools import copy_killed, pretend_settings, read_rows
from .toys import CLASSES

AT_DOCUMENTS = ["committee-documents", "random-documents", "optimal-documents"]
ARMS = ["standard", *AT_DOCUMENTS, "optimal"]


@pytest.fixture(scope="module")
def done(dataset, go, finished, tmp_path_factory):
    """Resumed after the rows were found, which do not depend on the classifier."""
    path = copy_killed(finished, tmp_path_factory.mktemp("final") / "run", ["rows"])
    pretend_settings(path, classifier="linear")
    return go(dataset, path, arms=ARMS, resume=True, classifier="linear")


def test_documents_are_selected_by_what_the_network_predicts(done, dataset):
    stages = {entry.stem for entry in (done.path / "work").iterdir()}
    assert {name for name in stages if "category" in name} == {
        "standard-category",
        "optimal-category",
    }
    with np.load(done.path / "work" / "standard-self-training.npz") as stored:
        predicted = [CLASSES[code] for code in stored["probabilities"].argmax(axis=1)]
    for arm in ["standard", *AT_DOCUMENTS]:
        rows = read_rows(done.path / arm / "selection-documents.csv")
        assert [row["id"] for row in rows] == list(dataset.corpus.ids)
        assert [row["pseudo_label"] for row in rows] == predicted
    kept = len(read_rows(done.path / "pseudo_labels.csv"))
    assert done.metrics["arms"]["standard"]["selected"] == kept


def test_an_arm_among_the_rows_keeps_all_documents(done, dataset):
    rows = read_rows(done.path / "optimal" / "selection-0.csv")
    gold = dict(zip(dataset.corpus.ids, dataset.gold.labels, strict=True))
    for row in rows:
        assert (row["selected"] == "1") == (row["pseudo_label"] == gold[row["id"]])
    assert done.metrics["arms"]["optimal"]["iterations"][2]["selected"] == len(dataset.corpus)
