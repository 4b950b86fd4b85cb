"""Texts aligned by sentences that name the classes."""

from dataclasses import replace

import numpy as np
import pytest

from lops_adapters.core import LopsWarning
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.xclass.classes import TEMPLATES, class_vectors
from lops_adapters.xclass.pipeline import prepare


def test_a_class_is_the_mean_of_its_sentences():
    asked = []

    def read(sentences):
        asked.extend(sentences)
        return np.array([[len(one), 1.0 + ("law" in one)] for one in sentences], dtype=np.float32)

    vectors = class_vectors(["gun_law", "art"], read, ("{}", "On {}."))
    assert asked == ["gun law", "On gun law.", "art", "On art."]
    wanted = np.array([[(7 + 11) / 2, 2], [(3 + 7) / 2, 1]])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert vectors == pytest.approx(wanted)
    assert "{}" in TEMPLATES


def test_words_are_not_read_in_context(monkeypatch, dataset, go, tmp_path):
    monkeypatch.delattr(ContextEncoder, "encode")
    done = go(dataset, tmp_path / "run", ["standard"], alignment="sentences", classifier="linear")
    assert done.metrics["stages"]["alignment"]["micro_f1"] > 0.8
    assert not {"words_per_class", "name_vectors"} & done.metrics.keys()
    assert (done.path / "class_words.json").exists()  # of the predictions
    with np.load(done.path / "work" / "representation.npz") as stored:
        for name in ("documents", "classes"):  # each centred
            assert np.abs(stored[name].mean(axis=0)).max() < 1e-3
    assert prepare(dataset.corpus, done.job).alignment.codes.shape == (90,)


def test_a_class_name_that_no_text_holds_is_a_warning(dataset, go, tmp_path):
    names = {**dataset.corpus.names, dataset.corpus.classes[0]: ("foo bar",)}
    renamed = replace(dataset, corpus=replace(dataset.corpus, names=names))
    with pytest.warns(LopsWarning, match="no text holds the class name foo bar; name each class"):
        go(renamed, tmp_path / "run", ["standard"], alignment="sentences", classifier="linear")
