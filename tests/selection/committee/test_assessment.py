"""A fitted committee: rows of the sample as before, other rows by the folds' probes."""

import pickle
from unittest import mock

import numpy as np
import pytest

from lops_adapters.encoders.tf_idf import Topics
from lops_adapters.encoders.word_counts import count_words
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import cut
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import METHODS, Choice, decide
from lops_adapters.selection.committee.belief import suggestions
from lops_adapters.selection.committee.committee import Committee
from lops_adapters.selection.committee.folds import (
    Folded,
    best_checkpoint,
    long_enough,
    predict_held_out,
)
from lops_adapters.selection.committee.likelihoods import class_shares, likelihoods
from lops_adapters.selection.committee.members import Learnt, Neighbours, weights_by_label
from lops_adapters.selection.committee.posterior import posterior_given

from ...noisy import noisy_texts

TEXTS, WEAK, _ = noisy_texts(n=300, k=3, noise=0.2)
OTHERS, THEIR_LABELS, GOLD = noisy_texts(n=150, k=3, noise=0.2, seed=1)
CLASSES = sorted(set(WEAK))
CODES = np.array([CLASSES.index(label) for label in THEIR_LABELS])


def fitted(texts=TEXTS, labels=WEAK, **settings):
    """The outcome of the sample, and the committee, fitted to it."""
    choice = Choice(**{"encoder": None, "score_unseen": True, **settings})
    outcome = decide(Labelled.of(texts, labels), choice)
    return outcome, outcome.fitted


@pytest.fixture(scope="module")
def committee():
    return fitted(sure=0.8)[1]


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"sure": 0.8}, {"per_class": True}])
def test_the_sample_is_scored_as_without_the_fit(settings):
    plain, committee = fitted(score_unseen=False, **settings)
    assert committee is None
    found, _ = fitted(**settings)
    np.testing.assert_array_equal(found.mask, plain.mask)
    np.testing.assert_array_equal(found.confidence, plain.confidence)
    assert found.stopped == plain.stopped
    np.testing.assert_array_equal(found.probability, plain.probability)


def test_other_rows_by_hand():
    """One member of words, one of neighbours at half the weight, the samples in the given order."""
    codes = np.array([CLASSES.index(label) for label in WEAK])
    counts = count_words(TEXTS)
    space = Topics(counts, 0)
    near = Neighbours("near", lambda texts: space(count_words(texts)), weight=0.5)
    members = [Learnt("words", LinearProbe()), near]
    choice = Choice(sure=0.8, score_unseen=True)
    with mock.patch.object(Committee, "members", return_value=(members, "texts")):
        told = METHODS["committee"](Labelled.of(TEXTS, WEAK), choice)
    assessment = told.fitted(OTHERS, CODES)

    labelled = Folded(TEXTS, codes, CLASSES, 3)
    of_words = Learnt("words", LinearProbe()).score(labelled)
    longer = long_enough(LinearProbe(), 200)
    looks = predict_held_out(longer, labelled)
    time = best_checkpoint(looks, codes)
    np.testing.assert_array_equal(looks[time], of_words)
    said = []
    for train, _ in labelled.splits():
        probe = long_enough(LinearProbe(), 200)
        prepared = probe.prepare(cut(TEXTS, train), fit=True)
        for update in probe.updates(prepared, codes[train], 3, 0):
            if update.done >= max(1, round(time * update.per_epoch)):
                break
        said.append(probe.predict_proba(OTHERS))
    cosines = space(count_words(OTHERS)) @ space(counts).T
    neighbours = np.zeros((len(OTHERS), 3))
    for row, own in enumerate(cosines):
        for i in np.argsort(-own, kind="stable")[:50]:
            neighbours[row, codes[i]] += np.exp(5 * own[i])
    neighbours = (neighbours + 1e-3) / (neighbours + 1e-3).sum(axis=1, keepdims=True)
    shares = class_shares(codes, 3)
    of_members = [likelihoods(rows, shares) for rows in (np.mean(said, axis=0), neighbours)]
    mean = np.average(of_members, axis=0, weights=[1, 0.5])
    model = told.fitted.model
    true = posterior_given(mean, CODES, model.posterior.true_given_label)
    right = model.believed(true, model.rows(true, CODES, np.zeros((150, 0))))
    np.testing.assert_allclose(assessment.right, right[np.arange(150), CODES], atol=1e-5)
    np.testing.assert_array_equal(assessment.mask, assessment.right >= 0.8)
    np.testing.assert_array_equal(assessment.suggested, suggestions(right, CODES)[0])


def test_it_finds_the_wrong_labels_of_other_rows(committee):
    assessment = committee(OTHERS, CODES)
    wrong = np.array([a != b for a, b in zip(THEIR_LABELS, GOLD, strict=True)])
    assert wrong[assessment.mask].mean() < wrong.mean() / 4
    suggested = [CLASSES[code] for code in assessment.suggested]
    assert np.mean(np.array(suggested) == GOLD) > 0.95


@pytest.mark.parametrize("size", [1, 7, 149])
def test_a_assessment_depends_on_the_row_alone(committee, size):
    whole = committee(OTHERS, CODES)
    for start in range(0, len(OTHERS), size)[:25]:
        part = committee(OTHERS[start : start + size], CODES[start : start + size])
        for own, all_of_it in zip(part, whole, strict=True):
            np.testing.assert_array_equal(own, all_of_it[start : start + size])


def test_it_survives_a_pickle(committee):
    again = pickle.loads(pickle.dumps(committee))
    for one, other in zip(committee(OTHERS, CODES), again(OTHERS, CODES), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(committee([], np.zeros(0, dtype=np.int64)).mask) == 0
    empty = committee(["", "unheard words"], np.array([0, 1]))
    assert np.isfinite(empty.right).all()


def test_small_classes_are_kept():
    _, committee = fitted([*TEXTS, "topic0word1"], [*WEAK, "tiny"])
    assert committee.least[CLASSES.index("class 2") + 1] == -np.inf
    codes = np.full(3, 3)
    assert committee(OTHERS[:3], codes).mask.all()


def test_probabilities_of_further_samples():
    """A classifier of one's own scores further samples by their probabilities."""
    codes = np.array([CLASSES.index(label) for label in WEAK])
    probabilities = np.full((300, 3), 0.1) + 0.7 * np.eye(3)[codes]
    labelled, choice = Labelled.of(probabilities, WEAK), Choice(score_unseen=True)
    committee = decide(labelled, choice, probabilities=True).fitted
    further = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    assessment = committee(further, np.array([0, 0]))
    assert assessment.mask.tolist() == [True, False]
    assert assessment.suggested.tolist() == [0, 1]


def test_votes_by_brute_force():
    rng = np.random.default_rng(0)
    near = rng.uniform(-1, 1, (40, 97)).astype(np.float32)
    near[3] = near[:, 7:9] = 0.5  # ties: no more than ``count`` neighbours count
    labels = rng.integers(0, 4, 97)
    for count in (1, 5, 48, 97):
        found = weights_by_label(near, labels, count, 4)
        for row, own in enumerate(near):
            nearest = np.argpartition(-own, count - 1)[:count]
            weights = np.exp(5 * own[nearest])
            expected = [weights[labels[nearest] == c].sum() for c in range(4)]
            np.testing.assert_allclose(found[row], expected, rtol=1e-5)


def test_the_same_share_of_every_class_beyond_the_sample():
    """Each class has its own threshold, the lowest kept one in the sample; one threshold of all
    classes would keep a third more of one class than of another.
    """
    noisy = ["class 0" if i % 2 else label for i, label in enumerate(THEIR_LABELS)]
    codes = np.array([CLASSES.index(label) for label in noisy])
    texts, labels = [*TEXTS, *OTHERS], [*WEAK, *noisy]
    found, even = fitted(texts, labels, per_class=True)
    _, free = fitted(texts, labels)
    right = even(OTHERS, codes).right
    shares = {}
    for name, committee in (("even", even), ("free", free)):
        mask = committee(OTHERS, codes).mask
        shares[name] = [mask[codes == code].mean() for code in range(3)]
    own = np.array([CLASSES.index(label) for label in labels])
    assert len(set(even.least.tolist())) == 3
    assert len(set(free.least.tolist())) == 1
    for code in range(3):
        least = found.confidence[found.mask & (own == code)].min()
        assert even.least[code] == least
        assert shares["even"][code] == (right[codes == code] >= least).mean()
    assert np.ptp(shares["even"]) < np.ptp(shares["free"]) - 0.1, shares
