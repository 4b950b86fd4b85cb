"""Vectors kept between runs: found again, never wrong, never more than the limit."""

import numpy as np
import pytest

from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.xclass.vectors import cached_vectors
from lops_adapters.xclass.words import read_words

TEXTS = ["The judge and the jury.", "A match, a goal!"]


@pytest.fixture
def encoder(bert):
    return ContextEncoder(bert, layers=1, max_pieces=32, precision="float32")


@pytest.fixture
def ask(encoder, tmp_path):
    """ask(texts) -> vectors; every call computes in another folder."""
    calls = []

    def vectors(texts=TEXTS, encoder=encoder):
        words = read_words(texts)
        calls.append(1)
        folder = tmp_path / f"work{len(calls)}"
        folder.mkdir()
        return cached_vectors(words, encoder, folder, tmp_path / "cache")

    return vectors


def no_encoding(monkeypatch):
    monkeypatch.setattr(ContextEncoder, "encode", lambda *_: pytest.fail("encoded again"))


def kept(tmp_path):
    return sorted((tmp_path / "cache" / "xclass").iterdir())


def test_the_second_run_does_not_encode(ask, tmp_path, monkeypatch):
    first = np.array(ask())
    assert len(kept(tmp_path)) == 1
    assert not (tmp_path / "work1" / "vectors.npy").exists()  # moved
    no_encoding(monkeypatch)
    np.testing.assert_array_equal(ask(), first)


def test_other_words_or_another_encoder_are_encoded(ask, bert, tmp_path):
    ask()
    ask([*TEXTS, "A film."])
    ask(encoder=ContextEncoder(bert, layers=1, max_pieces=16, precision="float32"))
    ask(encoder=ContextEncoder(bert, layers=2, max_pieces=32, precision="float32"))
    changed = ContextEncoder(bert, layers=1, max_pieces=32, precision="float32")
    next(changed._model.parameters()).data.add_(1.0)
    ask(encoder=changed)
    assert len(kept(tmp_path)) == 5


def test_a_file_of_another_shape_is_made_again(ask, tmp_path, caplog):
    first = np.array(ask())
    (path,) = kept(tmp_path)
    np.save(path, first[:2])
    np.testing.assert_array_equal(ask(), first)
    assert "is damaged" in caplog.text
    np.testing.assert_array_equal(np.load(path), first)


def test_without_a_writable_cache_the_run_goes_on(ask, tmp_path, caplog):
    (tmp_path / "cache").write_text("a file")
    assert len(ask()) == 9
    assert "not kept" in caplog.text
    assert (tmp_path / "work1" / "vectors.npy").exists()


def test_a_cache_on_another_file_system(ask, tmp_path, monkeypatch):
    from pathlib import Path

    replace = Path.replace

    def refuse(self, target):
        if self.parent != Path(target).parent:
            raise OSError(18, "Invalid cross-device link")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    first = np.array(ask())
    np.testing.assert_array_equal(np.load(kept(tmp_path)[0]), first)
