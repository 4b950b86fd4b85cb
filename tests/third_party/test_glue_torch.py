"""The glue of X-Class and LOTClass on small data, with a tiny BERT."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from ..framework_tools import save_bert
from .glue_tools import Watch, loaded, noisy_tokens, random_states_unchanged

K = 3
# Toys this small teach a class nothing now and then. That warning's class is of a module in a
# temporary folder, which the process that collects the tests' warnings cannot load.
pytestmark = [
    pytest.mark.filterwarnings("ignore:nothing was learnt"),
    pytest.mark.usefixtures("one_thread"),
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    words = [f"w{number}" for number in range(12)]
    return save_bert(tmp_path_factory.mktemp("bert"), words, hidden_size=32)


def classifier(bert):
    import torch
    from transformers import AutoModelForSequenceClassification

    with torch.random.fork_rng():
        torch.manual_seed(5)
        return AutoModelForSequenceClassification.from_pretrained(bert, num_labels=K)


def weights(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one, other):
    import torch

    return all(torch.equal(one[name], other[name]) for name in one)


def xclass_data(n=60):
    import torch
    from torch.utils.data import TensorDataset

    ids, labels, wrong = noisy_tokens(n)
    ids = torch.tensor(
        np.concatenate([np.full((len(ids), 1), 2), ids, np.full((len(ids), 1), 3)], axis=1)
    )
    return TensorDataset(
        ids, torch.ones_like(ids), torch.zeros_like(ids), torch.tensor(labels)
    ), wrong


def xclass_options(**changes):
    import torch

    usual = {
        "device": torch.device("cpu"),
        "seed": 42,
        "n_gpu": 0,
        "model_type": "bert",
        "per_gpu_train_batch_size": 4,
        "gradient_accumulation_steps": 2,
        "learning_rate": 3e-3,
        "weight_decay": 0.0,
        "adam_epsilon": 1e-8,
        "max_grad_norm": 1.0,
    }
    return SimpleNamespace(**{**usual, **changes})


def test_xclass(bert, tmp_path, monkeypatch):
    import torch
    from torch.utils.data import TensorDataset

    dataset, wrong = xclass_data()
    model = classifier(bert)
    model.eval()
    optimizer = torch.optim.AdamW(model.parameters())
    before, its_state = weights(model), copy.deepcopy(optimizer.state_dict())
    with loaded("xclass", tmp_path, monkeypatch, LOPS_EPOCHS="10", LOPS_TAU="0.7") as glue:
        watch = Watch(monkeypatch)
        with random_states_unchanged():
            kept = glue.keep(dataset, xclass_options(), model, K)
        expected = watch.expected(wrong)
        again = glue.keep(dataset, xclass_options(), model, K)
    assert isinstance(kept, TensorDataset)
    assert all(
        torch.equal(now, tensor[expected])
        for now, tensor in zip(kept.tensors, dataset.tensors, strict=True)
    )
    assert all(
        torch.equal(now, then) for now, then in zip(again.tensors, kept.tensors, strict=True)
    ), "the same seed selects the same"
    assert watch.arguments[3] == 8, "60 documents, 8 an update: two parts of 4"
    assert same(weights(model), before)
    assert not model.training
    assert all(parameter.grad is None for parameter in model.parameters())
    assert optimizer.state_dict() == its_state


def test_xclass_passes_token_types_to_bert_alone(bert, tmp_path, monkeypatch):
    dataset, _ = xclass_data(n=12)
    seen = []

    class Recorder(type(classifier(bert))):
        def forward(self, *args, **kwargs):
            seen.append("token_type_ids" in kwargs)
            return super().forward(*args, **kwargs)

    model = classifier(bert)
    model.__class__ = Recorder
    with loaded("xclass", tmp_path, monkeypatch, LOPS_EPOCHS="1", LOPS_TAU="1") as glue:
        for kind in ("bert", "roberta"):
            glue.keep(dataset, xclass_options(model_type=kind), model, K)
            assert set(seen) == {kind == "bert"}
            seen.clear()


def lotclass_network():
    """A stand-in for LOTClass's class: encoder, class head, untrained language-model head."""
    import torch
    from transformers import AutoModel

    made = []

    class Network(torch.nn.Module):
        def __init__(self, bert, num_labels):
            super().__init__()
            self.bert = AutoModel.from_pretrained(bert, add_pooling_layer=False)
            width = self.bert.config.hidden_size
            self.cls = torch.nn.Linear(width, 20)
            self.cls.weight.requires_grad = False
            self.head = torch.nn.Sequential(
                torch.nn.Linear(width, width),
                torch.nn.Tanh(),
                torch.nn.Dropout(0.1),
                torch.nn.Linear(width, num_labels),
            )

        @classmethod
        def from_pretrained(cls, name, num_labels):
            made.append(cls(name, num_labels))
            return made[-1]

        def forward(self, input_ids, pred_mode, attention_mask=None, token_type_ids=None):
            assert pred_mode == "classification"
            return self.head(self.bert(input_ids, attention_mask=attention_mask)[0])

    Network.made = made
    return Network


def trainer(bert, **changes):
    usual = {
        "pretrained_lm": bert,
        "num_class": K,
        "mask_id": 4,
        "train_batch_size": 4,
        "world_size": 1,
        "accum_steps": 2,
    }
    return SimpleNamespace(**{**usual, **changes})


def fast(glue, monkeypatch):
    """A tiny random network needs a larger rate than a pretrained one."""
    training = glue.TorchTraining
    monkeypatch.setattr(
        glue, "TorchTraining", lambda **settings: training(**{**settings, "learning_rate": 3e-3})
    )


def test_lotclass_rows(bert, tmp_path, monkeypatch):
    import torch

    ids, labels, wrong = noisy_tokens(length=10)
    ids = torch.tensor(ids)
    ids[:, 0] = 2
    places = torch.full_like(ids, -1)
    places[:, 3] = torch.tensor(labels)
    places[::2, 6] = torch.tensor(labels)[::2]
    data = {"input_ids": ids, "attention_masks": torch.ones_like(ids), "labels": places}
    before = {name: tensor.clone() for name, tensor in data.items()}
    network = lotclass_network()
    with loaded("lotclass", tmp_path, monkeypatch, LOPS_EPOCHS="15", LOPS_TAU="0.7") as glue:
        watch = Watch(monkeypatch)
        fast(glue, monkeypatch)
        with random_states_unchanged():
            kept = glue.keep_rows(data, trainer(bert), network)
        assert glue.keep_documents(data, 0, trainer(bert), network) is data
    expected = watch.expected(wrong)
    assert watch.labels.tolist() == labels.tolist()
    assert all(torch.equal(kept[name], tensor[expected]) for name, tensor in before.items())
    assert same(data, before)
    assert watch.arguments[3] == 8
    assert np.allclose(np.concatenate(watch.seen).sum(axis=1), 1.0, atol=1e-5)
    assert len(network.made) == 1, "one fresh network"


def test_lotclass_masks_the_places_that_it_asks_about(bert, tmp_path, monkeypatch):
    import torch

    network, seen = lotclass_network(), []
    forward = network.forward
    monkeypatch.setattr(
        network,
        "forward",
        lambda self, ids, **more: seen.append(ids.clone()) or forward(self, ids, **more),
    )
    ids = torch.tensor(noisy_tokens(n=12)[0])
    places = torch.full_like(ids, -1)
    places[:, 2] = torch.arange(12) % K
    with loaded("lotclass", tmp_path, monkeypatch, LOPS_EPOCHS="1", LOPS_TAU="1") as glue:
        glue.keep_rows(
            {"input_ids": ids, "attention_masks": torch.ones_like(ids), "labels": places},
            trainer(bert),
            network,
        )
    for batch in seen:
        assert (batch[:, 2] == 4).all()
        assert (batch[:, [0, 1, 3]] != 4).all()


def test_lotclass_refresh(bert, tmp_path, monkeypatch):
    import torch

    ids, labels, wrong = noisy_tokens()
    ids = torch.tensor(np.concatenate([np.full((len(ids), 1), 2), ids], axis=1))
    targets = torch.tensor(0.8 * np.eye(K)[labels] + 0.2 / K, dtype=torch.float32)
    data = {"input_ids": ids, "attention_masks": torch.ones_like(ids), "labels": targets}
    network = lotclass_network()
    with loaded(
        "lotclass",
        tmp_path,
        monkeypatch,
        LOPS_AT="refresh",
        LOPS_EPOCHS="15",
        LOPS_TAU="0.7",
        LOPS_RULE="ranked",
    ) as glue:
        watch = Watch(monkeypatch)
        fast(glue, monkeypatch)
        assert glue.keep_rows(data, trainer(bert), network) is data
        assert not network.made
        with random_states_unchanged():
            kept = glue.keep_documents(data, 0, trainer(bert), network)
    expected = watch.expected(wrong)
    assert all(torch.equal(kept[name], tensor[expected]) for name, tensor in data.items())


def test_the_schedule_is_the_probes_own(bert, tmp_path, monkeypatch):
    """The rate rises over a tenth of the updates, then falls nearly to 0, for the probe alone."""
    import torch

    rates, made = [], []

    class Recorder(torch.optim.AdamW):
        def __init__(self, parameters, **settings):
            made.append((list(parameters), settings))
            super().__init__(made[-1][0], **settings)

        def step(self):
            rates.append(self.param_groups[0]["lr"])
            super().step()

    ids, labels, _ = noisy_tokens(n=40)
    ids = torch.tensor(ids)
    data = {
        "input_ids": ids,
        "attention_masks": torch.ones_like(ids),
        "labels": torch.eye(K)[labels],
    }
    network = lotclass_network()
    with loaded("lotclass", tmp_path, monkeypatch, LOPS_AT="refresh", LOPS_TAU="1") as glue:
        monkeypatch.setattr(torch.optim, "AdamW", Recorder)
        glue.keep_documents(data, 0, trainer(bert), network)
    assert np.allclose(rates, [2e-5 * min(step / 2, (20 - step) / 18) for step in range(20)])
    ((parameters, settings),) = made
    assert settings == {"lr": 2e-5, "eps": 1e-8, "weight_decay": 0.0}
    (probe,) = network.made
    assert {id(parameter) for parameter in parameters} == {
        id(p) for name, p in probe.named_parameters() if name != "cls.weight"
    }
