"""The masked language model: its head is the checkpoint's or trained here, and its decoder is tied
in either case.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from lops_adapters import storage
from lops_adapters.core import LopsError
from lops_adapters.lotclass import masked_lm
from lops_adapters.lotclass.documents import token_rows
from lops_adapters.lotclass.masked_lm import (
    HeadTraining,
    Masker,
    load_network,
    prepare_language_model,
)

from ..probes.toys import global_states
from .toys import documents, save_masked_bert

SHORT = HeadTraining(epochs=1, updates=1, batch_size=4, micro_batch=2, learning_rate=0.01)


@pytest.fixture(scope="module")
def rows(tokenizer):
    return token_rows(documents(12)[0], tokenizer, 40)


@pytest.fixture
def prepare(bert, rows, tokenizer, engine, tmp_path):
    """prepare(encoder=..., documents=..., training=..., cache=...) -> the language model, by
    default one that is trained shortly.
    """

    def run(encoder=bert, documents=rows, training=SHORT, cache=tmp_path / "cache"):
        return prepare_language_model(
            encoder, documents, tokenizer, engine, training, cache=cache, quiet=True
        )

    return run


@pytest.mark.parametrize("kind", ["masked_bert", "masked_roberta"])
def test_a_checkpoint_with_a_head_is_taken_as_it_is(kind, request, prepare, engine, tmp_path):
    import torch
    from safetensors.torch import load_file

    folder = request.getfixturevalue(kind)
    found = prepare(folder)
    assert (found.source, found.accuracy, found.seconds) == (folder, None, 0.0)
    assert not (tmp_path / "cache").exists()
    before = global_states()
    model, headless = load_network(folder, engine)
    assert global_states() == before
    assert not headless
    stored = load_file(f"{folder}/model.safetensors")
    state = model.state_dict()
    assert not any(
        "decoder.weight" in name for name in stored
    )  # transformers writes tied matrices once
    assert all(torch.equal(state[name], tensor) for name, tensor in stored.items())
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


@pytest.mark.parametrize("stored", [True, False])
def test_an_untied_decoder_is_refused(engine, tmp_path, stored):
    """Whether the checkpoint has one of its own, or lacks it and it is drawn at random."""
    folder = save_masked_bert(tmp_path, tie_word_embeddings=not stored)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
    with pytest.raises(
        LopsError,
        match=(
            r"the decoder of .* is not tied to its embeddings; wanted a masked language model "
            "whose decoder is"
        ),
    ):
        load_network(folder, engine)


def test_what_is_no_masked_language_model(engine, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(LopsError, match="cannot load 'no/such/model' as a masked language model"):
        load_network("no/such/model", engine)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(LopsError, match="wanted minilm, or a BERT- or RoBERTa-like model"):
        load_network(str(tmp_path), engine)
    with pytest.raises(LopsError, match="object has no head that LOTClass knows"):
        masked_lm.head(object())


def test_a_trained_head_beats_chance(finished, tokenizer, engine):
    """On documents that it has not seen; chance is the share of the most frequent token."""
    assert 0 <= finished.metrics["masked_accuracy"] <= 1
    source = json.loads(
        (finished.path / "standard" / "model" / "network" / "probe.json").read_text()
    )["encoder"]
    rows = token_rows(documents(60, seed=1)[0], tokenizer, 40)
    counts = np.bincount(np.concatenate(rows), minlength=len(tokenizer))
    counts[tokenizer.all_special_ids] = 0
    masker, rng = Masker(tokenizer), np.random.default_rng(0)
    accuracy = masked_lm._accuracy(
        load_network(source, engine)[0], [masker.mask(row, rng) for row in rows], tokenizer, engine
    )
    assert accuracy > 1.2 * counts.max() / counts.sum()


def test_a_trained_model_is_found_again(prepare, monkeypatch, engine, tmp_path):
    before = global_states()
    first = prepare()
    assert global_states() == before
    folder = Path(first.source)
    assert folder.parent == tmp_path / "cache"
    stored = json.loads((folder / "lops.json").read_text())
    assert (first.accuracy, first.seconds) == (stored["accuracy"], stored["seconds"])
    assert 0 <= first.accuracy <= 1
    assert first.seconds > 0
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    model, headless = load_network(first.source, engine)
    assert not headless
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    monkeypatch.setattr(masked_lm, "_train", None)
    assert prepare() == first


@pytest.mark.parametrize("name", ["lops.json", "model.safetensors"])
@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"[]" + data[2:]]
)
def test_a_damaged_model_is_trained_again(prepare, name, damage, caplog):
    first = prepare()
    path = Path(first.source, name)
    whole = Path(first.source, "model.safetensors").read_bytes()
    path.write_bytes(damage(path.read_bytes()))
    again = prepare()
    assert "is damaged (" in caplog.text
    assert (again.source, again.accuracy) == (first.source, first.accuracy)
    assert Path(first.source, "model.safetensors").read_bytes() == whole


def test_the_same_inputs_give_the_same_bytes(prepare, tmp_path):
    np.random.seed(3)
    one, other = (Path(prepare(cache=tmp_path / name).source) for name in "ab")
    assert one.name == other.name
    assert (one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()


def test_other_inputs_are_another_model(prepare, rows, tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr(
        masked_lm,
        "_train",
        lambda model, documents, *_, **__: trained.append(len(documents)) or 0.5,
    )
    prepare()
    prepare(documents=rows[:-1])
    prepare(documents=[np.concatenate(rows[:2]), *rows[2:]])
    prepare(documents=[*rows[1:], rows[0]])
    prepare(
        training=HeadTraining(epochs=2, updates=1, batch_size=4, micro_batch=2, learning_rate=0.01)
    )
    assert len(trained) == len(list((tmp_path / "cache").iterdir())) == 5
    prepare()
    assert len(trained) == 5


@pytest.mark.parametrize(
    ("epochs", "updates", "expected"), [(2, 1, 2), (1, 1, 1), (1, 3, 2), (1, 4, 2), (1, 5, 3)]
)
def test_a_small_corpus_is_gone_through_more_often(
    prepare, rows, engine, monkeypatch, epochs, updates, expected
):
    steps = []
    monkeypatch.setattr(engine, "step", lambda *_: steps.append(1))
    n_trained = len(rows) - max(1, int(0.05 * len(rows)))
    prepare(
        training=HeadTraining(
            epochs=epochs, updates=updates, batch_size=-(-n_trained // 2), micro_batch=n_trained
        )
    )
    assert len(steps) == 2 * expected


def test_a_training_that_dies_while_it_writes_leaves_no_model(prepare, monkeypatch, tmp_path):
    write = storage.write_json
    monkeypatch.setattr(masked_lm, "_train", lambda *_, **__: 0.5)

    def die(path, value):
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "write_json", die)
    with pytest.raises(KeyboardInterrupt):
        prepare()
    assert all(path.name.startswith(".") for path in (tmp_path / "cache").iterdir())
    monkeypatch.setattr(storage, "write_json", write)
    folder = Path(prepare().source)
    left = f".{folder.name}.4194305.0.tmp"  # as a killed process leaves it
    folder.rename(folder.with_name(left))
    assert prepare().accuracy == 0.5
    assert list((tmp_path / "cache").iterdir()) == [folder]


@pytest.mark.parametrize("texts", [[], ["", "  "], ["law", ""]])
def test_too_little_to_train_on(prepare, tokenizer, texts):
    with pytest.raises(
        LopsError, match="documents with words; wanted at least two to train a language model on"
    ):
        prepare(documents=token_rows(texts, tokenizer, 40))


def test_two_documents_are_enough(prepare, tokenizer):
    assert prepare(documents=token_rows(["law", "", "sport"], tokenizer, 40)).accuracy is not None


def test_what_is_masked(tokenizer):
    """15 % of the ordinary tokens; of these 80 % are the mask, 10 % something else, 10 % as they
    were.
    """
    masker, rng = Masker(tokenizer), np.random.default_rng(0)
    row = np.array([2, *rng.integers(5, len(tokenizer), 200), 1, 0, 3], dtype=np.int32)
    before = row.copy()
    kinds = np.zeros(3)
    places = np.zeros(len(row))
    for _ in range(300):
        changed, chosen, stood = masker.mask(row, rng)
        assert len(chosen) == 30
        assert (np.diff(chosen) > 0).all()
        assert (stood == row[chosen]).all()
        others = np.setdiff1d(np.arange(len(row)), chosen)
        assert (changed[others] == row[others]).all()
        is_mask = changed[chosen] == tokenizer.mask_token_id
        same = changed[chosen] == stood
        kinds += [is_mask.sum(), (~is_mask & ~same).sum(), same.sum()]
        assert not np.isin(changed[chosen][~is_mask], tokenizer.all_special_ids).any()
        places[chosen] += 1
    assert (row == before).all()
    np.testing.assert_allclose(kinds / kinds.sum(), [0.8, 0.1, 0.1], atol=0.015)
    assert places[[0, 201, 202, 203]].sum() == 0
    assert places[1:201].min() > 0


def test_short_rows(tokenizer):
    masker, rng = Masker(tokenizer), np.random.default_rng(0)
    _, chosen, stood = masker.mask(np.array([2, 7, 3], dtype=np.int32), rng)
    assert (chosen.tolist(), stood.tolist()) == ([1], [7])
    changed, chosen, stood = masker.mask(np.array([2, 3], dtype=np.int32), rng)
    assert (changed.tolist(), len(chosen), len(stood)) == ([2, 3], 0, 0)
