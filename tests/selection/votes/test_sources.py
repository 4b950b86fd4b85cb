"""Label sources: joined with members, near the majority where nothing better is known."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from lops_adapters import select
from lops_adapters.labels.votes import Votes
from lops_adapters.selection import build
from lops_adapters.selection.votes import pooling, signals, source_table, sources
from lops_adapters.selection.votes.signals import Pairs, Signals, overlapping, together
from lops_adapters.selection.votes.source_model import predicted, vote_rows
from lops_adapters.selection.votes.source_table import assess
from lops_adapters.selection.votes.sources import by_votes, first_codes, fit

from ...noisy import noisy_texts

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


def dense(pairs):
    """Numbers of pairs of signals, (f, f)."""
    return pairs.sparse().toarray()


def apart(count):
    """Signals that do not overlap."""
    return Pairs([np.array([i]) for i in range(count)], [np.ones((1, 1))] * count)


def majority(votes):
    """The most frequent vote; ties go to the first class."""
    return np.stack([(votes == code).sum(axis=1) for code in range(K)], axis=1).argmax(axis=1)


def hints(true, share=0.6, seed=1):
    """Likelihoods of members that prefer the true class of a share of the samples."""
    rng = np.random.default_rng(seed)
    preferred = np.where(rng.random(len(true)) < share, true, rng.integers(0, K, len(true)))
    return np.full((len(true), K), 0.3) + 0.1 * np.eye(K)[preferred]


def joined(votes, likely, **tells):
    fitted = fit(votes, likely, **tells)
    return fitted, fitted.posterior(votes, likely).argmax(axis=1)


def test_votes_and_members_are_better_than_either():
    true, votes = voted([0.5, 0.6, 0.7, 0.8, 0.9])
    likely = hints(true)
    some = (votes >= 0).any(axis=1)
    _, labels = joined(votes, likely)
    right = (labels == true)[some].mean()
    assert right > (majority(votes) == true)[some].mean() + 0.05
    assert right > (likely.argmax(axis=1) == true)[some].mean() + 0.05


def test_sources_are_ranked_by_their_accuracy():
    accuracies = [0.9, 0.4, 0.8, 0.5, 0.7]
    true, votes = voted(accuracies)
    likely = hints(true)
    fitted, _ = joined(votes, likely)
    estimates = assess(fitted, votes, likely)
    found = [one.accuracy for one in estimates]
    assert np.argsort(found).tolist() == np.argsort(accuracies).tolist()
    for one, votes_of_one in zip(estimates, votes.T, strict=True):
        cast = votes_of_one >= 0
        assert one.votes == cast.sum()
        assert one.low <= (votes_of_one == true)[cast].mean()
        assert one.alone == (cast & ((votes >= 0).sum(axis=1) == 1)).sum()
        assert one.alone <= one.changed <= one.votes


@pytest.mark.parametrize("copies", [0, 1, 6])
def test_copies_of_a_bad_source_do_not_outvote_the_others(copies):
    true, votes = voted([0.3, 0.75, 0.75, 0.75])
    votes = np.column_stack([votes, *[votes[:, 0]] * copies])
    likely = hints(true)
    some = (votes >= 0).any(axis=1)
    assert (by_votes(votes, K).first(votes) == true)[some].mean() > 0.7
    assert (joined(votes, likely)[1] == true)[some].mean() > 0.78
    if copies == 6:
        assert (majority(votes) == true)[some].mean() < 0.5


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


def test_a_class_with_fewer_votes_than_folds_wins_only_where_it_stands_alone():
    true, votes = voted([0.8, 0.7, 0.6])
    votes[0], votes[1] = [0, -1, K], [-1, -1, K]
    likely = np.column_stack([hints(true), np.full(len(true), 0.01)])
    likely[:2] = [0.01, 0.01, 0.01, 0.97]
    fitted = fit(votes, likely)
    contested, alone = fitted.posterior(votes, likely)[:2]
    assert contested[K] == 0
    assert alone.argmax() == K
    assert fitted.first(votes)[:2].tolist() == [0, K]


def test_a_vote_that_most_samples_get_says_little():
    """A rule that fires on nearly everything loses against a rare one."""
    votes = np.full((100, 2), -1)
    votes[:90, 0], votes[:10, 1] = 0, 1
    votes[10:40, 1] = 0
    signals = Signals.of(votes, 2)
    assert signals.labels(votes)[:10].tolist() == [1] * 10
    assert signals.labels(votes)[[20, 95]].tolist() == [0, -1]


def test_members_that_cannot_tell_get_no_weight():
    """Labels are the votes' own, and all are kept."""
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
    assert (selection.confidence > 0.5).all()
    assert {report.why for report in selection.per_class.values()} == {
        "the members cannot tell, kept whole"
    }
    true, votes = voted([0.6, 0.7, 0.8])
    fitted, _ = joined(votes, hints(rng.permutation(true)), tells=False)
    assert (fitted.weight, fitted.tells) == (0, False)
    assert fitted.model.free == by_votes(votes, K).model.free
    np.testing.assert_allclose(fitted.model.ratios, by_votes(votes, K).model.ratios)


def test_held_out_votes_say_whether_frequent_classes_are_more_probable():
    """Sources that prefer one class: the classes are equal. Sources that agree: they are not."""
    rng = np.random.default_rng(0)
    equal = rng.integers(0, 2, 800)
    unequal = (rng.random(800) < 0.1).astype(int)

    def said(true, right):
        return np.stack([np.where(rng.random(800) < right[true, j], true, 1 - true)
                         for j in range(6)], axis=1)  # fmt: skip

    partial = np.array([[0.95] * 6, [0.5] * 6])
    votes = said(equal, partial)
    labels = by_votes(votes, 2).first(votes)
    assert (labels == equal).mean() > (majority(votes) == equal).mean() + 0.05
    votes = said(unequal, np.full((2, 6), 0.75))
    labels = by_votes(votes, 2).first(votes)
    assert (labels == unequal).mean() > (majority(votes) == unequal).mean() - 0.01


def test_a_source_that_guesses_says_nothing():
    _, votes = voted([0.8, 0.8, 0.8, 0.8, 1 / 3], n=900, coverage=0.9)
    model = by_votes(votes, K).model
    assert np.abs(model.ratios[-K:]).max() < 0.25
    assert np.abs(model.ratios[:-K]).max() > 0.9


def test_a_stray_vote_does_not_win():
    """Two votes for a class that is a typo lose where two sources agree on another one."""
    true, votes = voted([0.8, 0.8, 0.8, 0.7], coverage=0.9)
    votes[:, 3] = np.where(np.arange(600) < 2, K, votes[:, 3])
    votes[:2, :3] = true[:2, None]
    likely = np.column_stack([hints(true) * (1 - 1e-6), np.full(600, 1e-6)])
    for labels in (by_votes(votes, K + 1).first(votes), joined(votes, likely)[1]):
        assert labels[:2].tolist() == true[:2].tolist()
    votes[0, :3] = -1
    assert by_votes(votes, K + 1).first(votes)[0] == K  # where no other source votes


def test_people_with_the_same_rows_are_no_copies():
    """Two who vote on the same 100 rows, each right with a chance of 0.7, weigh as two."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 400)
    votes = np.full((400, 4), -1)
    for source in range(4):
        rows = np.arange(100) if source < 2 else np.arange(400)
        votes[rows, source] = np.where(rng.random(len(rows)) < 0.7, true[rows], 1 - true[rows])
    signals = Signals.of(votes, 2)
    overlap = dense(overlapping(signals.matrix(votes), np.eye(2)[true], signals))
    assert overlap[0, 2] < 0.05
    votes[:, 1] = votes[:, 0]
    signals = Signals.of(votes, 2)
    overlap = dense(overlapping(signals.matrix(votes), np.eye(2)[true], signals))
    assert overlap[0, 2] > 0.2  # a copy


def test_votes_and_members_count_by_their_exponents_by_hand():
    """Two classes, one row; a prior of log 2 for the first, half of what the model found."""
    _, votes = voted([0.8, 0.7, 0.6], n=100)
    likely = np.full((100, K), 1 / K)
    model = by_votes(votes, K).model
    fitted = fit(votes, likely)
    assert (fitted.trust, fitted.weight) == (sources.TRUST, sources.WEIGHT)
    total = fitted.total(np.array([[1.0, 0, 0]]), np.array([[0.5, 0.25, 0.25]]))
    by_hand = [sources.TRUST + sources.WEIGHT * np.log(0.5), *[sources.WEIGHT * np.log(0.25)] * 2]
    np.testing.assert_allclose(total - fitted.prior, [by_hand])
    unable = fit(votes, likely, tells=False)
    np.testing.assert_allclose(unable.prior, sources.TRUST * model.prior)
    assert (unable.posterior(votes, likely).argmax(axis=1) == unable.first(votes))[
        (votes >= 0).any(axis=1)
    ].all()


def test_a_source_that_always_says_nearly_the_same_is_worth_what_it_tells():
    """One of five says the first class for nine rows of ten, whatever the true one is.

    With one accuracy per source it pulls rows of the others to that class; a confusion shows it.
    """
    true, votes = voted([0.94, 0.85, 0.7, 0.6], n=1000, coverage=1.0)
    rng = np.random.default_rng(1)
    same = np.where(rng.random(1000) < 0.91, 0, rng.integers(0, K, 1000))
    fitted = by_votes(np.column_stack([votes, same, same]), K)
    assert fitted.model.free
    ratios = fitted.model.ratios[fitted.signals.keys // K == 4]
    assert np.abs(ratios[0] - ratios[0].mean()).max() < 0.1
    assert (fitted.first(np.column_stack([votes, same, same])) == true).mean() > 0.92


def test_confusions_by_hand():
    """Of 40 votes, 20 for each of two classes, rows of 20; 15 of 20 right: 10 votes are added.

    The source knows the class with a chance of about (0.75 - 0.5) / 0.5 = 0.5 and else draws
    evenly, so of the 10, 7.5 are right: (15 + 7.5) / 30 of the votes for its own class.
    """
    votes = np.array([[0, 0, 0]] * 20 + [[1, 1, 1]] * 20)
    three = Signals.of(votes, 2)
    counts = np.tile([[15.0, 5.0], [5.0, 15.0]], (3, 1))
    even = np.log(np.array([0.5, 0.5]))
    found = pooling.pooled(counts, three, even, confused=True)
    np.testing.assert_allclose(found, np.tile([[0.75, 0.25], [0.25, 0.75]], (3, 1)), atol=1e-3)
    lopsided = np.tile([[15.0, 15.0], [5.0, 5.0]], (3, 1))  # 15 of 20 votes for either class
    found = pooling.pooled(lopsided, three, even, confused=True)
    np.testing.assert_allclose(found, 0.5)


def test_votes_of_further_samples_and_unknown_signals():
    true, votes = voted([0.9, 0.8, 0.7])
    likely = hints(true)
    half = len(true) // 2
    fitted = pickle.loads(pickle.dumps(fit(votes[:half], likely[:half])))
    found = fitted.posterior(votes[half:], likely[half:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found.argmax(axis=1) == true[half:]).mean() > 0.82
    only_zero = Signals.of(np.zeros((5, 1), dtype=int), K)
    assert only_zero.labels(np.array([[0], [2], [-1]])).tolist() == [0, -1, -1]


def test_large_tables_are_sampled_in_any_order(monkeypatch):
    _, votes = voted([0.8, 0.7, 0.6], n=500)
    monkeypatch.setattr(sources, "MOST_ROWS", 200)
    order = np.random.default_rng(0).permutation(500)
    plain, shuffled = by_votes(votes, K), by_votes(votes[order], K)
    np.testing.assert_allclose(plain.model.ratios, shuffled.model.ratios, atol=1e-9)
    assert (plain.first(votes)[order] == shuffled.first(votes[order])).all()
    monkeypatch.setattr(sources, "MOST_ROWS", 10_000)
    sources._last.clear()
    assert not np.allclose(by_votes(votes, K).model.ratios, plain.model.ratios)


def test_the_same_votes_are_estimated_once_in_any_order(monkeypatch):
    """Members are trained on labels by votes, and next to them the votes count as before."""
    _, votes = voted([0.8, 0.7, 0.6], n=100)
    model = by_votes(votes, K).model
    monkeypatch.setattr(sources, "own_model", None)
    assert fit(votes[::-1], np.full((100, K), 1 / K)).model is model
    with pytest.raises(TypeError):
        by_votes(votes[:50], K)


def test_only_pairs_of_signals_for_one_class_are_counted():
    """Memory grows with the classes, not with their square."""
    votes = np.random.default_rng(0).integers(0, 300, (3_000, 4))
    found = Signals.of(votes, 300)
    assert sum(block.size for block in found.overlap.blocks) == 300 * 4**2
    matrix = found.matrix(votes)
    of_one_class = np.equal.outer(found.keys % 300, found.keys % 300)
    expected = (matrix.T @ matrix).toarray() * of_one_class
    np.testing.assert_array_equal(dense(together(matrix, found)), expected)


def test_the_overlap_of_two_sources_by_hand():
    """Of 6 samples of one class, each votes for three, both for two: covariance 2/6 - 1/4 = 1/12,
    variances 1/4, correlation 1/3, squared 1/9. Apart, at -1/3, they share nothing.

    Of 60 samples of one class, on which both vote for one of two classes, and 30 times for the
    first, 20 times together: the sum of products is 20 - 15 = 5, that of squares 15, next to the 10
    rows that are added: (5 / 25)**2.
    """
    for second, expected in (([1, 2, 3], 1 / 9), ([2, 3, 4], 0), ([0, 1, 2], 1)):
        codes = np.full((6, 3), -1)
        codes[5, 2] = 1  # so that no source is constant
        codes[[0, 1, 2], 0] = codes[second, 1] = 0
        signals = Signals.of(codes, 2)
        true = np.array([[1.0, 0.0]] * 6)
        found = dense(overlapping(signals.matrix(codes), true, signals))
        np.testing.assert_allclose(found[:2, :2], [[1, expected], [expected, 1]], atol=1e-9)
    codes = np.ones((60, 2), dtype=int)
    codes[:30, 0] = codes[10:40, 1] = 0
    signals = Signals.of(codes, 2)
    found = dense(overlapping(signals.matrix(codes), np.array([[1.0, 0.0]] * 60), signals))
    assert found[0, 2] == pytest.approx((5 / 25) ** 2)


@pytest.mark.parametrize(
    ("accuracies", "n", "said"),
    [
        ([0.4, 0.6, 0.9], 2000, "by how often each source errs"),
        ([0.4, 0.6, 0.9], 30, "no other rule predicts held-out votes clearly better"),
        (
            [0.6, 0.9],
            300,
            "neither labels nor ranges show errors that they share. Check ten rows first.",
        ),
    ],
)
def test_a_sentence_says_how_votes_are_joined(accuracies, n, said):
    _, votes = voted(accuracies, n=n, coverage=0.9)
    assert said in by_votes(votes, K).joined


@pytest.mark.parametrize(("lists", "warned"), [(1, False), (2, True), (3, True)])
def test_a_sentence_says_that_half_of_the_sources_vote_nearly_alike(lists, warned):
    """Lists made from each other: every one has a tenth of other votes of its own."""
    rng = np.random.default_rng(0)
    _, votes = voted([0.8, 0.7, 0.6], n=2000, coverage=0.9)
    made = votes[:, :1]
    made = np.where(rng.random((2000, lists - 1)) < 0.1, rng.integers(0, K, (2000, 1)), made)
    votes = np.column_stack([votes, np.where(votes[:, :1] < 0, -1, made)])
    said = f"{lists} of {2 + lists} sources vote nearly alike: neither labels nor ranges show"
    assert (said in by_votes(votes, K).joined) == warned


def test_a_source_that_always_gives_one_vote_changes_nothing():
    """It counts only where no other source votes, and its accuracy is the share of its class."""
    codes, votes = voted([0.8, 0.7], coverage=0.8)
    votes[0] = -1
    votes = np.where((votes < 0).all(axis=1)[:, None] & (np.arange(600) > 0)[:, None], 0, votes)
    likely = np.full((600, K), 0.2) + 0.4 * np.eye(K)[codes]
    more = np.column_stack([votes, np.full(600, 2)])
    one, two = Signals.of(votes, K), Signals.of(more, K)
    np.testing.assert_array_equal(one.labels(votes)[1:], two.labels(more)[1:])
    assert (one.labels(votes)[0], two.labels(more)[0]) == (-1, 2)
    before, after = fit(votes[1:], likely[1:]), fit(more[1:], likely[1:])
    np.testing.assert_allclose(after.model.ratios, before.model.ratios)
    np.testing.assert_allclose(after.posterior(more[1:], likely[1:]),
                               before.posterior(votes[1:], likely[1:]))  # fmt: skip
    constant = assess(fit(more, likely), more, likely)[2]
    assert constant.votes == 600
    assert constant.accuracy == pytest.approx((codes == 2).mean(), abs=0.03)
    assert (constant.alone, constant.changed) == (1, 1)


def test_ranges_by_hand():
    """Of 100 votes, 80 surely right: a variance of 0.16 per vote, of 0.0016 in the mean.

    To 1.28 standard errors comes what sources hide: below, 0.4 standard deviations of a vote;
    above, 0.4, or 0.6 for a source that votes for one class.
    """
    one, several = (
        source_table._source(np.array(counts), np.arange(len(counts)), 0.8, 0.0, 0, 0)
        for counts in ([[80.0, 20.0]], [[40.0, 10.0], [10.0, 40.0]])
    )
    assert one.low == pytest.approx(0.8 - (1.28**2 * 0.0016 + 0.16 * 0.16) ** 0.5)
    assert one.high == pytest.approx(min(1, 0.8 + (1.28**2 * 0.0016 + 0.36 * 0.16) ** 0.5))
    assert several.low == pytest.approx(0.8 - (1.28**2 * 0.0016 + 0.16 * 0.16) ** 0.5)
    assert several.high == pytest.approx(0.8 + (1.28**2 * 0.0016 + 0.16 * 0.16) ** 0.5)
    unsure = source_table._source(np.array([[80.0, 20.0]]), np.arange(1), 0.8, 16.0, 0, 0)
    assert unsure.low == pytest.approx(0.8 - (1.28**2 * 0.0032 + 0.16 * 0.16) ** 0.5)
    certain = source_table._source(np.array([[9.0, 0.0]]), np.arange(1), 1.0, 0.0, 0, 0)
    assert (certain.low, certain.high) == (1.0, 1.0)


@pytest.mark.parametrize(("rows", "copies"), [(19, False), (20, True)])
def test_copies_vote_alike_on_twenty_rows(rows, copies):
    """Two sources that never differ; a third one votes elsewhere, too."""
    votes = np.full((60, 3), -1)
    votes[:rows, :2] = np.arange(rows)[:, None] % 2
    votes[:, 2] = np.arange(60) // 3 % 2
    signals = Signals.of(votes, 2)
    assert signals.keys.tolist() == [0, 1, 2, 3, 4, 5]
    overlap = dense(signals.overlap)
    assert overlap[0, 2] == overlap[1, 3] == copies
    assert overlap[0, 4] == 0


@pytest.mark.parametrize(("count", "label"), [(2, 0), (3, 1)])
def test_a_class_with_as_many_votes_as_folds_may_win(count, label):
    """A rare vote says more than one that nearly all rows get."""
    votes = np.full((30, 3), -1)
    votes[:25, 0], votes[:count, 1], votes[25:, 2] = 0, 1, 2
    assert Signals.of(votes, K).labels(votes)[:count].tolist() == [label] * count


def test_how_far_the_majority_counts_by_hand():
    """With one vote per row fully; with v votes, 3 of 3 + (v - 1)."""
    for per_row, others in ((1, 0), (2, 1), (3, 2)):
        votes = np.full((30, 3), -1)
        votes[:, :per_row] = np.arange(30)[:, None] % 3
        given = vote_rows(Signals.of(votes, K), votes)
        assert given.anchor == pytest.approx(3 / (3 + others))


@pytest.mark.parametrize("pairs", [1, 50, 1 << 22])
def test_rows_on_which_two_sources_vote_are_counted_in_blocks(pairs, monkeypatch):
    monkeypatch.setattr(signals, "_PAIRS", pairs)
    rng = np.random.default_rng(0)
    votes, true = (rng.random((40, 5)) < 0.5).astype(float), rng.dirichlet(np.ones(3), 40)
    votes[7] = 1  # a row that everybody labels
    votes[8] = 0
    found = signals._rows_of_pairs(csr_matrix(votes), true)
    np.testing.assert_allclose(found, np.einsum("nk,ni,nj->kij", true, votes, votes))


def _tables():
    """Votes of 1 to 4 sources for 2 to 60 rows, many of them rare or constant, and the classes."""
    sizes = st.tuples(st.integers(2, 60), st.integers(1, 4), st.integers(2, 12))
    return sizes.flatmap(
        lambda size: st.tuples(
            arrays(np.int64, size[:2], elements=st.integers(-1, size[2] - 1), fill=st.just(-1)),
            st.just(size[2]),
        )
    )


@given(_tables(), st.booleans())
@settings(max_examples=30, deadline=None)
def test_a_posterior_is_a_distribution_over_classes(table, has_members):
    votes, k = table
    likely = np.random.default_rng(0).dirichlet(np.ones(k), len(votes))
    likely = likely if has_members else np.ones_like(likely)
    for fitted in (by_votes(votes, k), fit(votes, likely)):
        posterior = fitted.posterior(votes, likely)
        assert np.isfinite(posterior).all()
        assert np.allclose(posterior.sum(axis=1), 1)
        codes = fitted.first(votes)
        assert ((codes >= 0) == (votes >= 0).any(axis=1)).all()
        estimates = [one.accuracy for one in assess(fitted, votes, likely) if one.votes]
        assert np.isfinite(estimates).all()


def test_where_all_classes_are_rare_a_row_gets_a_class_that_it_has_a_vote_for():
    votes = np.array([[0, -1], [0, 1], [2, 1], [-1, -1]])
    posterior = by_votes(votes, 3).posterior(votes, np.ones((4, 3)))
    assert posterior[0].tolist() == [1, 0, 0]
    assert posterior[1, 2] == posterior[2, 0] == 0
    assert (posterior[3] > 0).all()


def test_joined_labels_are_rejected_if_more_probably_wrong_than_right():
    texts, labels, _ = noisy_texts(n=150, k=4, noise=0.4)
    rng = np.random.default_rng(0)
    other = rng.permutation(np.array(labels)).tolist()
    votes = [[a, a if rng.random() < 0.5 else b] for a, b in zip(labels, other, strict=True)]
    selection = select(texts, votes, encoder=None)
    assert not selection.mask.all()
    np.testing.assert_array_equal(selection.mask, selection.confidence >= 0.5)


@pytest.mark.parametrize(("counts", "label"), [([5.0, 9.0], 0), ([9.0, 5.0], 1)])
def test_weights_that_tie_up_to_rounding(counts, label):
    """0.1 + 0.2 against 0.3: the class with fewer votes in all wins."""
    worth, keys = np.array([0.1, 0.2, 0.3]), np.array([0, 2, 5])  # sources 0 and 1 say class 0
    tied = Signals(keys, 2, worth, apart(3), np.array(counts), np.array([], dtype=int))
    assert tied.labels(np.array([[0, 0, 1]])).tolist() == [label]


def test_held_out_votes_by_hand():
    """Of sources with unequal numbers of votes; each vote from the others of its row."""
    votes = np.array([[0, 0, 1], [1, 1, -1], [0, -1, 0], [1, -1, 1], [0, 1, -1], [0, -1, -1]])
    rows = vote_rows(Signals.of(votes, 2), votes)
    model = by_votes(votes, 2).model._replace(overlap=apart(6))
    keys, expected = rows.signals.keys.tolist(), []
    for row in votes:
        cast, total = [(m, vote) for m, vote in enumerate(row) if vote >= 0], 0.0
        for source, vote in cast:
            others = model.prior.copy()
            for m, other in cast:
                others += model.ratios[keys.index(2 * m + other)] * (m != source)
            true = np.exp(others) / np.exp(others).sum()
            of_votes = np.array([np.exp(model.ratios[keys.index(2 * source + c)]) for c in (0, 1)])
            counts = np.array([(votes[:, source] == c).sum() for c in (0, 1)])
            given = of_votes * counts[:, None]
            given /= given.sum(axis=0)  # the probability of each vote, per true class
            total += np.log(true @ given[vote]) - np.log(counts[vote] / counts.sum())
        expected.append(total)
    np.testing.assert_allclose(predicted(rows, model), expected, rtol=1e-6)
