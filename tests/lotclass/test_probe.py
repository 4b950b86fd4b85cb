"""The network as a probe: what every probe promises, its loss by hand, its weights as arrays."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.lotclass.documents import token_rows
from lops_adapters.lotclass.probe import LotclassProbe, TokenRow

from ..probes import test_conformance
from ..probes.toys import save_tiny_encoder
from .toys import documents

# What every probe promises, run here over this one; only what is about texts, settings and names of
# probes has no meaning for it.
PROMISES = (
    "test_a_class_without_samples", "test_bad_input_is_refused_before_any_work",
    "test_every_training_starts_afresh", "test_global_generators_are_left_alone",
    "test_global_generators_change_nothing", "test_it_learns", "test_one_sample_a_class",
    "test_prediction_does_not_depend_on_the_others", "test_quiet", "test_same_seed_same_snapshots",
    "test_save_and_load", "test_snapshots", "test_snapshots_further_apart", "test_training_is_lazy",
    "test_undecided", "test_untrained", "test_updates_count_themselves",
    "test_watching_does_not_change_the_training",
)  # fmt: skip
globals().update({name: getattr(test_conformance, name) for name in PROMISES})
snapshots, trained = test_conformance.snapshots, test_conformance.trained
K = 3


class OfTexts(LotclassProbe):
    """The probe for texts: all of their first tokens, read at two places."""

    def prepare(self, samples, *, fit=False):
        if any(not isinstance(text, str) for text in samples):
            raise LopsError("found something else")
        rows = token_rows(list(samples), self.tokenizer, 16)
        return [TokenRow(row, np.array([0, len(row) - 1])) for row in rows]

    @classmethod
    def load(cls, folder, *, device="auto"):
        loaded = LotclassProbe.load(folder, device=device)
        loaded.__class__ = cls
        return loaded


@pytest.fixture(scope="session")
def text_encoder(tmp_path_factory):
    return str(save_tiny_encoder("bert", tmp_path_factory.mktemp("texts")))


@pytest.fixture(scope="module")
def make(text_encoder, engine):
    settings = {
        "encoder": text_encoder,
        "epochs": 2,
        "batch_size": 3,
        "learning_rate": 3e-3,
        "micro_batch": 2,
        "engine": engine,
    }
    return lambda **changes: OfTexts(**{**settings, **changes})


@pytest.fixture
def probe(bert, engine):
    """probe(...) -> a network on the toy BERT, untrained, without dropout unless asked for."""

    def build(**changes):
        settings = {
            "encoder": bert,
            "epochs": 2,
            "batch_size": 4,
            "learning_rate": 0.01,
            "micro_batch": 3,
            "engine": engine,
        }
        made = LotclassProbe(**{**settings, **changes})
        made.start(K, seed=0)
        return without_dropout(made)

    return build


def without_dropout(made):
    import torch

    for module in made._network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return made


@pytest.fixture(scope="module")
def samples(tokenizer):
    """Ten samples of different lengths, read at one to four places."""
    rng = np.random.default_rng(0)
    rows = token_rows(documents(10)[0], tokenizer, 40)
    return [
        TokenRow(row, np.sort(rng.permutation(len(row))[: 1 + number % 4]))
        for number, row in enumerate(rows)
    ]


def logits(made, sample):
    """Class scores of one sample, alone and unpadded, (places, k)."""
    import torch

    with torch.no_grad():
        hidden = made._network["encoder"](
            input_ids=torch.tensor(sample.ids[None].astype(np.int64))
        ).last_hidden_state[0]
        return made._network["head"].eval()(hidden[sample.places]).numpy().astype(np.float64)


def log_softmax(scores):
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def losses(made, samples, targets, monkeypatch, batch=None):
    """The loss of each micro-batch of one update."""
    found = []

    def step(network, optimizer, parts, loss, seed):
        found.extend((part.tolist(), float(loss(part).detach())) for part in parts)
        optimizer.step()

    monkeypatch.setattr(made.engine, "step", step)
    batch = np.arange(len(samples)) if batch is None else batch
    made.tuner(samples, 0.1, 10, seed=0)(batch, targets[batch].astype(np.float32))
    return found


@pytest.mark.parametrize("by_token", [False, True])
def test_the_loss_by_hand(probe, samples, monkeypatch, by_token):
    made = probe(by_token=by_token)
    targets = np.random.default_rng(1).dirichlet(np.ones(K), len(samples))
    batch = np.array([7, 2, 3, 0, 9])
    found = losses(made, samples, targets, monkeypatch, batch)
    each = {i: -(log_softmax(logits(made, samples[i])) @ targets[i]) for i in batch.tolist()}
    places = sum(len(samples[i].places) for i in batch)
    assert places > len(batch)
    for part, loss in found:
        wanted = sum(
            each[i].sum() / places if by_token else each[i].mean() / len(batch) for i in part
        )
        assert loss == pytest.approx(wanted, rel=1e-4)
    assert sorted(i for part, _ in found for i in part) == sorted(batch.tolist())
    assert max(len(part) for part, _ in found) == 3


def test_probabilities_are_the_mean_over_places(probe, samples):
    made = probe()
    wanted = [np.exp(log_softmax(logits(made, sample))).mean(axis=0) for sample in samples]
    np.testing.assert_allclose(made.predict_prepared(samples), wanted, atol=1e-5)
    np.testing.assert_allclose(
        made.predict_prepared(samples, np.array([3, 1])), [wanted[3], wanted[1]], atol=1e-5
    )
    made.predict_tokens = 1
    np.testing.assert_allclose(made.predict_prepared(samples), wanted, atol=1e-5)


def test_weights_come_back(probe, samples):
    made = probe()
    made.fit(samples, np.arange(10) % K, K, seed=3)
    kept = made.weights()
    assert {array.dtype for array in kept.values()} == {np.dtype(np.float32)}
    wanted = made.predict_prepared(samples)
    other = probe()
    other.restore(kept, K)
    np.testing.assert_array_equal(other.predict_prepared(samples), wanted)
    before = {name: array.copy() for name, array in kept.items()}
    update = made.tuner(samples, 0.1, 4, seed=0)
    update(np.arange(4), np.eye(K, dtype=np.float32)[[0, 1, 2, 0]])
    assert all((kept[name] == before[name]).all() for name in kept)  # copies
    assert any((made.weights()[name] != before[name]).any() for name in before)


def test_a_fresh_network(probe, bert):
    """The encoder is the pretrained one; the seed draws the head."""
    from transformers import AutoModel

    made = probe()
    encoder = AutoModel.from_pretrained(bert).state_dict()
    first = made.weights()
    for name, array in first.items():
        if name.startswith("encoder."):
            assert (encoder[name.removeprefix("encoder.")].numpy() == array).all()
    assert not any("pooler" in name for name in first)
    assert (first["head.3.bias"] == 0).all()
    assert first["head.3.weight"].shape == (K, 16)
    made.start(K, seed=0)
    assert all((made.weights()[name] == first[name]).all() for name in first)
    made.start(K, seed=1)
    assert (made.weights()["head.0.weight"] != first["head.0.weight"]).any()


def test_the_optimiser_and_its_schedule(probe, samples, monkeypatch):
    import torch

    made, found = probe(), []
    monkeypatch.setattr(
        made.engine,
        "step",
        lambda network, optimizer, *_: found.append(optimizer) or optimizer.step(),
    )
    update = made.tuner(samples, 0.5, 20, seed=0)
    rates = []
    for _ in range(20):
        update(np.arange(2), np.eye(K, dtype=np.float32)[:2])
        rates.append(found[-1].param_groups[0]["lr"])
    assert rates == pytest.approx([0.25, 0.5, *[0.5 * (20 - step) / 18 for step in range(3, 21)]])
    assert isinstance(found[0], torch.optim.AdamW)
    assert len({id(optimizer) for optimizer in found}) == 1
    group = found[0].param_groups[0]
    assert (group["weight_decay"], group["eps"]) == (0.0, 1e-8)
    assert {id(parameter) for parameter in group["params"]} == {
        id(parameter) for parameter in made._network.parameters()
    }
