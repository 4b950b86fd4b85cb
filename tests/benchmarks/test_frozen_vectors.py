"""Vectors of another machine reach the cache if they are the encoder's."""

import numpy as np
import pytest

from benchmarks import frozen_vectors
from lops_adapters.core import LopsError
from lops_adapters.encoders.text_vectors import TextEncoder

from ..probes.toys import save_tiny_encoder

TEXTS = [f"{'abcdefgh'[i % 8]} {'hgfedcba'[i // 8]} {'b c ' * (i % 5)}" for i in range(40)]


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """A function that makes an encoder, which computes in float32."""
    folder = str(save_tiny_encoder("bert", tmp_path_factory.mktemp("bert")))
    return lambda **more: TextEncoder(
        **{"encoder": folder, "max_tokens": 16, "precision": "float32", "device": "cpu", **more}
    )


@pytest.fixture
def folder(make, tmp_path):
    """A folder with the vectors of all texts."""
    make(cache=tmp_path / "computed").encode(TEXTS)
    return tmp_path / "computed"


def test_kept_vectors_are_read_and_not_computed(make, folder, tmp_path, monkeypatch):
    expected = make().encode(TEXTS)
    other = [*TEXTS, "another"]
    assert frozen_vectors.keep(make(), other, folder, tmp_path / "cache") == len(TEXTS)
    reader = make(cache=tmp_path / "cache")
    monkeypatch.setattr(reader, "_pooled", None)
    np.testing.assert_array_equal(reader.encode(TEXTS), expected)


@pytest.mark.parametrize("change", ["vectors", "length", "texts", "empty"])
def test_what_is_not_the_encoders_is_refused(make, folder, tmp_path, change):
    encoder, texts = make(), TEXTS
    path = next(folder.glob("*/*.npz"))
    if change == "vectors":
        with np.load(path) as arrays:
            keys, vectors = arrays["keys"], arrays["vectors"]
        np.savez(path, keys=keys, vectors=vectors[::-1])
        says = "has a cosine of"
    elif change == "length":
        with np.load(path) as arrays:
            keys, vectors = arrays["keys"], arrays["vectors"]
        np.savez(path, keys=keys, vectors=vectors[:, 1:])
        says = "holds vectors of"
    elif change == "texts":
        texts, says = ["none of these"], "has none of these texts"
    else:
        path.unlink()
        says = r"holds no \.npz file"
    with pytest.raises(LopsError, match=says):
        frozen_vectors.keep(encoder, texts, folder, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_the_corpora_of_the_command(tmp_path, monkeypatch, make, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder, name = tmp_path / "vectors", make().encoder
    fixed = ["--encoder", name, "--data-dir", str(tmp_path), "--folder", str(folder)]
    fixed += ["--corpora", "demo", "--max-tokens", "8", "--device", "cpu"]
    assert frozen_vectors.main(["compute", *fixed]) == 0
    assert frozen_vectors.main(["keep", *fixed]) == 0
    assert "800 of 800 texts have a vector" in capsys.readouterr().out
    assert list((tmp_path / "cache" / "lops_adapters" / "vectors").glob("*/*.npz"))
