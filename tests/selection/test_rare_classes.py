"""A rare class costs the others nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import build
from lops_adapters.selection.automatic import best_checkpoint, relative, self_confidence, strength

from .stand_in import hidden_rare, relative_margins

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


@pytest.mark.parametrize(
    ("method", "options"), [("automatic", {}), ("committee", {"encoder": None})]
)
def test_right_labels_of_common_classes_stay(method, options):
    """As many are kept as without the rare classes, and no more wrong ones."""
    texts, labels, right = world(seed=1)
    n = 2 * COMMON
    wrong = ~right[:n]
    selector = build(method, LinearProbe(), seed=0, **options)
    found, alone = selector(texts, labels).mask[:n], selector(texts[:n], labels[:n]).mask
    assert found[right[:n]].mean() > alone[right[:n]].mean() - 0.03
    assert found[wrong].mean() < alone[wrong].mean() + 0.03


def test_right_labels_of_other_samples_stay():
    """A fitted judge limits rare classes as the selection does."""
    n, judges = 2 * COMMON, []
    texts, labels, _ = world(seed=1)
    build("committee", LinearProbe(), seed=0, encoder=None, fitted=judges.append)(texts, labels)
    others, given, right = world(seed=2)
    codes = np.array([judges[0].classes.index(label) for label in given])
    found = judges[0](others[:n], codes[:n]).mask
    strengths = judges[0].strengths
    assert (strengths[:, :2] == 1).all()
    assert (strengths[:, 2:] < 1).any()
    without = replace(judges[0], strengths=np.ones_like(strengths))(others[:n], codes[:n]).mask
    assert found[right[:n]].mean() > without[right[:n]].mean() + 0.1


def cases(seed, n, k, bias):
    """Return probabilities, codes and no small classes; class 0 is rare, its probability too."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate(
        [np.arange(k), rng.choice(k, n, p=np.r_[0.02, np.full(k - 1, 0.98 / (k - 1))])]
    )
    probabilities = rng.dirichlet(np.r_[0.05, np.full(k - 1, 1.0)], len(codes))
    probabilities[np.arange(len(codes)), codes] += bias * rng.random(len(codes))
    return probabilities / probabilities.sum(axis=1, keepdims=True), codes, np.zeros(k, dtype=bool)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(20, 200), st.integers(2, 6), st.floats(0, 2), st.booleans()
)
def test_a_class_wins_no_more_samples_than_it_has(seed, n, k, bias, first_is_small):
    probabilities, codes, small = cases(seed, n, k, bias)
    small[0] = first_is_small
    own = self_confidence(probabilities, codes)
    found = strength(probabilities, codes, small, own)
    assert ((found >= 0) & (found <= 1)).all()
    assert (found[small] == 0).all()
    judged = relative(probabilities, codes, small)
    np.testing.assert_allclose(judged.sum(axis=1), 1)
    winner = judged.argmax(axis=1)
    claims = np.bincount(winner[winner != codes], minlength=k)
    assert (claims <= np.bincount(codes)).all()
    order = np.random.default_rng(seed).permutation(len(codes))
    again = strength(probabilities[order], codes[order], small, own)
    np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("over", [False, True])
def test_the_limit_meets_only_classes_above_it(over):
    """Class 1 has 4 samples and is the most probable one of 4 or 5 others."""
    codes = np.array([0] * 20 + [1] * 4)
    probabilities = np.tile([0.8, 0.2], (24, 1))
    lead = [0.6, 0.58, 0.56, 0.54, 0.52]
    probabilities[: 4 + over, 1] = lead[: 4 + over]
    probabilities[:, 0] = 1 - probabilities[:, 1]
    probabilities[20:] = [0.5, 0.5]
    own = self_confidence(probabilities, codes)
    found = strength(probabilities, codes, np.zeros(2, dtype=bool), own)
    divided = probabilities / own
    expected = divided[4, 0] / divided[4, 1] if over else 1.0
    np.testing.assert_allclose(found, [1.0, expected], rtol=2e-6)
    judged = relative(probabilities, codes, np.zeros(2, dtype=bool))
    assert (judged[:20, 1] > judged[:20, 0]).sum() == 4
    assert found[1] < expected or not over
    own_labels = divided[20:] / divided[20:].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(judged[20:], own_labels)  # the limit is for other labels


def test_limited_classes_do_not_shield_each_other():
    """What the first rare class loses, the second, hidden behind it, does not win."""
    probabilities, codes = hidden_rare()
    judged = relative(probabilities, codes, np.zeros(3, dtype=bool))
    winner = judged.argmax(axis=1)[:30]
    assert np.bincount(winner, minlength=3)[1:].max() == 1


def test_the_limit_does_not_choose_the_checkpoint():
    """Early, the rare class beats 30 labels, late 2; limited, it beats none of these ties."""
    codes = np.array([0] * 40 + [1])
    early = np.array([[0.9, 0.1]] * 10 + [[0.7, 0.3]] * 30 + [[0.72, 0.28]])
    late = np.array([[0.9, 0.1]] * 38 + [[0.4, 0.6]] * 2 + [[0.6, 0.4]])
    none = np.zeros(2, dtype=bool)
    limited = [int((relative_margins(rows, codes, none) >= 0).sum()) for rows in (early, late)]
    assert limited == [41, 41]
    assert best_checkpoint({0.5: early, 1.0: late}, codes, none) == 1.0
    assert best_checkpoint({0.5: early, 1.0: early}, codes, none) == 0.5
    late[-1] = [0.8, 0.2]  # its label is kept whole, and it takes none of the others'
    small = np.array([False, True])
    assert best_checkpoint({0.5: late[:, ::-1] * [1, 0], 1.0: late}, codes, small) == 1.0
