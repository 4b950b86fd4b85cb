"""Label sources: joined with members, near the majority where nothing better is known."""

import pickle

import numpy as np
import pytest

from lops_adapters.labels.votes import Votes
from lops_adapters.selection import build
from lops_adapters.selection import sources as sources_module
from lops_adapters.selection.source_table import assess
from lops_adapters.selection.sources import Signals, first_codes, fit
from lops_adapters.selection.suggestions import Suggestions

from ..noisy import noisy_texts

K = 3


def voted(accuracies, n=600, coverage=0.6, seed=0):
    """True classes, (n,), and (n, m) votes of independent sources."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, K, n)
    votes = np.full((n, len(accuracies)), -1)
    for source, accuracy in enumerate(accuracies):
        wrong = (true + rng.integers(1, K, n)) % K
        label = np.where(rng.random(n) < accuracy, true, wrong)
        votes[:, source] = np.where(rng.random(n) < coverage, label, -1)
    return true, votes


def hints(true, share=0.6, seed=1):
    """Likelihoods of members that prefer the true class of a share of the samples."""
    rng = np.random.default_rng(seed)
    preferred = np.where(rng.random(len(true)) < share, true, rng.integers(0, K, len(true)))
    return np.full((len(true), K), 0.3) + 0.1 * np.eye(K)[preferred]


def joined(votes, likely, **checked):
    sources = fit(votes, likely, **checked)
    return sources, sources.posterior(votes, likely).argmax(axis=1)


def test_votes_and_members_are_better_than_either():
    true, votes = voted([0.5, 0.6, 0.7, 0.8, 0.9])
    likely, signals = hints(true), Signals.of(votes, K)
    some = (votes >= 0).any(axis=1)
    _, labels = joined(votes, likely)
    right = (labels == true)[some].mean()
    assert right > (signals.majority(votes) == true)[some].mean() + 0.05
    assert right > (likely.argmax(axis=1) == true)[some].mean() + 0.05


def test_sources_are_ranked_by_their_accuracy():
    accuracies = [0.9, 0.4, 0.8, 0.5, 0.7]
    true, votes = voted(accuracies)
    likely = hints(true)
    sources, _ = joined(votes, likely)
    estimates = assess(sources, votes, likely)
    found = [one.accuracy for one in estimates]
    assert np.argsort(found).tolist() == np.argsort(accuracies).tolist()
    for one, votes_of_one in zip(estimates, votes.T, strict=True):
        cast = votes_of_one >= 0
        assert one.votes == cast.sum()
        assert one.low <= (votes_of_one == true)[cast].mean() <= one.high
        assert one.alone == (cast & ((votes >= 0).sum(axis=1) == 1)).sum()
        assert one.alone <= one.changed <= one.votes


@pytest.mark.parametrize("copies", [0, 1, 6])
def test_copies_of_a_bad_source_do_not_outvote_the_others(copies):
    true, votes = voted([0.3, 0.75, 0.75, 0.75])
    votes = np.column_stack([votes, *[votes[:, 0]] * copies])
    signals, likely = Signals.of(votes, K), hints(true)
    some = (votes >= 0).any(axis=1)
    assert (signals.labels(votes) == true)[some].mean() > 0.7
    assert (joined(votes, likely)[1] == true)[some].mean() > 0.8
    if copies == 6:
        assert (signals.majority(votes) == true)[some].mean() < 0.5


def test_a_source_with_few_votes_is_near_the_mean():
    true, votes = voted([0.8, 0.8, 0.8])
    rare = np.full(len(true), -1)
    rare[:3] = true[:3]
    always_wrong = np.full(len(true), -1)
    always_wrong[3:6] = (true[3:6] + 1) % K
    votes, likely = np.column_stack([votes, rare, always_wrong]), hints(true)
    estimates = assess(joined(votes, likely)[0], votes, likely)
    assert all(abs(one.accuracy - estimates[0].accuracy) < 0.15 for one in estimates[3:])
    assert estimates[3].accuracy > estimates[4].accuracy


def test_a_vote_that_most_samples_get_says_little():
    """A rule that fires on nearly everything loses against a rare one."""
    votes = np.full((100, 2), -1)
    votes[:90, 0], votes[:10, 1] = 0, 1
    votes[10:40, 1] = 0
    signals = Signals.of(votes, 2)
    assert signals.labels(votes)[:10].tolist() == [1] * 10
    assert signals.labels(votes)[[20, 95]].tolist() == [0, -1]


def test_members_that_cannot_tell_leave_the_majority():
    texts, weak, _ = noisy_texts(n=150, k=2, noise=0.1)
    rng = np.random.default_rng(0)
    shuffled = [weak[i] for i in rng.permutation(len(weak)).tolist()]
    classes = sorted(set(weak))
    codes = np.array([[classes.index(label)] * 2 for label in shuffled])
    codes[::3, 1] = -1
    votes = Votes(["a", "b"], classes, codes)
    first = [classes[code] for code in first_codes(votes).tolist()]
    selection = build("committee", votes=votes, encoder=None)(texts, first)
    assert selection.mask.all()
    assert (selection.confidence == 1).all()  # the majority, whatever members say
    assert {report.why for report in selection.per_class.values()} == {
        "the members cannot tell, kept whole"
    }


def test_checked_rows_are_certain():
    """A person's rows show that the majority errs where members say nothing."""
    true, votes = voted([0.3, 0.3, 0.9], coverage=0.9)
    likely = np.full((len(true), K), 1 / K)
    some = (votes >= 0).any(axis=1)
    rows = np.flatnonzero(some)[:150]
    _, before = joined(votes, likely)
    _, after = joined(votes, likely, rows=rows, true=true[rows])
    rest = np.setdiff1d(np.flatnonzero(some), rows)
    assert (after == true)[rest].mean() > (before == true)[rest].mean() + 0.05
    assert (after == true)[rest].mean() > 0.8


def test_votes_of_further_samples_and_unknown_signals():
    true, votes = voted([0.9, 0.8, 0.7])
    likely = hints(true)
    half = len(true) // 2
    sources = pickle.loads(pickle.dumps(fit(votes[:half], likely[:half])))
    found = sources.posterior(votes[half:], likely[half:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found.argmax(axis=1) == true[half:]).mean() > 0.85
    only_zero = Signals.of(np.zeros((5, 1), dtype=int), K)
    assert only_zero.labels(np.array([[0], [2], [-1]])).tolist() == [0, -1, -1]


def test_the_order_of_rows_does_not_matter():
    texts, _, gold = noisy_texts(n=120, k=3)
    classes = sorted(set(gold))
    true = np.array([classes.index(label) for label in gold])
    rng = np.random.default_rng(0)
    codes = np.stack([np.where(rng.random(120) < 0.7, true, (true + 1) % 3) for _ in range(3)], 1)
    order = rng.permutation(120)

    def selected(rows):
        votes = Votes(["a", "b", "c"], classes, codes[rows])
        seen = Suggestions(120)
        selector = build("committee", votes=votes, encoder=None, seen=seen)
        first = [classes[code] for code in first_codes(votes).tolist()]
        return selector([texts[i] for i in rows.tolist()], first)

    plain, shuffled = selected(np.arange(120)), selected(order)
    assert plain.mask[order].tolist() == shuffled.mask.tolist()
    np.testing.assert_allclose(plain.confidence[order], shuffled.confidence, rtol=1e-9)


def test_the_overlap_of_two_sources_by_hand():
    """Of 6 samples of one class, each votes for three, both for two: covariance 2/6 - 1/4 = 1/12,
    variances 1/4, correlation 1/3, squared 1/9. Apart, at -1/3, they share nothing.
    """
    for second, expected in (([1, 2, 3], 1 / 9), ([2, 3, 4], 0), ([0, 1, 2], 1)):
        codes = np.full((6, 3), -1)
        codes[5, 2] = 1  # so that no source is constant
        codes[[0, 1, 2], 0] = codes[second, 1] = 0
        signals = Signals.of(codes, 2)
        true = np.array([[1.0, 0.0]] * 6)
        found = sources_module._overlap(signals.matrix(codes), true, signals)
        np.testing.assert_allclose(found[:2, :2], [[1, expected], [expected, 1]], atol=1e-9)


def test_a_source_that_always_gives_one_vote_changes_nothing():
    """It counts only where no other source votes, and its accuracy is the share of its class."""
    codes, votes = voted([0.8, 0.7], coverage=0.8)
    votes[0] = -1
    votes = np.where((votes < 0).all(axis=1)[:, None] & (np.arange(600) > 0)[:, None], 0, votes)
    likely = np.full((600, K), 0.2) + 0.4 * np.eye(K)[codes]
    more = np.column_stack([votes, np.full(600, 2)])
    one, two = Signals.of(votes, K), Signals.of(more, K)
    np.testing.assert_array_equal(one.labels(votes)[1:], two.labels(more)[1:])
    np.testing.assert_array_equal(one.majority(votes)[1:], two.majority(more)[1:])
    assert (one.labels(votes)[0], two.labels(more)[0], two.majority(more)[0]) == (-1, 2, 2)
    before, after = fit(votes[1:], likely[1:]), fit(more[1:], likely[1:])
    np.testing.assert_allclose(after.ratios, before.ratios)
    np.testing.assert_allclose(after.posterior(more[1:], likely[1:]),
                               before.posterior(votes[1:], likely[1:]))  # fmt: skip
    constant = assess(fit(more, likely), more, likely)[2]
    assert constant.votes == 600
    assert constant.accuracy == pytest.approx((codes == 2).mean(), abs=0.03)
    assert (constant.alone, constant.changed) == (1, 1)
