"""Likelihoods: one class applied too often, unequal classes, rare ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build
from lops_adapters.selection.committee.likelihoods import (
    MOST_WON,
    SPREAD,
    class_shares,
    likelihoods,
    preferred,
    skill,
    strengths,
    weakened,
)

COMMON, RARE = 200, (5, 8)


def world(seed=0):
    """Texts of two common classes, one label in five wrong, and two rare classes.

    Returns:
        texts, labels, and which labels of the common classes are right.

    """
    rng = np.random.default_rng(seed)
    texts, labels, right = list[str](), list[str](), list[bool]()
    for code, size in enumerate((COMMON, COMMON, *RARE)):
        for _ in range(size):
            own = [f"word{code}{i}" for i in rng.integers(0, 40, size=2)]
            shared = [f"shared{i}" for i in rng.integers(0, 200, size=8)]
            texts.append(" ".join([*own, *shared]))
            wrong = code < 2 and rng.random() < 0.2
            labels.append(f"class {1 - code if wrong else code}")
            right.append(code < 2 and not wrong)
    return texts, labels, np.array(right)


@pytest.mark.usefixtures("full_training")
@pytest.mark.parametrize(
    ("method", "options"), [("automatic", {}), ("committee", {"encoder": None})]
)
def test_right_labels_of_common_classes_stay(method, options):
    """Rare classes, which classifiers hardly know, cost few right labels of the others."""
    texts, labels, right = world(seed=1)
    n = 2 * COMMON
    found = build(method, LinearProbe(), seed=0, **options)(texts, labels).mask[:n]
    assert found[right[:n]].mean() > 0.85
    assert found[~right[:n]].mean() < (0.35 if method == "automatic" else 0.7)


def test_by_hand():
    shares = np.array([0.5, 0.3, 0.2])
    rows = np.array([[0.6, 0.2, 0.2], [0.1, 0.9, 0.0]])
    found = likelihoods(rows, shares)
    even = SPREAD / 3
    for row, own in zip(rows, found, strict=True):
        parts = [(p + even) / (share + even) for p, share in zip(row, shares, strict=True)]
        np.testing.assert_allclose(own, np.array(parts) / sum(parts))


@pytest.mark.parametrize("method", ["committee", "automatic"])
def test_an_overapplied_class_is_found_out(method):
    """Half of the texts of two classes are called by the third one's name.

    Divided by the mean self-confidence of a class instead, most of its wrong labels would stay.
    """
    rng, texts, gold, labels = np.random.default_rng(0), [], [], []
    for i in range(600):
        own = i % 3
        words = [f"w{own}x{j}" for j in rng.integers(0, 30, 4)]
        texts.append(" ".join([*words, *(f"c{j}" for j in rng.integers(0, 60, 6))]))
        gold.append(own)
        labels.append(2 if rng.random() < 0.4 else own)
    gold, labels = np.array(gold), np.array(labels)
    options = {"encoder": None} if method == "committee" else {}
    found = build(method, LinearProbe(), **options)(texts, labels)
    wrong = gold != labels
    trusted = found.confidence[~wrong & (labels == 2)]
    doubted = found.confidence[wrong]
    ranked = (trusted[:, None] > doubted[None, :]).mean()
    assert ranked > 0.8
    assert wrong[found.kept].mean() < wrong.mean() / 2


@given(st.integers(0, 10_000), st.integers(20, 200), st.integers(2, 6))
def test_rows_sum_to_one_and_shares_alone_say_nothing(seed, n, k):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), rng.choice(k, n, p=rng.dirichlet(np.ones(k)))])
    shares = class_shares(codes, k)
    found = likelihoods(rng.dirichlet(np.ones(k), len(codes)), shares)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    flat = likelihoods(np.tile(shares, (len(codes), 1)), shares)
    np.testing.assert_allclose(flat, 1 / k)  # how often a label is applied is no evidence
    assert preferred(flat, codes).all()
    assert skill(flat, codes) == pytest.approx(0, abs=1e-9)


def test_skill_of_predictions():
    codes = np.arange(300) % 3
    sure = np.eye(3)[codes] * 0.8 + 0.1
    rng = np.random.default_rng(0)
    assert skill(sure, codes) == 1
    assert skill(sure[rng.permutation(300)], codes) == pytest.approx(0, abs=0.1)
    assert skill(np.ones((5, 1)), np.zeros(5, dtype=int)) == 1


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_rare_class_wins_few_others(size):
    """Where a classifier knows nothing of a rare class, its likelihood stays near the average."""
    rng = np.random.default_rng(0)
    codes = np.array([0] * 500 + [1] * 500 + [2] * size)
    shares = class_shares(codes, 3)
    own = np.where(np.arange(len(codes)) < 500, 0.8, 0.2)
    rows = np.column_stack([own, 1 - own, shares[2] * rng.uniform(0.5, 4, len(codes))])
    found = likelihoods(rows / rows.sum(axis=1, keepdims=True), shares)
    assert (found.argmax(axis=1)[:1000] == 2).mean() == 0


@pytest.mark.parametrize("count", [1, 5, 40])
def test_a_class_wins_at_most_twice_as_many_others_as_it_has(count):
    """Texts that say little: every class fits them about equally well, the rare one best."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [300, 200, count])
    likely = rng.dirichlet([50, 50, 53], len(codes))
    others = codes != 2
    assert (likely.argmax(axis=1) == 2)[others].sum() > 100
    factors = strengths(likely, codes)
    assert factors[:2].tolist() == [1, 1]
    won = (weakened(likely, codes, factors).argmax(axis=1) == 2)[others].sum()
    assert won <= MOST_WON * count
    assert won >= MOST_WON * count - 1
    np.testing.assert_allclose(weakened(likely, codes, factors).sum(axis=1), 1)


def test_common_classes_and_one_class_are_not_limited():
    codes = np.repeat([0, 1], 50)
    assert strengths(np.tile([0.4, 0.6], (100, 1)), codes).tolist() == [1, 1]
    assert strengths(np.ones((3, 1)), np.zeros(3, dtype=int)).tolist() == [1]


def test_a_label_keeps_the_likelihood_of_its_own_class():
    """The factor is for samples with other labels, and for samples without one."""
    likely, factors = np.array([[0.4, 0.6]] * 3), np.array([1.0, 0.5])
    found = weakened(likely, np.array([1, 0, -1]), factors)
    np.testing.assert_allclose(found, [[0.4, 0.6], [4 / 7, 3 / 7], [4 / 7, 3 / 7]])
    np.testing.assert_array_equal(likely, [[0.4, 0.6]] * 3)
