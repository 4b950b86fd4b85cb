"""Vectors kept between runs: found again, never wrong, never more than the limit."""

import os

import numpy as np
import pytest

from lops_adapters.encoders import kept_files
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.xclass.cache import cached_vectors
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
        wanted = np.flatnonzero(words.is_word[words.word_id])
        return cached_vectors(words, wanted, encoder, folder, tmp_path / "cache")

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


@pytest.mark.parametrize("damage", ["", "no numbers", "short", "other"])
def test_a_damaged_file_is_made_again(ask, tmp_path, caplog, damage):
    first = np.array(ask())
    (path,) = kept(tmp_path)
    if damage == "short":
        path.write_bytes(path.read_bytes()[:-9])
    elif damage == "other":
        np.save(path, first[:2])
    else:
        path.write_text(damage)
    np.testing.assert_array_equal(ask(), first)
    assert "is damaged" in caplog.text
    np.testing.assert_array_equal(np.load(path), first)


def test_the_least_recently_used_go_above_the_limit(ask, tmp_path, monkeypatch):
    ask()
    (first,) = kept(tmp_path)
    ask([*TEXTS, "A film."])
    (second,) = set(kept(tmp_path)) - {first}
    leftover = tmp_path / "cache" / "xclass" / ".x.npy.1.tmp"  # of a killed copy
    leftover.write_bytes(b"half")
    for age, path in enumerate((first, second, leftover)):
        os.utime(path, (100 - age, 100 - age))
    ask()  # used again
    monkeypatch.setattr(kept_files, "_LIMIT", first.stat().st_size + 600)
    ask([*TEXTS[1:], "A judge."])
    assert leftover not in kept(tmp_path)
    assert second not in kept(tmp_path)
    monkeypatch.setattr(kept_files, "_LIMIT", 10)
    before = kept(tmp_path)
    assert len(ask([*TEXTS, "Too many for it."])) == 13
    assert kept(tmp_path) == before


def test_without_a_writable_cache_the_run_goes_on(ask, tmp_path, caplog):
    (tmp_path / "cache").write_text("a file")
    assert len(ask()) == 9
    assert "not kept" in caplog.text
    assert (tmp_path / "work1" / "vectors.npy").exists()


def test_a_cache_on_another_file_system(ask, tmp_path, monkeypatch):
    from pathlib import Path

    def refuse(self, target):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "replace", refuse)
    first = np.array(ask())
    np.testing.assert_array_equal(np.load(kept(tmp_path)[0]), first)
