"""The last stage behind a framework: select among its predictions, train, add by rank."""

from types import SimpleNamespace

import numpy as np
import pytest

from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.runs import rounds
from lops_adapters.runs.files import write_stage
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.job import Job
from lops_adapters.runs.metrics import Measure
from lops_adapters.runs.models import load
from lops_adapters.runs.rounds import run_rounds
from lops_adapters.runs.stages import Given, Prepared, Samples
from lops_adapters.xclass.settings import XclassSettings

from ..framework_tools import kept_by, read_rows
from ..self_training.toys import CLASSES, documents

TEXTS, GOLD = documents(30)
CODES = np.array([CLASSES.index(label) for label in GOLD])
CORPUS = Corpus("toy", [f"d{i}" for i in range(30)], TEXTS, CLASSES, {})
NONE = Given.none()
WRONG = np.where(np.arange(30) < 6, (CODES + 1) % 3, CODES)  # what the framework predicts


def predictions(codes=WRONG):
    return np.where(np.eye(3)[codes] == 1, 0.8, 0.1).astype(np.float32)


@pytest.fixture
def go(tmp_path, monkeypatch):
    """Run the rounds with a selector that rejects documents 0 to 9, and note the trainings."""
    trained, fit, cut = [], LinearProbe.fit, rounds.cut

    def noted_cut(read, positions):
        trained.append(SimpleNamespace(positions=positions.tolist()))
        return cut(read, positions)

    def noted_fit(probe, samples, codes, *given, seed):
        assert probe.epochs == 20
        vars(trained[-1]).update(codes=codes.tolist(), seed=seed)
        return fit(probe, samples, codes, *given, seed=seed)

    def selector(job, method, probe, *, positions, **_):
        assert job.settings.every == "epoch"
        assert probe().max_epochs == 4
        return lambda samples, labels: kept_by(positions >= 10, samples, labels, method)

    monkeypatch.setattr(rounds, "cut", noted_cut)
    monkeypatch.setattr(LinearProbe, "fit", noted_fit)
    monkeypatch.setattr(Job, "selector", selector)

    def run(method="lops", n=3, given=NONE, codes=WRONG):
        folder = RunFolder.open(tmp_path / "run", {"settings": {}}, resume=True)
        settings = ConweaSettings(classifier="linear", rounds=n, every=3)
        job = Job(folder, settings, 5, "cpu", quiet=True)
        prepared = Prepared(
            corpus=CORPUS, samples=Samples([], [], CORPUS.classes), seconds={}, given=given
        )
        monkeypatch.setattr(ConweaSettings, "final_method", lambda settings, arm: method)
        done = list(run_rounds("lops", predictions(codes), prepared, job, "conwea"))
        return SimpleNamespace(rounds=done, trained=trained, folder=folder)

    return run


def test_rejected_documents_return_by_rank(go):
    done = go()
    first, second, third = done.trained
    assert first.positions == list(range(10, 30))
    assert first.codes == WRONG[10:].tolist()
    assert set(first.positions) < set(second.positions) < set(third.positions)
    assert second.codes[-20:] == first.codes
    assert [one.seed for one in done.trained] == [5, 6, 7]
    assert [len(item.samples) for item in done.rounds] == [30, len(second.codes), len(third.codes)]
    first, *others = (item.selection for item in done.rounds)
    assert (first.rule, others) == ("lops", [None, None])


def test_without_a_selection_one_round_is_all(go):
    """Nothing is rejected, so nothing can return."""
    done = go("standard")
    assert [one.positions for one in done.trained] == [list(range(30))]
    assert done.trained[0].codes == WRONG.tolist()
    assert done.rounds[0].selection is None


def test_labelled_documents_stay_as_labelled(go):
    """Document 2 comes with a label other than the predicted one, and is not selected among."""
    given = Given(np.array([2]), CODES[[2]])
    done = go(given=given)
    assert 2 not in done.rounds[0].samples.positions
    for one in done.trained:
        assert dict(zip(one.positions, one.codes, strict=True))[2] == CODES[2]
    assert given.others(4).tolist() == [0, 1, 3]


def test_the_model_is_of_the_last_round(go):
    done = go()
    found = load(done.folder.path, device="cpu").predict_proba(TEXTS)
    np.testing.assert_allclose(found, done.rounds[-1].probabilities, atol=1e-6)


def test_a_finished_run_trains_nothing_again(go):
    first = go()
    again = go()
    assert len(first.trained) == 3
    np.testing.assert_array_equal(again.rounds[-1].probabilities, first.rounds[-1].probabilities)


def test_what_is_written(go, tmp_path):
    """Six of the thirty predictions are wrong, and all of these are rejected."""
    done = go(n=2)
    checks = {0: GOLD[0]}  # they decide what the second round begins with
    measure = Measure(Evaluator(GOLD, checks), np.arange(30), CLASSES)
    rows = [measure.stage(stage, number) for number, stage in enumerate(done.rounds, start=4)]
    assert ["checked_noise" in row for row in rows] == [True, False]
    assert [(row["iteration"], row["stage"]) for row in rows] == [(4, "round 1"), (5, "round 2")]
    assert (rows[0]["noise"], rows[0]["selected"], rows[0]["selected_noise"]) == (0.2, 20, 0)
    assert rows[0]["rule"] == "lops"
    assert "rule" not in rows[1]
    assert rows[1]["selected"] == rows[1]["pseudo_labels"] == len(done.trained[1].codes)
    for number, stage in enumerate(done.rounds, start=4):
        write_stage(stage, number, tmp_path)
    assert [path.name for path in tmp_path.glob("*.csv")] == ["selection-documents.csv"]
    table = read_rows(tmp_path / "selection-documents.csv")
    assert [row["selected"] for row in table] == ["0"] * 10 + ["1"] * 20
    assert table[0]["pseudo_label"] == CLASSES[WRONG[0]]


@pytest.mark.parametrize("settings", [ConweaSettings, XclassSettings])
def test_the_original_has_no_rounds(settings):
    assert settings.preset("paper").rounds == 0
    assert settings.preset("quick", faithful=True).rounds == 0
    assert settings.preset("quick", faithful=True, rounds=2).rounds == 2


def test_an_earlier_round_made_again_leaves_the_model(go):
    """As after a resume that tells of a damaged stage: the model is of the last round."""
    done = go(n=3)
    weights = done.folder.arm("lops") / "model" / "classifier" / "linear.npz"
    before = weights.read_bytes()
    (done.folder.work / "lops-round-1.npz").unlink()
    again = go(n=3)
    assert len(again.rounds) == len(done.rounds) > 1
    assert weights.read_bytes() == before
