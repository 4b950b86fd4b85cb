"""Self-training on a frozen encoder, and with the committee."""

import pytest

from lops_adapters.encoders.text_vectors import TextEncoder
from lops_adapters.runs.models import load

from ..framework_checks import assert_predicts
from ..framework_tools import ARTS, COMMON, LAW, SPORT, save_bert

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
