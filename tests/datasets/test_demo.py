"""The demo corpus: original news prose, no near-duplicates, honestly ambiguous seed words."""

import re
from collections import Counter, defaultdict

import numpy as np
import pytest

from lops_adapters.datasets import load
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


def test_ids_do_not_give_the_topic_away(demo):
    assert not any(label in doc_id for doc_id in demo.corpus.ids for label in demo.corpus.classes)


def test_string_match_is_wrong_on_15_to_30_percent(demo):
    result = string_match(demo.corpus.texts, demo.corpus.seeds)
    wrong = noise(result.labels, np.array(demo.gold.labels, dtype=object)[result.positions])
    assert 0.15 <= wrong <= 0.30
    assert 0.5 <= result.coverage <= 0.9
    assert not result.empty_classes


def test_every_seed_word_is_used_in_several_topics(demo):
    topics = defaultdict(set)
    for text, label in zip(demo.corpus.texts, demo.gold.labels, strict=True):
        for word in set(re.findall(r"[a-z]+", text.lower())):
            topics[word].add(label)
    ambiguous = [
        seed for seeds in demo.corpus.seeds.values() for seed in seeds if len(topics[seed]) >= 2
    ]
    assert len(ambiguous) >= 0.8 * sum(map(len, demo.corpus.seeds.values()))


def test_no_near_duplicates(demo):
    """No two documents share more than an eighth of the shorter one's word triples."""
    triples = []
    for text in demo.corpus.texts:
        words = re.findall(r"[a-z']+", text.lower())
        triples.append({tuple(words[i : i + 3]) for i in range(len(words) - 2)})
    holders = defaultdict(list)
    for number, own in enumerate(triples):
        shared = Counter(other for triple in own for other in holders[triple])
        for other, count in shared.items():
            assert count <= min(len(own), len(triples[other])) / 8, (
                demo.corpus.texts[number],
                demo.corpus.texts[other],
            )
        for triple in own:
            holders[triple].append(number)


def test_openings_are_not_a_template(demo):
    openings = Counter(" ".join(text.split()[:3]) for text in demo.corpus.texts)
    assert max(openings.values()) <= 5
