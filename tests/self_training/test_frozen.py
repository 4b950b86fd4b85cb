"""Self-training on a frozen encoder, and with the committee."""

import numpy as np
import pytest

from lops_adapters.encoders.text_vectors import TextEncoder
from lops_adapters.runs.models import load
from lops_adapters.self_training.__main__ import main

from ..framework_checks import assert_predicts, metrics_of
from ..framework_tools import ARTS, COMMON, LAW, SPORT, outcome, save_bert, write_folder
from .toys import SEEDS, documents

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Folder of a tiny encoder that knows the words of the toy corpus."""
    return save_bert(tmp_path_factory.mktemp("bert"), [*COMMON, *ARTS, *LAW, *SPORT])


@pytest.fixture
def computed(monkeypatch):
    """How many texts the encoder has computed, batch by batch."""
    counts, usual = [], TextEncoder._pooled
    monkeypatch.setattr(
        TextEncoder, "_pooled", lambda self, rows: counts.append(len(rows)) or usual(self, rows)
    )
    return counts


@pytest.mark.parametrize("kind", ["embedding", "hybrid"])
def test_a_run(dataset, go, tmp_path, encoder, computed, monkeypatch, kind):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    chosen = {"classifier": kind, "encoder": encoder, "max_tokens": 32}
    done = go(dataset, tmp_path / "run", arms=["standard", "automatic"], **chosen)
    assert sum(computed) == len(set(dataset.corpus.texts))  # for all arms and rounds
    macro = done.metrics["arms"]["standard"]["macro_f1"]
    assert macro > (0.8 if kind == "hybrid" else 0.5)  # chance is 0.33; the encoder is random
    model = load(done.path)
    assert model.classifier.kind == kind
    assert_predicts(
        model, done.path / "standard" / "predictions.csv", dataset.corpus.texts, atol=1e-5
    )
    computed.clear()
    again = go(dataset, tmp_path / "again", arms=["standard", "automatic"], **chosen)
    assert not computed  # a second run finds them in the cache
    scores = [run.metrics["arms"]["automatic"]["macro_f1"] for run in (done, again)]
    assert scores[0] == scores[1]


def test_resuming_the_committee_is_the_same(dataset, go, tmp_path):
    whole = go(dataset, tmp_path / "whole", arms=["committee"], iterations=2)
    go(dataset, tmp_path / "part", arms=["committee"], iterations=2)
    (tmp_path / "part" / "work" / "committee-1-selection.npz").unlink()
    (tmp_path / "part" / "work" / "committee-1-classifier.npz").unlink()
    again = go(dataset, tmp_path / "part", arms=["committee"], iterations=2, resume=True)
    name = "committee/predictions.csv"
    assert (again.path / name).read_bytes() == (whole.path / name).read_bytes()
    np.testing.assert_equal(
        again.metrics["arms"]["committee"]["macro_f1"],
        whole.metrics["arms"]["committee"]["macro_f1"],
    )


@pytest.mark.usefixtures("small")
def test_a_run_that_names_no_arms(tmp_path, encoder, capsys):
    """The committee is one of them, and its model is loaded."""
    folder = write_folder(tmp_path / "toy", *documents(60), seeds=SEEDS)
    options = ["--dataset", folder, "--classifier", "embedding", "--encoder", encoder]
    options += ["--max-tokens", "32", "--iterations", "1", "--device", "cpu", "--quiet"]
    options += ["--preset", "quick", "--output", tmp_path / "run"]
    status, _, err = outcome(main, capsys, *options)
    assert status == 0, err
    arms = metrics_of(tmp_path / "run")["arms"]
    assert set(arms) == {"standard", "lops", "committee"}
    texts = documents(60)[0]
    found, wanted = (load(tmp_path / "run", arm=arm) for arm in (None, "committee"))
    np.testing.assert_array_equal(found.predict_proba(texts), wanted.predict_proba(texts))
