"""Exact copies of a text share a fold; with the same label they get the same decision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters.labels.labelled import Labelled
from lops_adapters.labels.votes import Votes
from lops_adapters.selection import Choice, decide
from lops_adapters.selection.canonical import content_keys, in_content_order
from lops_adapters.selection.committee.folds import Folded, fold_of
from lops_adapters.selection.committee.members import Neighbours

from ...noisy import noisy_texts

TEXTS, LABELS, _ = noisy_texts(n=60, k=3, noise=0.2)
CHOICE = Choice(encoder=None)


def ordered(texts, labels, **known):
    """The samples as a method gets them."""
    return in_content_order(Labelled.of(texts, labels, **known))[0]


def test_copies_get_one_decision():
    texts, labels = TEXTS + TEXTS[:40], LABELS + LABELS[:40]
    found = decide(Labelled.of(texts, labels), CHOICE)
    for part in (found.mask, found.confidence, found.suggested, found.probability):
        np.testing.assert_array_equal(part[:40], part[60:])
    assert 0 < found.mask[:40].sum() < 40
    order = np.random.default_rng(0).permutation(100)
    moved = decide(Labelled.of(texts, labels).at(order), CHOICE)
    np.testing.assert_array_equal(moved.confidence, found.confidence[order])


@given(st.lists(st.sampled_from("abcdefg"), min_size=3, max_size=30), st.integers(0, 9))
def test_no_text_is_in_two_folds(names, seed):
    folded = Folded.of(
        ordered(names, [*"xy", *("xy"[ord(name) % 2] for name in names[2:])]), 3, seed
    )
    if len(set(names)) < 3 * 2:
        assert sorted(set(folded.fold())) == [0, 1, 2]
        return
    for train, held_out in folded.splits():
        trained, asked = ({folded.samples[i] for i in rows} for rows in (train, held_out))
        assert trained
        assert asked
        assert not trained & asked


def test_other_spaces_are_the_same_text():
    labelled = ordered(["a b", "c", " a  b\n"], ["x", "y", "y"])
    assert len(set(labelled.copies)) == 2


def test_without_copies_folds_are_stratified_as_ever():
    labelled = ordered(TEXTS, LABELS)
    assert labelled.copies is None
    fold = Folded.of(labelled, 3, seed=1).fold()
    np.testing.assert_array_equal(fold, fold_of(labelled.codes, 3, seed=1))


def test_equal_vectors_are_no_copies():
    assert ordered(np.ones((4, 2)), list("xxyy")).copies is None


def test_copies_in_other_groups_are_apart():
    """Who names groups says what belongs together; a copy elsewhere is another observation."""
    texts, groups = ["a", "a", "a", "b", "c"], np.array([0, 0, 1, 1, 2])
    labelled = ordered(texts, list("xxxyy"), groups=groups)
    assert len(set(labelled.copies)) == 4
    folded = Folded.of(labelled, 3, 0)
    assert len(set(zip(labelled.groups, folded.fold(), strict=True))) == 3


def test_a_class_of_one_repeated_text_is_kept_whole():
    """No fold could learn the class from others; so it does not compete, as a class of one row."""
    texts, labels = [*TEXTS, *["out of office"] * 20], [*LABELS, *["auto"] * 20]
    found = decide(Labelled.of(texts, labels), CHOICE)
    assert found.mask[60:].all()
    assert found.reports[sorted(set(labels)).index("auto")].why == "too few samples, kept whole"


def test_neighbours_do_not_count_copies():
    texts, codes = [*"aabcd"], np.array([0, 0, 1, 1, 1])
    vectors = {"a": [1.0, 0.0], "b": [0.6, 0.8], "c": [0.8, 0.6], "d": [0.0, 1.0]}
    member = Neighbours("near", lambda some: np.array([vectors[one] for one in some]))
    alone = Folded(texts, codes, ["x", "y"], 2)
    with_copies = Folded(texts, codes, ["x", "y"], 2, copies=np.array([0, 0, 1, 2, 3]))
    assert member.score(alone)[0, 0] > 0.9
    assert member.score(with_copies)[0, 0] < 0.1


@pytest.mark.parametrize("same", [True, False])
def test_copies_with_the_same_votes_get_one_decision(same):
    codes = np.array([sorted(set(LABELS)).index(label) for label in LABELS])
    first = np.column_stack([codes, codes, np.roll(codes, 1)])
    second = first[:20] if same else (first[:20] + 1) % 3
    votes = Votes(["one", "two", "three"], sorted(set(LABELS)), np.vstack([first, second]))
    some = Labelled.of(TEXTS + TEXTS[:20], LABELS + LABELS[:20], votes=votes)
    found = decide(some, CHOICE)
    assert np.array_equal(found.confidence[:20], found.confidence[60:]) == same


def test_keys_of_copies_are_equal():
    assert len(set(content_keys(["a", "a ", "\na"], 3).tolist())) == 1
