"""What the arms share, and the arm that selects among the real documents."""

import numpy as np
import pytest

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.probes.keras_probe import KerasProbe
from lops_adapters.runs.framework import Job
from lops_adapters.selection import keep_all

from ..framework_tools import kept_by, read_rows
from .toys import CLASSES

FAST = {"pretrain_epochs": 3, "max_iterations": 12}


@pytest.fixture
def calls(monkeypatch):
    """The methods, samples and labels of all selectors; those of ``lops`` keep every second."""
    found = []

    def selector(job, method, probe, *, seed=None, **_):
        def select(samples, labels):
            found.append((method, len(samples), list(labels), seed))
            if method == "standard":
                return keep_all(samples, labels)
            return kept_by(np.arange(len(samples)) % 2 == 0, samples, labels, "half")

        return select

    monkeypatch.setattr(Job, "selector", selector)
    return found


@pytest.fixture
def updates(monkeypatch):
    """The documents of each update: of pre-training, then of self-training, per arm."""
    found = []
    training, tuner = KerasProbe.updates, KerasProbe.tuner

    def trained(network, *arguments):
        found.append([])
        for update in training(network, *arguments):
            found[-1].append(update.samples)
            yield update

    def tuned(network, **options):
        found.append([])
        step = tuner(network, **options)

        def update(prepared, positions, targets):
            found[-1].append(positions.tolist())
            step(prepared, positions, targets)

        return update

    monkeypatch.setattr(KerasProbe, "updates", trained)
    monkeypatch.setattr(KerasProbe, "tuner", tuned)
    return found


def test_all_arms_make_the_same_updates(calls, updates, dataset, go, tmp_path):
    """36 pseudo documents in batches of 6, three times; 18 kept ones are passed six times."""
    done = go(dataset, tmp_path / "run", **FAST)
    standard, _, lops, _ = updates
    assert [len(standard), len(lops), sum(standard), sum(lops)] == [18, 18, 108, 108]
    rows = [arm["iterations"][0] for arm in done.metrics["arms"].values()]
    assert [row["updates"] for row in rows] == [18, 18]
    assert [row["selected"] for row in rows] == [36, 18]


def test_faithful_makes_the_same_epochs(calls, updates, dataset, go, tmp_path):
    go(dataset, tmp_path / "run", faithful=True, **FAST)
    assert [len(updates[0]), len(updates[2])] == [18, 9]


def test_the_probe_has_another_seed_than_any_network(calls, dataset, go, tmp_path):
    go(dataset, tmp_path / "run", ["lops"], seed=3, **FAST)
    assert {seed for *_, seed in calls} == {3 + 2**31}


def test_lops_documents_selects_what_self_training_trains_on(calls, updates, dataset, go, tmp_path):
    done = go(dataset, tmp_path / "run", ["standard", "lops-documents"], **FAST)
    metrics = done.metrics["arms"]["lops-documents"]
    # The network before self-training is the Standard arm's.
    assert len(updates) == 3
    with np.load(done.path / "work" / "standard-pretraining.npz") as stored:
        before = [CLASSES[code] for code in stored["probabilities"].argmax(axis=1)]
    place = [(method, n) for method, n, *_ in calls]
    assert place == [("standard", 36), ("standard", 72), ("standard", 36), ("lops", 72)]
    assert calls[-1][2] == before
    whole, chosen = ({i for batch in part for i in batch} for part in updates[1:])
    assert whole == set(range(72))
    assert chosen == set(range(0, 72, 2))
    first, second = metrics["iterations"]
    assert (first["selected"], second["selected"], metrics["selected"]) == (36, 36, 36)
    wrong = [guess != label for guess, label in zip(before, dataset.gold.labels, strict=True)]
    assert second["noise"] == metrics["noise_after_pretraining"] == pytest.approx(np.mean(wrong))
    assert second["selected_noise"] == metrics["selected_noise"]
    assert second["selected_noise"] == pytest.approx(np.mean(wrong[::2]))
    assert (second["rule"], second["selection_stopped"]) == ("half", "counted")
    assert second["stopped"] == "the limit of 12 updates"
    rows = read_rows(done.path / "lops-documents" / "selection-documents.csv")
    assert [row["id"] for row in rows] == list(dataset.corpus.ids)
    assert [row["pseudo_label"] for row in rows] == before
    assert [row["selected"] for row in rows] == ["1", "0"] * 36
    assert not (done.path / "standard" / "selection-documents.csv").exists()


def test_lops_documents_keeps_labelled_documents_apart(calls, updates, dataset, go, tmp_path):
    """They are not selected among, and always trained on."""
    labelled = tuple((f"d{number}", dataset.gold.labels[number]) for number in range(1, 7))
    own = {"supervision": "documents", "labelled": labelled}
    go(dataset, tmp_path / "run", ["lops-documents"], **own, **FAST)
    assert calls[-1][:2] == ("lops", 66)
    measured = [0, *range(7, 72)]
    chosen = {i for batch in updates[-1] for i in batch}
    assert chosen == {*range(1, 7), *measured[::2]}


def test_one_predicted_class_is_not_selected_among(monkeypatch, dataset, go, tmp_path):
    predict = KerasProbe.predict_proba
    monkeypatch.setattr(
        KerasProbe, "predict_proba", lambda *given: predict(*given) * 0 + np.eye(3)[1]
    )
    with pytest.warns(LopsWarning, match="^all 72 pseudo-labels are 'law'; nothing is selected$"):
        done = go(dataset, tmp_path / "run", ["lops-documents"], **FAST)
    assert done.metrics["arms"]["lops-documents"]["selected"] == 72


def test_too_large_an_interval_for_the_documents(dataset, go, tmp_path):
    """36 pseudo documents make more updates than the seven documents without a label."""
    labelled = tuple((f"d{number}", dataset.gold.labels[number]) for number in range(7, 72))
    own = {"supervision": "documents", "labelled": labelled, "every": 7}
    with pytest.raises(LopsError, match="every is 7, and the probe makes 6 updates on 7 documents"):
        go(dataset, tmp_path / "run", ["lops-documents"], **own, **FAST)
