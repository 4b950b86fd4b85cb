"""Vectors of a part: written whole, found again by their texts, read forward."""

import os
import pickle

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.scale import vectors

pytest.importorskip("pyarrow")
WIDTH = 3


def encode(texts):
    return np.array([[len(text), int(text[1:]), 0.5] for text in texts], dtype=np.float32)


def texts(n):
    return [f"t{i}" for i in range(n)]


def written(folder, own):
    path = folder / vectors.name_of(own)[0]
    vectors.write(path, own, encode, WIDTH)
    return path


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(vectors, "ROWS", 8)
    monkeypatch.setattr(vectors, "CHUNK", 20)


def test_a_file_is_found_by_its_texts(tmp_path):
    own = texts(50)
    path = written(tmp_path / "folder", own)
    assert vectors.name_of(iter(own)) == (path.name, 50) != vectors.name_of(own[::-1])
    assert vectors.is_whole(path, 50, WIDTH)
    places = np.array([0, 7, 8, 49])
    found = vectors.picked(path, places, WIDTH)
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, encode([own[i] for i in places]))
    assert vectors.picked(path, places[:0], WIDTH).shape == (0, WIDTH)


@pytest.mark.parametrize(("count", "width"), [(49, WIDTH), (50, WIDTH + 1)])
def test_a_file_that_does_not_fit_is_removed(tmp_path, count, width):
    path = written(tmp_path, texts(50))
    assert not vectors.is_whole(path, count, width)
    assert not path.exists()


def test_half_a_file_is_removed(tmp_path):
    path = written(tmp_path, texts(50))
    path.write_bytes(path.read_bytes()[:200])
    assert not vectors.is_whole(path, 50, WIDTH)
    assert not path.exists()


def test_an_encoder_that_fails_leaves_nothing(tmp_path):
    def fails(some):
        if "t30" in some:
            raise LopsError("no memory")
        return encode(some)

    with pytest.raises(LopsError, match="no memory"):
        vectors.write(tmp_path / "a.parquet", texts(50), fails, WIDTH)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LopsError, match=r"cannot be written to .*; give another --vectors"):
        vectors.write(tmp_path / "file" / "a.parquet", texts(5), encode, WIDTH)


def test_reading_forward(tmp_path):
    """Also copies, rows that are left out, and two views that ask for the same rows."""
    own = [*texts(40), *["t3"] * 20, *texts(70)[40:]]
    read = vectors.Forward(written(tmp_path, own))
    for start in range(0, len(own), 10):
        some = own[start : start + 10 : 2]
        for _ in range(2):
            np.testing.assert_array_equal(read(some), encode(some))
        assert len(read._held) <= 3
    assert read(some).dtype == np.float32


def test_texts_of_another_part(tmp_path):
    read = vectors.Forward(written(tmp_path, texts(50)))
    with pytest.raises(LopsError, match=r"has no vectors of 2 texts; remove it, and run again"):
        read(["t1", "t77", "t78"])


def test_a_folder_that_other_machines_do_not_see(tmp_path):
    with pytest.raises(LopsError, match="wanted a folder that all machines see"):
        vectors.Forward(tmp_path / "none.parquet")(["t1"])


def test_an_encoder_without_a_model():
    own = texts(5)
    stored = vectors.Stored("none", source=vectors.Held(own, encode(own).astype(np.float16)))
    np.testing.assert_array_equal(stored.vectors(["t4", "t0"]), encode(["t4", "t0"]))
    one, (bound, other) = stored, pickle.loads(pickle.dumps((stored.vectors, stored)))
    assert one.source is not None
    assert other.source is None
    other.source = encode
    assert bound(["t2"]).tolist() == encode(["t2"]).tolist()


def test_what_killed_workers_left(tmp_path):
    old, new = tmp_path / ".a.parquet.1.tmp", tmp_path / ".b.parquet.2.tmp"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    vectors.tidy(tmp_path)
    assert list(tmp_path.iterdir()) == [new]
