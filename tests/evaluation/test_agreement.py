"""Agreement beyond chance, and whether one source is as good as another."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from lops_adapters.evaluation import agreement
from lops_adapters.evaluation.agreement import alpha, confusion, difference, kappa, of_classes


def test_kappa_by_hand():
    """Of 50 rows, 35 are equal; by chance .5 * .6 + .5 * .4: (.7 - .5) / .5. Its error by Fleiss,
    Cohen and Everitt's formula, without smoothing, is .1265.
    """
    found = kappa(np.array([[20, 5], [10, 15]]))
    assert found.value == pytest.approx(0.4)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * 0.1265, abs=0.01)
    first, _, last = of_classes(np.array([[20, 5, 0], [10, 15, 0], [0, 0, 50]]))
    assert first == kappa(np.array([[20, 5], [10, 65]]))
    assert (last.value, last.rows) == (1, 100)
    assert kappa(np.zeros((2, 2), dtype=int)) is None


def test_few_rows_that_agree_are_not_certain():
    few, many = kappa(np.array([[3, 0], [0, 2]])), kappa(np.array([[300, 0], [0, 200]]))
    assert few.value == many.value == few.high == 1
    assert few.low < 0.8
    assert many.low > 0.98


def test_one_label_only_says_nothing():
    assert kappa(np.array([[40, 0], [0, 0]])).value == 0
    assert alpha(np.zeros((5, 2), dtype=int), 2).value == 0
    assert alpha(np.array([[0, -1], [-1, 1]]), 2) is None


def test_alpha_by_hand():
    """Krippendorff's example of 2 coders and 10 units: alpha is .095 (Computing Krippendorff's
    Alpha-Reliability, 2011, section A).
    """
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    found = alpha(np.array([first, second]).T, 2)
    assert found.value == pytest.approx(0.095, abs=0.001)
    assert found.low < found.value < found.high
    with_single = np.array([[*first, 1], [*second, -1]]).T
    assert alpha(with_single, 2).value == pytest.approx(found.value)


def drawn(n=300, m=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, k, n)
    votes = np.where(rng.random((n, m)) < 0.7, true[:, None], rng.integers(0, k, (n, m)))
    votes[rng.random((n, m)) < 0.2] = -1
    return votes


def test_alpha_is_that_of_krippendorff():
    library = pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    votes = drawn()
    table = np.where(votes < 0, np.nan, votes).T
    expected = library.alpha(reliability_data=table, level_of_measurement="nominal")
    assert alpha(votes, 3).value == pytest.approx(expected, abs=1e-9)


def test_kappa_is_that_of_scikit_learn():
    votes = drawn()
    both = (votes[:, 0] >= 0) & (votes[:, 1] >= 0)
    expected = cohen_kappa_score(votes[both, 0], votes[both, 1])
    found = kappa(confusion(votes[:, 0], votes[:, 1], 3))
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.rows == both.sum()


def sources(rng, n=2000, right=(0.85, 0.8)):
    """True classes, two sources, and probabilities of which the first half is worth something."""
    true = rng.integers(0, 2, n)
    first, second = (np.where(rng.random(n) < one, true, 1 - true) for one in right)
    sure = np.where(rng.random(n) < 0.9, true, 1 - true)
    probabilities = np.where(np.eye(2)[sure] > 0, 0.9, 0.1)
    return true, first, second, probabilities


def checked_rows(rng, true, count):
    checked = np.full(len(true), -1)
    rows = rng.permutation(len(true))[:count]
    checked[rows] = true[rows]
    return checked


def test_the_interval_of_a_difference_holds_and_gets_narrower_by_probabilities():
    rng = np.random.default_rng(0)
    holds, widths = {"own": 0, "even": 0}, {"own": 0.0, "even": 0.0}
    for _ in range(200):
        true, first, second, probabilities = sources(rng)
        checked = checked_rows(rng, true, 60)
        even = np.full_like(probabilities, 0.5)
        for name, one in (("own", probabilities), ("even", even)):
            found = difference(first, second, checked, one, 0.05)
            holds[name] += found.low <= 0.05 <= found.high
            widths[name] += found.high - found.low
    assert min(holds.values()) >= 180
    assert widths["own"] < 0.85 * widths["even"]


def test_a_difference_by_hand():
    """Of 20 rows, 10 differ; in the 8 checked of these the first is right: the mean is 1 there.
    Probabilities say nothing: the variance is that of three further rows, (0 + 3) / 11 / 8,
    and its root counts 1 + (1.96^2 + 1) / 32 times, as in Student's distribution.
    """
    first, second = np.zeros(20, dtype=int), np.array([1] * 10 + [0] * 10)
    checked = np.array(([0] * 8 + [-1] * 2) * 2)
    found = difference(first, second, checked, np.full((20, 2), 0.5), 0.05)
    of_differing = (3 / 88) ** 0.5 * (1 + (1.96**2 + 1) / 32)
    of_share = 11 * 11 / 22**2 / 20
    error = 1.96 * ((0.5 * of_differing) ** 2 + (1 + 1 / 18) * of_share) ** 0.5
    assert (found.value, found.rows) == (pytest.approx(0.5), 16)
    assert found.high - found.value == pytest.approx(error, abs=0.001)
    one = np.where(np.arange(20) < 1, 0, np.where(first == second, 0, -1))
    assert difference(first, second, one, np.full((20, 2), 0.5), 0.05).low < -0.4  # of one row
    none = difference(first, second, np.where(first == second, checked, -1), np.eye(2)[first], 0.05)
    assert none.value == 0
    assert none.low < -0.35  # nothing is known of the rows that differ


def test_verdicts():
    rng = np.random.default_rng(1)
    true, good, bad, even = sources(rng, n=3000, right=(0.9, 0.6))
    many, few = checked_rows(rng, true, 1500), checked_rows(rng, true, 12)
    assert difference(good, bad, many, even, 0.05).verdict == "as good"
    worse = difference(bad, good, many, even, 0.05)
    assert (worse.verdict, worse.more, worse.rows) == ("worse", 0, 1500)
    assert worse.value == pytest.approx(-0.3, abs=0.03)
    true, one, two, even = sources(rng, n=3000, right=(0.8, 0.8))
    open_ = difference(one, two, checked_rows(rng, true, 40), even, 0.05)
    assert open_.verdict == "undecided"
    assert open_.more > 40
    assert difference(good, bad, np.full(3000, -1), even, 0.05) is None
    three = np.array([0, 1, 0])
    every = difference(three, np.array([0, 0, 1]), np.array([0, 1, 1]), np.full((3, 2), 0.5), 0.05)
    assert (every.verdict, every.more) == ("undecided", 0)  # all are checked
    same = difference(good, good, few, even, 0.05)
    assert same.value == 0
    assert same.low < 0 < same.high


def by_hand(votes, k):
    """Ordinal alpha from coincidences of labels (Krippendorff, 2019, chapter 12)."""
    pairs = np.zeros((k, k))
    for row in votes:
        labels = row[row >= 0]
        for i, j in permutations(range(len(labels)), 2):
            pairs[labels[i], labels[j]] += 1 / (len(labels) - 1)
    totals = pairs.sum(axis=1)
    distances = np.zeros((k, k))
    for one, two in product(range(k), repeat=2):
        between = totals[min(one, two) : max(one, two) + 1].sum()
        distances[one, two] = (between - (totals[one] + totals[two]) / 2) ** 2
    expected = np.outer(totals, totals) / (totals.sum() - 1)
    return 1 - (pairs * distances).sum() / (expected * distances).sum()


@given(
    arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(2, 4)), elements=st.integers(-1, 3))
)
def test_ordinal_alpha(votes):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(agreement, "_DRAWS", 5)  # the interval has a test of its own
        found, turned = (alpha(one, 4, ordered=True) for one in (votes, votes[::-1, ::-1]))
    pairable = votes[(votes >= 0).sum(axis=1) > 1]
    assert (found is None) == (not len(pairable))
    if found is not None and len(np.unique(pairable[pairable >= 0])) > 1:
        assert found.value == pytest.approx(by_hand(votes, 4))
        assert found == turned


@given(arrays(np.int64, (4, 4), elements=st.integers(0, 30)))
def test_quadratic_kappa_is_that_of_scikit_learn(counts):
    found = kappa(counts, ordered=True)
    first, second = np.indices(counts.shape).reshape(2, -1)
    if found is None or found.value == 0:
        return
    weights = counts.ravel()
    expected = cohen_kappa_score(first, second, weights="quadratic", sample_weight=weights)
    assert found.value == pytest.approx(expected)
    assert -1 <= found.low <= found.value <= found.high <= 1
    plain = kappa(counts)
    assert plain.value == pytest.approx(cohen_kappa_score(first, second, sample_weight=weights))


def test_the_interval_of_alpha_is_the_same_in_any_order_of_rows():
    rng = np.random.default_rng(0)
    votes = rng.integers(-1, 3, (80, 3))
    shuffled = rng.permuted(votes[rng.permutation(80)], axis=1)
    assert alpha(votes, 3) == alpha(shuffled, 3)


def test_one_checked_row_leaves_no_more_than_the_rows_that_differ():
    """Two sources that differ on half of the rows: a source is at most half as often right."""
    first, second = np.zeros(40, dtype=int), np.repeat([1, 0], 20)
    checked = np.full(40, -1)
    checked[[0, 30]] = 0
    found = difference(first, second, checked, np.full((40, 2), 0.5), 0.05)
    assert -0.6 < found.low < 0
    assert found.more < 10


def test_a_source_within_the_margin_is_as_good():
    """Both are wrong on other 5 % of 2,000 checked rows: the interval is within 2 % of 0."""
    true = np.zeros(2000, dtype=int)
    first, second = true.copy(), true.copy()
    first[:100], second[100:200] = 1, 1
    found = difference(first, second, true, np.full((2000, 2), 0.5), 0.05)
    assert -0.05 < found.low < 0
    assert found.verdict == "as good"
    assert difference(first, second, true, np.full((2000, 2), 0.5), 0.0).verdict == "undecided"
