"""LOPS_TAU=auto in a patched repository: the share that held-out linear probes agree with."""

import sys

import numpy as np
import pytest

from lops_adapters.core import tie_hash
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection.automatic import Automatic, self_confidence, strength
from lops_adapters.selection.folds import fold_of

from ..selection.stand_in import hidden_rare, relative_margins
from .glue_tools import loaded, noisy_tokens


def _of(probabilities, labels):
    none = np.zeros(probabilities.shape[1], dtype=bool)
    return probabilities, labels, none, self_confidence(probabilities, labels)


@pytest.fixture
def glue(tmp_path, monkeypatch):
    with loaded("conwea", tmp_path, monkeypatch):
        yield sys.modules["lops_held_out"]


def test_words_are_counted_per_document(glue):
    documents = np.array([[[3, 0], [3, 1]], [[0, -1], [0, 0]], [[2, 2], [2, 0]]])
    bags = glue.count_words(documents)
    rows = [
        dict(zip(bags.words[a:b].tolist(), bags.values[a:b].tolist(), strict=True))
        for a, b in zip(bags.starts[:-1], bags.starts[1:], strict=True)
    ]
    assert rows == [{1: 1, 3: 2}, {4: 1}, {2: 3}]  # the second has only the extra word


@pytest.mark.parametrize("noise", [0.0, 0.2, 0.4])
def test_the_share_is_that_of_the_package(glue, noise):
    ids, labels, wrong = noisy_tokens(n=600, length=12, share=noise)
    texts = [" ".join(f"w{word}w" for word in row) for row in ids]
    kept = Automatic(LinearProbe())(texts, [f"c{label}" for label in labels]).kept
    share = glue.agreed_share(ids, labels, 3)
    assert share == pytest.approx(len(kept) / 600, abs=0.005)
    assert share == pytest.approx(1 - len(wrong) / 600, abs=0.05)


def test_what_agrees_is_what_the_package_keeps(glue):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    labels[:2] = 3  # a small class
    probabilities = rng.dirichlet(np.ones(4), 200)
    small = np.bincount(labels, minlength=4) < 3
    wanted = (relative_margins(probabilities, labels, small) >= 0) | small[labels]
    assert glue.agrees(probabilities, labels).tolist() == wanted.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_rare_classes_are_limited_as_in_the_package(glue, seed):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(5).repeat(4), rng.integers(0, 3, 180)])
    probabilities = rng.dirichlet([2, 2, 2, 0.2, 0.2], 200)
    wanted = relative_margins(probabilities, labels, np.zeros(5, dtype=bool)) >= 0
    assert glue.agrees(probabilities, labels).tolist() == wanted.tolist()
    assert (strength(*_of(probabilities, labels)) < 1).any()


def test_rare_classes_do_not_hide_each_other(glue):
    probabilities, labels = hidden_rare()
    wanted = relative_margins(probabilities, labels, np.zeros(3, dtype=bool)) >= 0
    glue.FOLDS = 1  # so that no class is too small to compete
    assert glue.agrees(probabilities, labels).tolist() == wanted.tolist()
    assert (~wanted[:30]).sum() == 1


def test_the_limit_does_not_choose_the_checkpoint(glue, monkeypatch):
    """Early, the rare class beats 30 labels, late 2 and its own is lost."""
    labels = np.array([0] * 40 + [1])
    early = np.array([[0.9, 0.1]] * 10 + [[0.7, 0.3]] * 30 + [[0.72, 0.28]])
    late = np.array([[0.9, 0.1]] * 38 + [[0.4, 0.6]] * 2 + [[0.9, 0.1]])

    def predictions(bags, labels, n_classes, rest, here, seed):
        yield from [early[here]] * 4 + [late[here]] * 4

    monkeypatch.setattr(glue, "_predictions", predictions)
    monkeypatch.setattr(glue, "FOLDS", 1)
    unlimited = [glue.agrees(look, labels, limits=False).sum() for look in (early, late)]
    assert unlimited[0] < unlimited[1]
    wanted = glue.agrees(late, labels).sum() / 41
    assert glue.agrees(early, labels).sum() / 41 != wanted
    assert glue.agreed_share(np.ones((41, 2), dtype=int), labels, 2) == wanted


def test_the_folds_are_those_of_the_package(glue):
    labels = np.random.default_rng(1).integers(0, 3, 50)
    assert glue._folds(labels, 7).tolist() == fold_of(labels, 3, 7).tolist()
    assert glue.tie_hash(np.arange(3), 7).tolist() == tie_hash(np.arange(3), 7).tolist()


def test_few_or_odd_documents(glue):
    assert glue.agreed_share(np.ones((2, 3)), [0, 1], 2) == 1.0
    empty = np.zeros((9, 4), dtype=int)
    assert 0 < glue.agreed_share(empty, [0, 1, 2] * 3, 4) <= 1  # one class has no document


def test_a_seed_decides_and_large_tables_are_counted_in_parts(glue, monkeypatch):
    ids, labels, _ = noisy_tokens(n=300)
    share = glue.agreed_share(ids, labels, 3, seed=4)
    monkeypatch.setattr(glue, "_ROWS", 7)
    monkeypatch.setattr(glue, "_SCORES", 20)
    assert glue.agreed_share(ids, labels, 3, seed=4) == share
