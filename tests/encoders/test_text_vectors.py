"""Vectors of texts: what they are, and that a text is encoded once."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders import text_vectors
from lops_adapters.encoders.text_vectors import TextEncoder

from ..probes.toys import topic_texts

TEXTS, _ = topic_texts(60, seed=1)
TEXTS = list(dict.fromkeys(TEXTS))
# Rounded to float16: the last of 11 bits of numbers below 1.
TOLERANCE = 1e-3


@pytest.fixture
def make(tiny):
    """Make an encoder that counts what it computes: make(**settings) -> encoder; its ``computed``
    is the number of texts per batch.
    """

    def made(**settings):
        encoder = TextEncoder(
            **{"encoder": tiny("bert"), "max_tokens": 16, "device": "cpu", **SINGLE, **settings}
        )
        encoder.computed, usual = [], encoder._pooled
        encoder._pooled = lambda rows: encoder.computed.append(len(rows)) or usual(rows)
        return encoder

    return made


SINGLE = {"precision": "float32"}


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlnet", "gpt2"])
def test_the_mean_of_the_last_states_by_hand(make, tiny, kind):
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(tiny(kind)).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny(kind))
    found = make(encoder=tiny(kind)).encode(TEXTS)
    for text, vector in zip(TEXTS, found, strict=True):  # one by one: nothing is padded
        ids = tokenizer(text, truncation=True, max_length=16, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            mean = model(input_ids=ids).last_hidden_state[0].mean(dim=0).numpy()
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=TOLERANCE)


def test_shape_and_type(make):
    encoder = make()
    assert encoder.encode([]).shape == (0, encoder.width) == (0, 32)
    for texts in (["common1"], [""], ["", "common1"], TEXTS):
        found = encoder.encode(texts)
        assert (found.shape, found.dtype) == ((len(texts), 32), np.float32)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=2e-3)


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_empty_and_odd_texts(make, tiny, kind):
    texts = ["", "  ", "語", "lone \ud800 surrogate", "common1\0common2", "common3 " * 500]
    found = make(encoder=tiny(kind)).encode(texts)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[0], found[1])


def test_equal_texts_are_encoded_once(make):
    encoder = make()
    found = encoder.encode(["common1", "common2", "common1", "common1"])
    assert sum(encoder.computed) == 2
    np.testing.assert_array_equal(found[[0, 0]], found[[2, 3]])
    assert not np.array_equal(found[0], found[1])
    again = encoder.encode(["common3", "common2", "common1"])
    assert sum(encoder.computed) == 3
    np.testing.assert_array_equal(again[1:], found[[1, 0]])


def test_longer_texts_are_cut(make):
    long = " ".join(f"common{i % 12}" for i in range(30))
    cut = " ".join(long.split()[:14])  # and [CLS], [SEP]
    found = make().encode([long, cut, long + " common3"])
    np.testing.assert_array_equal(found[[0, 0]], found[1:])


def test_the_cache_keeps_them(make, tmp_path, caplog):
    first = make(cache=tmp_path)
    with caplog.at_level("INFO"):
        found = first.encode(TEXTS)
    said = f"encoding {len(TEXTS)} texts, once: vectors are kept in {tmp_path}"
    assert said in caplog.text
    second = make(cache=tmp_path)
    more = [*TEXTS[::-1], "common1 common1 common1 common1"]
    again = second.encode(more)
    np.testing.assert_array_equal(again[:-1][::-1], found)
    assert (sum(first.computed), sum(second.computed)) == (len(TEXTS), 1)
    assert make(cache=None).encode(TEXTS).tobytes() == found.tobytes()


@pytest.mark.parametrize("change", ["encoder", "weights", "max_tokens", "precision"])
def test_a_cache_of_another_encoder_is_not_used(make, tiny, tmp_path, change):
    usual = make(cache=tmp_path)
    found = usual.encode(TEXTS)
    if change == "encoder":
        other = make(cache=tmp_path, encoder=tiny("roberta"))
    elif change == "weights":
        other = make(cache=tmp_path, encoder=changed(tiny("bert"), tmp_path / "changed", 2.0))
    else:
        new = {"max_tokens": 12} if change == "max_tokens" else {"precision": "bfloat16"}
        other = make(cache=tmp_path, **new)
    assert not np.array_equal(other.encode(TEXTS), found)
    assert sum(other.computed) == len(TEXTS)
    back = make(cache=tmp_path)
    np.testing.assert_array_equal(back.encode(TEXTS), found)
    assert not back.computed


def changed(folder, to, factor):
    """Write an encoder whose first weights are multiplied by a factor."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder)
    with torch.no_grad():
        next(model.parameters()).mul_(factor)
    model.save_pretrained(to)
    AutoTokenizer.from_pretrained(folder).save_pretrained(to)
    return str(to)


def test_an_encoder_that_computes_nan(make, tiny, tmp_path):
    broken = changed(tiny("bert"), tmp_path / "broken", float("nan"))
    with pytest.raises(LopsError, match=r"the encoder '.*broken' computes NaN; wanted finite"):
        make(encoder=broken, cache=tmp_path / "cache").encode(TEXTS)
    assert not list((tmp_path / "cache").rglob("*.npz"))


def test_a_killed_run_resumes(make, tmp_path, monkeypatch):
    monkeypatch.setattr(text_vectors, "_BLOCK", 20)
    killed = make(cache=tmp_path)
    usual = killed._pooled

    def die(rows):
        if sum(killed.computed) >= 20:
            raise KeyboardInterrupt
        return usual(rows)

    killed._pooled = die
    with pytest.raises(KeyboardInterrupt):
        killed.encode(TEXTS)
    again = make(cache=tmp_path)
    found = again.encode(TEXTS)
    assert sum(again.computed) == len(TEXTS) - 20
    np.testing.assert_allclose(found, make().encode(TEXTS), atol=TOLERANCE)


def test_a_damaged_cache_is_encoded_again(make, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(text_vectors, "_BLOCK", 20)
    found = make(cache=tmp_path).encode(TEXTS)
    damaged = sorted(tmp_path.rglob("*.npz"))[0]
    damaged.write_bytes(damaged.read_bytes()[:500])
    again = make(cache=tmp_path)
    np.testing.assert_allclose(again.encode(TEXTS), found, atol=TOLERANCE)
    assert 0 < sum(again.computed) <= 20
    assert "is damaged" in caplog.text
    caplog.clear()
    last = make(cache=tmp_path)
    last.encode(TEXTS)
    assert not last.computed
    assert "is damaged" not in caplog.text


def test_a_cache_that_cannot_be_written(make, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    found = make(cache=tmp_path / "file").encode(TEXTS)
    np.testing.assert_array_equal(found, make().encode(TEXTS))
    assert "vectors are not kept" in caplog.text


def test_a_few_texts_are_not_looked_up_and_not_kept(make, tmp_path, monkeypatch):
    make(cache=tmp_path).encode(TEXTS[:31])
    assert not list(tmp_path.iterdir())
    made = []
    usual = text_vectors.VectorCache
    monkeypatch.setattr(text_vectors, "VectorCache", lambda *a: made.append(a) or usual(*a))
    encoder = make(cache=tmp_path)
    for start in (0, 32, 64):  # the weights are hashed once
        encoder.encode([f"common{i}" for i in range(start, start + 32)])
    assert len(made) == 1
    assert len(list(tmp_path.rglob("*.npz"))) == 3


def test_memory_has_a_limit(make, monkeypatch):
    monkeypatch.setattr(text_vectors, "_MOST", 20)
    encoder = make()
    found = encoder.encode(TEXTS[:15])
    more = encoder.encode(TEXTS[10:25])
    np.testing.assert_allclose(more[:5], found[10:], atol=TOLERANCE)
    assert len(encoder._memory) <= 20
    assert encoder.encode(TEXTS).shape == (len(TEXTS), 32)


def test_progress_on_terminals_only(make, capfd, bars, monkeypatch):
    from lops_adapters import console

    make().encode(TEXTS)
    assert capfd.readouterr() == ("", "")
    make().encode(TEXTS, quiet=False)
    assert "encoding" in capfd.readouterr().err
    monkeypatch.setattr(console, "_on_terminal", lambda: False)
    make().encode(TEXTS, quiet=False)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_tokens": 3}, "max_tokens is 3; .* takes 4 to 40 tokens"),
        ({"max_tokens": 41}, "max_tokens is 41"),
        ({"precision": "float64"}, "precision is 'float64'; wanted auto, bfloat16 or float32"),
        ({"device": "tpu"}, "device 'tpu' cannot be used"),
        ({"encoder": "/nowhere/at/all"}, "cannot load the encoder '/nowhere/at/all'"),
    ],
)
def test_bad_settings(make, settings, message):
    with pytest.raises(LopsError, match=message):
        make(**settings)


def test_every_process_has_its_card(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert text_vectors._own_card("auto") == "auto"
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert text_vectors._own_card("auto") == text_vectors._own_card("cuda") == "cuda:1"
    assert (text_vectors._own_card("cpu"), text_vectors._own_card("cuda:0")) == ("cpu", "cuda:0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert text_vectors._own_card("auto") == "auto"
