"""MC-Dropout and Entropy: what they call uncertain, by the paper and by the released code; and
dropout that really is on.
"""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.probes.han import HanProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build
from lops_adapters.selection.methods.dropout import certainty, entropy, mc_dropout

from ...framework_tools import ARTS, COMMON, LAW, save_bert
from ..stand_in import Told, topics, world

# Samples labelled 0: sure of it, less sure of it, unsure of it, less sure of another, sure of
# another.
SPREAD = np.array([[0.9, 0.9], [0.6, 0.8], [0.3, 0.9], [0.1, 0.5], [0.05, 0.05]])
PASSES = np.stack([np.stack([column, 1 - column], axis=1) for column in SPREAD.T]).astype(
    np.float32
)
CODES = np.zeros(5, dtype=int)


def test_uncertainties():
    np.testing.assert_allclose(mc_dropout(PASSES, CODES), [0, 0.01, 0.09, 0.04, 0], atol=1e-7)
    mean = SPREAD.mean(axis=1)
    np.testing.assert_allclose(
        entropy(PASSES, CODES), -(mean * np.log2(mean) + (1 - mean) * np.log2(1 - mean)), rtol=1e-5
    )
    sure = np.eye(4, dtype=np.float32)[None]
    assert entropy(sure, np.arange(4)).tolist() == [0, 0, 0, 0]
    assert entropy(np.full((2, 1, 4), 0.25), np.array([0])).tolist() == [1]


@pytest.mark.parametrize(
    ("uncertainty", "variant", "order"),
    [
        (mc_dropout, "paper", [0, 1, 2, 3, 4]),
        (mc_dropout, "released", [0, 4, 1, 3, 2]),
        (entropy, "paper", [0, 1, 2, 3, 4]),
        (entropy, "released", [4, 0, 1, 3, 2]),
    ],
)
def test_direction(uncertainty, variant, order):
    scores = certainty(PASSES, CODES, uncertainty(PASSES, CODES), variant)
    assert np.argsort(-scores, kind="stable").tolist() == order


@pytest.mark.parametrize("name", ["mc-dropout", "entropy"])
def test_variants(name):
    samples, labels, _, table = world()
    released, paper, default = (
        build(name, Told(table), n=30, per_class=False, **options)(samples, labels)
        for options in ({"variant": "released"}, {"variant": "paper"}, {})
    )
    assert default.kept.tolist() == paper.kept.tolist() != released.kept.tolist()
    predicted = np.array([f"class {rows[-1].argmax()}" for rows in table.values()])
    assert (predicted == labels)[paper.kept].all()
    assert not (predicted == labels)[released.kept].all()


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    def made(**shape):
        learns = {"initializer_range": 0.2, "hidden_size": 32, "intermediate_size": 64}
        return save_bert(tmp_path_factory.mktemp("bert"), [*COMMON, *ARTS, *LAW], **learns, **shape)

    return made


def transformer(folder, **changes):
    from lops_adapters.probes.transformer import TransformerProbe

    return TransformerProbe(
        folder,
        **{"epochs": 2, "learning_rate": 3e-3, "precision": "float32", "device": "cpu", **changes},
    )


@pytest.mark.parametrize("where", ["attention_probs_dropout_prob", "hidden_dropout_prob"])
def test_passes_of_a_transformer(bert, where):
    """Either kind of dropout alone makes passes differ; predictions before and after are without
    it; no global generator moves.
    """
    import torch

    texts = topics(10)
    probe = transformer(
        bert(**{"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0, where: 0.3})
    )
    with pytest.raises(LopsError, match="untrained"):
        probe.predict_with_dropout(texts, 2)
    probe.fit(texts, np.arange(20) % 2, 2)
    before, state = probe.predict_proba(texts), torch.get_rng_state()
    passes = probe.predict_with_dropout(texts, 3, seed=1)
    assert torch.equal(state, torch.get_rng_state())
    assert passes.shape == (3, 20, 2)
    assert passes.dtype == np.float32
    np.testing.assert_allclose(passes.sum(axis=2), 1, atol=1e-5)
    assert np.abs(passes[0] - passes[1]).max() > 1e-3
    np.testing.assert_array_equal(passes, probe.predict_with_dropout(texts, 3, seed=1))
    assert np.abs(passes - probe.predict_with_dropout(texts, 3, seed=2)).max() > 1e-3
    np.testing.assert_array_equal(probe.predict_proba(texts), before)


@pytest.mark.parametrize("name", ["mc-dropout", "entropy"])
def test_selection_by_a_transformer(bert, name):
    texts, labels = topics(40), ["arts", "law"] * 40
    wrong = np.arange(80) % 9 == 0
    labels = np.where(wrong, labels[::-1], labels)
    selector = build(name, transformer(bert(), epochs=4, batch_size=6), n=70)
    selection = selector(texts, labels)
    assert len(selection.kept) == 70
    assert wrong[selection.rejected].mean() > 3 * wrong.mean()
    np.testing.assert_array_equal(selector(texts, labels).confidence, selection.confidence)


def test_probes_without_dropout(bert):
    probe = transformer(bert(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    for without in (probe, LinearProbe(), HanProbe(device="cpu")):
        assert not without.has_dropout
        with pytest.raises(
            LopsError,
            match=f"this {without.kind} probe has no dropout, so all passes would be the same",
        ):
            without.predict_with_dropout(["a"], 2)
        with pytest.raises(
            LopsError,
            match=f"entropy needs a probe with dropout, and this {without.kind} probe has none",
        ):
            build("entropy", without)
