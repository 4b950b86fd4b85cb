"""The demo corpus: original news prose, no near-duplicates, honestly ambiguous seed words."""

from collections import Counter

import numpy as np
import pytest

from lops_adapters.datasets import load_dataset as load
from lops_adapters.evaluation import noise
from lops_adapters.pseudo_labels import string_match


@pytest.fixture(scope="module")
def demo():
    return load("demo")


def test_size_topics_and_lengths(demo):
    assert len(demo.corpus) >= 800
    counts = Counter(demo.gold.labels)
    assert (
        sorted(counts)
        == ["arts", "business", "politics", "science", "sports"]
        == list(demo.corpus.classes)
    )
    assert min(counts.values()) >= 100
    words = [len(text.split()) for text in demo.corpus.texts]
    assert min(words) >= 40
    assert max(words) <= 120


def test_string_match_is_wrong_on_15_to_30_percent(demo):
    result = string_match(demo.corpus.texts, demo.corpus.seeds)
    wrong = noise(result.labels, np.array(demo.gold.labels, dtype=object)[result.positions])
    assert 0.15 <= wrong <= 0.30
    assert 0.5 <= result.coverage <= 0.9
    assert not result.empty_classes
