"""Votes of several label sources: read, matched to classes, joined, reported."""

import random

import numpy as np
import pytest

import lops_adapters
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.labels.reader import read_labels
from lops_adapters.pseudo_labels import seed_votes

from ..noisy import noisy_texts

TEXTS, _, GOLD = noisy_texts(n=240, k=3, noise=0.0)
CLASSES = sorted(set(GOLD))


def votes_of(accuracies, coverage=0.7, seed=0):
    """A list of rows: the vote of each source, or None."""
    rng = np.random.default_rng(seed)
    return [
        [
            (gold if rng.random() < a else CLASSES[(CLASSES.index(gold) + 1) % 3])
            if rng.random() < coverage
            else None
            for a in accuracies
        ]
        for gold in GOLD
    ]


@pytest.fixture(scope="module")
def rows():
    votes = votes_of([0.9, 0.7, 0.45, 0.8], coverage=0.5)
    votes[5] = votes[17] = [None] * 4
    return votes


@pytest.fixture(scope="module")
def selection(rows):
    return lops_adapters.select(TEXTS, rows, encoder=None)


def test_one_label_per_text_with_its_probability(selection, rows):
    voted = [any(label is not None for label in row) for row in rows]
    assert [label is not None for label in selection.labels] == voted
    right = np.array([a == b for a, b in zip(selection.labels, GOLD, strict=True)])[voted]
    assert right.mean() > 0.93
    assert np.nanmin(selection.confidence) >= 0
    assert np.nanmax(selection.confidence) <= 1
    assert selection.abstained.tolist() == np.flatnonzero(~np.array(voted)).tolist()
    assert 5 in selection.abstained
    kept = selection.kept
    assert len(kept)
    assert right[np.isin(np.flatnonzero(voted), kept)].mean() >= right.mean()


def test_texts_without_a_vote_get_a_suggestion(selection):
    for row in selection.abstained.tolist():
        assert selection.suggested[row] in CLASSES
        assert 0 < selection.suggested_probability[row] <= 1
    right = [selection.suggested[row] == GOLD[row] for row in selection.abstained.tolist()]
    assert np.mean(right) > 0.6
    assert any("with a suggestion" in line for line in selection.why)


def test_a_table_of_sources(selection, rows):
    names = [source.name for source in selection.sources]
    assert names == ["source 1", "source 2", "source 3", "source 4"]
    accuracies = [source.accuracy for source in selection.sources]
    assert np.argsort(accuracies)[0] == 2
    assert max(accuracies) in (accuracies[0], accuracies[3])
    worst = selection.sources[2]
    assert worst.votes == sum(row[2] is not None for row in rows)
    assert worst.coverage == worst.votes / len(rows)
    voted, true, share = worst.error
    assert voted != true
    assert 0 < share < 1


def test_a_frame_with_a_column_per_source(rows, selection):
    pandas, names = pytest.importorskip("pandas"), ["one", "two", "three", "four"]
    frame = pandas.DataFrame(rows, columns=names)
    found = lops_adapters.select(TEXTS, frame, encoder=None)
    assert [source.name for source in found.sources] == names
    assert found.labels == selection.labels
    np.testing.assert_array_equal(found.confidence, selection.confidence)
    columns, array, lists = (
        read_labels(votes).votes
        for votes in (frame.to_dict("list"), np.array(rows, dtype=object), rows)
    )
    assert list(columns.sources) == names
    assert columns.codes.tolist() == array.codes.tolist() == lists.codes.tolist()


def test_the_source_of_every_label():
    rng = np.random.default_rng(0)
    source = ["good" if rng.random() < 0.6 else "bad" for _ in GOLD]
    labels = [
        gold if name == "good" or rng.random() < 0.4 else CLASSES[(CLASSES.index(gold) + 1) % 3]
        for gold, name in zip(GOLD, source, strict=True)
    ]
    found = lops_adapters.select(TEXTS, labels, source=source, encoder=None)
    by_name = {one.name: one for one in found.sources}
    assert by_name["good"].accuracy > by_name["bad"].accuracy + 0.2
    before = np.mean([a == b for a, b in zip(labels, GOLD, strict=True)])
    assert np.mean([a == b for a, b in zip(found.labels, GOLD, strict=True)]) > before + 0.05


def test_checked_rows_of_votes(selection, rows):
    asked = selection.to_check(20).tolist()
    checked = {row: GOLD[row] for row in asked if GOLD[row] in CLASSES}
    found = lops_adapters.select(TEXTS, rows, checked=checked, encoder=None)
    assert [found.corrected[row] for row in checked] == list(checked.values())
    assert found.checked_rate.checked == len(checked)
    assert found.mask[list(checked)].all()
    # They shift what votes say, as they shift labels; sources are not estimated again.
    assert found.sources == selection.sources


def test_single_labels_are_matched_to_classes():
    answers = [f"It is {label}." if i % 3 else label for i, label in enumerate(GOLD)]
    found = lops_adapters.select(TEXTS, answers, classes=CLASSES, encoder=None)
    assert found.labels == GOLD
    assert found.sources == []
    assert any(line.startswith("Read as classes:") for line in found.why)


@pytest.mark.parametrize(
    ("labels", "more", "message"),
    [
        (
            [["a", None], [None, None]] * 12,
            {},
            "all 12 rows have the label 'a'; wanted at least two classes",
        ),
        ([[None, ""]] * 4, {}, "none of the 4 rows has a vote; wanted a class name"),
        ([["a", "a"], ["b", "b"]] * 12, {}, "all 2 sources give the same votes"),
        ([["a", "b"], ["a"]], {}, "rows of votes have 1, 2 entries"),
        ({"x": ["a", "b"], "y": ["a"]}, {}, "columns of votes have 1, 2 entries"),
        ({}, {}, "columns of votes have none entries"),
        ([["a", 1], ["b", 2]] * 12, {}, "several types: str .'a' in position 0., int .1 in po"),
        (["a", "b"] * 6, {"source": ["x"]}, "found 12 labels and 1 sources"),
        (["a", "b"] * 6, {"source": ["x"] * 12}, "all labels are from the source 'x'"),
        ([["a", "b"]] * 6, {"classes": ["a", "A"]}, "differ by case, spaces or punctuation only"),
        ([["a", "c"]] * 6, {"classes": ["a", "b"]}, "'c' .position 0.; correct th"),
    ],
)
def test_votes_that_cannot_be_used(labels, more, message):
    with pytest.raises(LopsError, match=message):
        read_labels(labels, **more)


def test_votes_need_the_committee(rows):
    with pytest.raises(LopsError, match="learning-order takes one label per sample, not votes"):
        lops_adapters.select(TEXTS, rows, "learning-order", keep=0.5)
    with pytest.raises(LopsError, match="labelled_by is rules, and several sources vote"):
        lops_adapters.select(TEXTS, rows, encoder=None, labelled_by="rules")


def test_a_source_without_votes_is_named(rows):
    more = [[*row, None] for row in rows]
    found = lops_adapters.select(TEXTS, more, encoder=None)
    assert "Sources without a vote: source 5." in found.why
    assert found.sources[4].votes == 0
    assert np.isnan(found.sources[4].accuracy)


def test_texts_of_a_group_do_not_score_each_other():
    """Wrong labels of one thread confirm each other, unless the thread is a group."""
    texts, labels = list(TEXTS), list(GOLD)
    for i in range(12):
        texts.append(f"thread seven again seven thread {TEXTS[3 * i]}")
        labels.append(CLASSES[1])  # they are of class 0
    groups = [*range(len(TEXTS)), *["thread"] * 12]
    wrong = np.arange(len(TEXTS), len(texts))
    alone = lops_adapters.select(texts, labels, encoder=None)
    grouped = lops_adapters.select(texts, labels, groups=groups, encoder=None)
    assert grouped.confidence[wrong].mean() < alone.confidence[wrong].mean()
    with pytest.raises(LopsError, match="found 2 groups and 252 texts"):
        lops_adapters.select(texts, labels, groups=["a", "b"], encoder=None)


def test_seed_words_as_sources():
    texts = [f"{text} {'alpha' if gold == CLASSES[0] else 'beta'}" for text, gold in
             zip(TEXTS, GOLD, strict=True)]  # fmt: skip
    seeds = {CLASSES[0]: ["alpha", "common3"], CLASSES[1]: ["beta"], CLASSES[2]: ["topic2word1"]}
    votes = seed_votes(texts, seeds)
    found = lops_adapters.select(texts, votes, encoder=None)
    by_name = {one.name: one for one in found.sources}
    assert by_name[f"{CLASSES[0]}: alpha"].accuracy > by_name[f"{CLASSES[0]}: common3"].accuracy
    assert by_name[f"{CLASSES[1]}: beta"].votes == 160


@pytest.mark.parametrize(("n", "alone"), [(60, []), (400, [(None, None, "Moneyy")])])
def test_a_class_with_fewer_votes_than_folds_overrules_no_other(n, alone):
    """Its signal is rare, so its weight is large; nobody can check it."""
    texts, weak, gold = noisy_texts(n=n, noise=0.1)
    names = {"class 0": "money", "class 1": "arts"}
    votes = [(names[w], names[g], None) for w, g in zip(weak, gold, strict=True)]
    votes[4] = "money", "money", "Moneyy"
    votes[6 : 6 + len(alone)] = alone
    selection = lops_adapters.select(texts, votes, encoder=None)
    assert selection.labels[4] == "money"
    assert [selection.labels[6], selection.confidence[6]] == ["Moneyy", 1] or not alone
    few = f"'Moneyy' ({1 + len(alone)}, nearly 'money')"
    said = f"Fewer than 3 votes: {few}. Other votes for a row overrule them."
    assert said in selection.why


def test_a_constant_source_and_a_rare_one():
    texts = [f"goal match {i}" for i in range(29)] + ["bank oil rates"]
    votes = {"constant": ["x"] * 30, "rare": [None] * 29 + ["y"]}
    with pytest.warns(LopsWarning, match="nothing is kept of 1 of 2 classes"):
        result = lops_adapters.select(texts, votes, encoder=None)
    assert np.isfinite(result.confidence).all()
    assert set(result.labels) <= {"x", "y"}


def test_votes_that_do_not_fit_the_memory_are_refused(monkeypatch):
    classes = [f"c{i}" for i in range(300)]
    votes = dict.fromkeys("ab", classes * 2) | {"c": [*classes[1:], classes[0]] * 2}
    texts = [f"text {i}" for i in range(600)]
    monkeypatch.setattr("lops_adapters.texts.labelled.free_memory", lambda: 10**7)
    for call in (lops_adapters.select, lops_adapters.agree):
        with pytest.raises(LopsError, match=r"3 sources vote for 300 classes in 900 ways.*memory"):
            call(texts, votes)


def test_checked_rows_tell_of_errors_that_all_sources_make():
    texts, weak, gold = noisy_texts(n=200, k=3, noise=0.3)
    draw = random.Random(0)
    pairs = zip(weak, gold, strict=True)
    other = [draw.choice([w, w, w, g, draw.choice(weak)]) for w, g in pairs]
    votes = {"one": weak, "other": other}
    first = lops_adapters.select(texts, votes, encoder=None)
    checked = {int(row): gold[row] for row in first.to_check(40)}
    found = lops_adapters.select(texts, votes, encoder=None, checked=checked)
    wrong = np.mean([label != true for label, true in zip(found.labels, gold, strict=True)])
    assert abs(found.checked_rate.value - wrong) < abs(first.noise.rate - wrong) / 2
