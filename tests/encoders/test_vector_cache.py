"""Vectors on disk: what is found again, what is damaged, what makes room."""

import os
import time

import numpy as np
import pytest

from lops_adapters.encoders import vector_cache
from lops_adapters.encoders.vector_cache import VectorCache, text_keys

TEXTS = [f"text {i}" for i in range(12)]
KEYS = text_keys(TEXTS)
WIDE = 20_000  # numbers; the rest of such a file matters little
VECTORS = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float16)


@pytest.fixture
def cache(tmp_path):
    return VectorCache(tmp_path / "encoder", 5)


def read(cache, keys=KEYS, width=5):
    into = np.zeros((len(keys), width), dtype=np.float16)
    return cache.read(keys, into), into


def fill(cache):
    cache.add(KEYS[:6], VECTORS[:6])
    cache.add(KEYS[6:10], VECTORS[6:10])


def test_what_is_added_is_found_by_key(cache):
    assert not read(cache)[0].any()  # without a folder
    fill(cache)
    order = np.random.default_rng(1).permutation(12)
    found, into = read(VectorCache(cache.folder, 5), KEYS[order])
    np.testing.assert_array_equal(found, order < 10)
    np.testing.assert_array_equal(into[found], VECTORS[order[found]])
    assert not into[~found].any()


def test_equal_keys_are_all_filled(cache):
    fill(cache)
    found, into = read(cache, KEYS[[3, 11, 3]])
    assert found.tolist() == [True, False, True]
    np.testing.assert_array_equal(into[[0, 2]], VECTORS[[3, 3]])


def test_keys():
    texts = ["", " ", "a", "A", "語", "\ud800", "a" * 10_000]
    assert text_keys(texts).dtype == np.dtype("V16")
    assert len(set(text_keys(texts).tolist())) == len(texts)
    assert text_keys(["a"]).tolist() == text_keys(["b", "a"]).tolist()[1:]
    assert text_keys([]).shape == (0,)


def other(change):
    """Damage: the file holds other arrays."""

    def rewrite(path):
        with np.load(path) as arrays:
            np.savez(path, **{**arrays, **change(arrays["keys"], arrays["vectors"])})

    return rewrite


def without_vectors(path):
    with np.load(path) as arrays:
        np.savez(path, keys=arrays["keys"])


def flipped(path):
    content = bytearray(path.read_bytes())
    at = content.find(VECTORS[:6].tobytes())
    content[at + 3] ^= 255
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"no zip archive"),
        lambda path: path.write_bytes(path.read_bytes()[:-40]),
        lambda path: path.write_bytes(path.read_bytes()[:300]),
        other(lambda keys, vectors: {"vectors": vectors.astype(np.float32)}),
        other(lambda keys, vectors: {"vectors": vectors[:, :4]}),  # of another width
        other(lambda keys, vectors: {"vectors": vectors[:-1]}),
        other(lambda keys, vectors: {"vectors": np.array([{}] * 6, dtype=object)}),
        other(lambda keys, vectors: {"keys": keys.astype(np.int64)}),
        without_vectors,
        flipped,
    ],
)
def test_a_damaged_file_is_said_removed_and_written_again(cache, damage, caplog):
    cache.add(KEYS[:6], VECTORS[:6])
    (path,) = cache.folder.iterdir()
    cache.add(KEYS[6:10], VECTORS[6:10])
    damage(path)
    again = VectorCache(cache.folder, 5)
    found, into = read(again)
    assert found.tolist() == [False] * 6 + [True] * 4 + [False] * 2
    np.testing.assert_array_equal(into[6:10], VECTORS[6:10])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert f"{path} is damaged" in caplog.text
    assert not path.exists()
    again.add(KEYS[:6], VECTORS[:6])
    assert read(VectorCache(cache.folder, 5))[0].sum() == 10


def test_a_file_that_cannot_be_opened_stays(cache, monkeypatch, caplog):
    fill(cache)
    usual = np.load

    def refuse(path):
        if path == paths[0]:
            raise PermissionError(13, "Permission denied")
        return usual(path)

    paths = sorted(cache.folder.iterdir())
    monkeypatch.setattr(np, "load", refuse)
    assert 0 < read(cache)[0].sum() < 10
    assert "cannot be read ([Errno 13] Permission denied); its texts are encoded" in caplog.text
    assert sorted(cache.folder.iterdir()) == paths


def test_a_file_that_another_process_removes_meanwhile_is_no_news(cache, monkeypatch, caplog):
    fill(cache)

    def gone(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(np, "load", gone)
    assert not read(cache)[0].any()
    assert not caplog.records


@pytest.mark.parametrize("error", [PermissionError(13, "denied"), OSError(30, "read-only")])
def test_a_folder_that_cannot_be_written(cache, monkeypatch, caplog, error):
    def refuse(*_, **__):
        tried.append(1)
        raise error

    tried = []
    monkeypatch.setattr(vector_cache, "write_arrays", refuse)
    fill(cache)
    assert len(tried) == 1  # and not again for every block
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert f"vectors are not kept in {cache.folder}" in caplog.text


@pytest.fixture
def blocks(tmp_path, monkeypatch):
    """Five files of two encoders, the first the longest unused; room for six."""
    paths = []
    for number in range(5):
        cache = VectorCache(tmp_path / f"encoder{number % 2}", WIDE)
        cache.add(text_keys([f"{number}"] * 1), np.zeros((1, WIDE), dtype=np.float16))
        (path,) = set(cache.folder.iterdir()) - set(paths)
        os.utime(path, (1000 + number, 1000 + number))
        paths.append(path)
    size = paths[0].stat().st_size
    monkeypatch.setattr(vector_cache, "_LIMIT", int(6.5 * size))
    return paths


def left(blocks):
    return [number for number, path in enumerate(blocks) if path.exists()]


def test_the_least_recently_used_files_make_room(blocks, tmp_path):
    cache = VectorCache(tmp_path / "encoder0", WIDE)
    first = text_keys(["0"])
    assert read(cache, first, WIDE)[0].all()  # used now
    new = text_keys(["new"])
    cache.add(new, np.zeros((1, WIDE), dtype=np.float16))
    assert left(blocks) == [0, 1, 2, 3, 4]
    cache.add(text_keys(["newer"]), np.zeros((1, WIDE), dtype=np.float16))
    assert left(blocks) == [0, 2, 3, 4]  # also of another encoder
    total = sum(path.stat().st_size for path in tmp_path.glob("*/*.npz"))
    assert total <= vector_cache._LIMIT
    assert read(VectorCache(tmp_path / "encoder0", WIDE), new, WIDE)[0].all()


def test_a_block_that_was_not_asked_for_is_not_used(blocks, tmp_path):
    before = blocks[0].stat().st_mtime
    read(VectorCache(tmp_path / "encoder0", WIDE), text_keys(["unknown"]), WIDE)
    assert blocks[0].stat().st_mtime == before


def test_a_block_above_the_limit_is_not_kept(blocks, tmp_path, caplog):
    cache = VectorCache(tmp_path / "encoder0", WIDE)
    cache.add(text_keys(["large"]), np.zeros((1, 10 * WIDE), dtype=np.float16))
    assert left(blocks) == [0, 1, 2, 3, 4]
    assert f"vectors are not kept: {tmp_path} has no room" in caplog.text


def test_files_are_counted_once_below_the_limit(cache, monkeypatch):
    counted, usual = [], vector_cache._files
    monkeypatch.setattr(vector_cache, "_files", lambda root: counted.append(1) or usual(root))
    for number in range(12):
        cache.add(KEYS[number : number + 1], VECTORS[number : number + 1])
    assert len(counted) == 1
    assert read(cache)[0].all()


def test_what_a_kill_left_behind_goes_after_a_day(cache):
    cache.folder.mkdir()
    old, fresh = (cache.folder / f".{name}.npz.{name}.tmp" for name in ("11", "22"))
    for path in (old, fresh):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * 86_400,) * 2)
    fill(cache)
    assert not old.exists()
    assert fresh.exists()
    assert read(cache)[0].sum() == 10
