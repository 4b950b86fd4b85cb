"""LOPS_TAU=auto in a patched repository: the shares that held-out linear probes prefer."""

import math
import sys

import numpy as np
import pytest

from lops_adapters.core import tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection.committee.folds import EARLY_LOOKS, LEAST_UPDATES, fold_of
from lops_adapters.selection.committee.likelihoods import (
    LEAST_SKILL,
    SPREAD,
    class_shares,
    likelihoods,
    preferred,
)
from lops_adapters.selection.methods.auto_keep import FOLDS, prefer

from .glue_tools import loaded, noisy_tokens


@pytest.fixture
def glue(tmp_path, monkeypatch):
    with loaded("conwea", tmp_path, monkeypatch):
        yield sys.modules["lops_held_out"]


def numbers(shares, labels):
    """How many labels of each class the shares stand for, as LearningOrder reads them."""
    counts = np.bincount(labels)
    return {label: math.ceil(share * counts[label]) for label, share in shares.items()}


def test_words_are_counted_per_document(glue):
    documents = np.array([[[3, 0], [3, 1]], [[0, -1], [0, 0]], [[2, 2], [2, 0]]])
    bags = glue.count_words(documents)
    rows = [
        dict(zip(bags.words[a:b].tolist(), bags.values[a:b].tolist(), strict=True))
        for a, b in zip(bags.starts[:-1], bags.starts[1:], strict=True)
    ]
    assert rows == [{1: 1, 3: 2}, {4: 1}, {2: 3}]  # the second has only the extra word


def test_the_numbers_are_those_of_the_package(glue):
    assert (glue.FOLDS, glue.LOOKS) == (FOLDS, EARLY_LOOKS)
    assert (glue.SPREAD, glue.LEAST_SKILL) == (SPREAD, LEAST_SKILL)
    assert glue.LEAST_UPDATES == LEAST_UPDATES
    probe = LinearProbe()
    assert (probe.epochs, probe.batch_size, probe.learning_rate) == (
        glue.EPOCHS,
        glue.BATCH_SIZE,
        glue.LEARNING_RATE,
    )


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_the_shares_are_those_of_the_package(glue, noise):
    """All wrong labels are of class 1, as of rules that apply one label too often."""
    ids, labels, _ = noisy_tokens(n=600, length=12, share=0)
    truth = labels.copy()
    wrong = np.random.default_rng(1).permutation(600)[: int(noise * 600)]
    labels[wrong] = 1
    texts = [" ".join(f"w{word}w" for word in row) for row in ids]
    found = prefer(Labelled.of(texts, [f"c{label}" for label in labels]), LinearProbe())
    kept = numbers(glue.agreed_shares(ids, labels, 3), labels)
    for label in range(3):
        own = labels == label
        right = int((truth[own] == label).sum())
        assert kept[label] == pytest.approx(found.reports[label].kept, abs=3)
        assert kept[label] == pytest.approx(right, abs=0.05 * own.sum())


@pytest.mark.parametrize("rare", [2, 12])
@pytest.mark.parametrize("seed", range(2))
def test_what_agrees_is_what_the_package_prefers(glue, seed, rare):
    """Also with a class that is too small to compete, or nearly."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, 200, p=[0.7, 0.2, 0.1])
    labels[:rare] = 3
    probabilities = rng.dirichlet([7, 2, 1, 1], 200)
    likely = likelihoods(probabilities, class_shares(labels, 4, FOLDS))
    np.testing.assert_allclose(glue.likelihoods(probabilities, labels), likely)
    agreed = glue.agrees(probabilities, labels)
    assert agreed.tolist() == preferred(likely, labels).tolist()
    assert agreed[:rare].any() == (rare > 2)
    largest = probabilities.argmax(axis=1) == labels
    assert agreed.tolist() != largest.tolist()  # the division counts


def test_the_checkpoint_with_most_agreed_labels_counts(glue, monkeypatch):
    labels = np.array([0] * 20 + [1] * 20)
    early, late = np.full((2, 40, 2), [0.9, 0.1])
    early[24:] = late[28:] = [0.1, 0.9]  # 36 and 32 agree

    def predictions(bags, labels, n_classes, rest, here, seed):
        yield from (look[here] for look in (late, early, late))

    monkeypatch.setattr(glue, "_predictions", predictions)
    shares = glue.agreed_shares(np.ones((40, 2), dtype=int), labels, 2)
    assert shares == {0: 19.5 / 20, 1: 15.5 / 20}
    assert numbers(shares, labels) == {0: 20, 1: 16}


def test_a_small_class_is_kept_whole(glue):
    ids, labels, _ = noisy_tokens(n=300)
    labels[:2] = 3
    shares = glue.agreed_shares(ids, labels, 5)
    assert list(shares) == [0, 1, 2, 3]  # 4 has no document
    kept = numbers(shares, labels)
    assert kept.pop(3) == 2
    assert all(0 < kept[label] < (labels == label).sum() for label in kept)


def test_labels_that_say_nothing_of_the_documents_are_all_kept(glue):
    rng = np.random.default_rng(0)
    ids, labels = rng.integers(1, 50, (400, 6)), rng.integers(0, 4, 400)
    assert glue.agreed_shares(ids, labels, 4) == dict.fromkeys(range(4), 1.0)
    texts = [" ".join(f"w{word}w" for word in row) for row in ids]
    assert prefer(Labelled.of(texts, labels.tolist()), LinearProbe()).mask.all()


def test_the_folds_are_those_of_the_package(glue):
    labels = np.random.default_rng(1).integers(0, 3, 50)
    assert glue._folds(labels, 7).tolist() == fold_of(labels, 3, 7).tolist()
    assert glue.tie_hash(np.arange(3), 7).tolist() == tie_hash(np.arange(3), 7).tolist()


def test_few_or_odd_documents(glue):
    assert glue.agreed_shares(np.ones((2, 3)), [0, 1], 2) == {0: 1.0, 1: 1.0}
    empty = np.zeros((9, 4), dtype=int)
    shares = glue.agreed_shares(empty, [0, 1, 2] * 3, 4)  # one class has no document
    assert numbers(shares, [0, 1, 2] * 3) == {0: 3, 1: 3, 2: 3}  # nothing can be learnt


def test_a_seed_decides_and_large_tables_are_counted_in_parts(glue, monkeypatch):
    ids, labels, _ = noisy_tokens(n=300)
    shares = glue.agreed_shares(ids, labels, 3, seed=4)
    assert min(shares.values()) < 1
    monkeypatch.setattr(glue, "_ROWS", 7)
    monkeypatch.setattr(glue, "_SCORES", 20)
    assert glue.agreed_shares(ids, labels, 3, seed=4) == shares
