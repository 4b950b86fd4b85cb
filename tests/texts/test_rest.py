"""Texts without a label get one by rounds of self-training."""

import pickle

import numpy as np
import pytest

import lops_adapters
from lops_adapters.cli import select as command
from lops_adapters.testing.data import noisy_texts
from lops_adapters.texts.rest import rest_of

from ..noisy import noisy_rows, read_table, write_table

TEXTS, WEAK, GOLD = noisy_texts(n=240, k=3)
UNKNOWN = np.arange(240) % 5 % 2 == 1


def selected(order=slice(None), **settings):
    labels = [None if gone else label for label, gone in zip(WEAK, UNKNOWN, strict=True)]
    rows = np.arange(len(TEXTS))[order].tolist()
    texts, labels = [TEXTS[i] for i in rows], [labels[i] for i in rows]
    return lops_adapters.select(texts, labels, encoder=None, **settings)


@pytest.fixture(scope="module")
def selection():
    return selected()


def test_nearly_all_suggestions_are_right(selection):
    assert selection.abstained.tolist() == np.flatnonzero(UNKNOWN).tolist()
    said, gold = selection.suggested[UNKNOWN], np.array(GOLD, dtype=object)[UNKNOWN]
    assert (said == gold).mean() > 0.95
    assert (selection.corrected[UNKNOWN] == said).all()
    probability = selection.suggested_probability[UNKNOWN]
    assert (selection.weights[UNKNOWN] == probability).all()
    assert (probability > 1 / 3).all()
    assert not selection.mask[UNKNOWN].any()
    assert "Rows without a label: with a suggestion." in selection.why


def test_the_others_are_scored_as_without_them(selection):
    known = np.flatnonzero(~UNKNOWN)
    alone = lops_adapters.select([TEXTS[i] for i in known], [WEAK[i] for i in known], encoder=None)
    np.testing.assert_array_equal(selection.confidence[known], alone.confidence)
    assert (selection.suggested[known] == alone.suggested).all()


def test_the_order_of_rows_does_not_matter(selection):
    order = np.random.default_rng(3).permutation(len(TEXTS))
    moved = selected(order)
    assert (moved.suggested == selection.suggested[order]).all()
    np.testing.assert_array_equal(
        moved.suggested_probability, selection.suggested_probability[order]
    )


def test_other_methods_suggest_nothing():
    selection = selected(method="learning-order", keep=0.5, probe="linear")
    assert set(selection.suggested[UNKNOWN]) == {None}
    assert np.isnan(selection.suggested_probability[UNKNOWN]).all()


def test_members_that_cannot_tell_suggest_nothing():
    rng = np.random.default_rng(0)
    labels = rng.choice(["yes", "no"], 240).astype(object)
    labels[UNKNOWN] = None
    texts = [" ".join(rng.choice(["red", "green", "blue", "grey"], 6)) for _ in range(240)]
    with pytest.warns(lops_adapters.LopsWarning, match="hardly more than by guessing"):
        selection = lops_adapters.select(texts, labels.tolist(), encoder=None)
    assert set(selection.suggested[UNKNOWN]) == {None}


class OneSaid:
    """A committee that knows the pool: the first text is surely of the second class."""

    classes = ("law", "sport")

    def probabilities(self, samples):
        sport = ["goal" in sample for sample in samples]
        return np.array([[0.1, 0.9] if is_sport else [0.9, 0.1] for is_sport in sport])


def test_the_classifier_learns_words_that_only_the_pool_has():
    texts = ["the judge"] * 10 + ["the team"] * 10
    known = np.repeat([0, 1], 10)
    pool = ["a goal by the striker"] * 6 + ["a verdict by the court"] * 6
    label = rest_of(OneSaid(), texts, known, pool, encoder=None)
    label = pickle.loads(pickle.dumps(label))
    codes, probability = label(["striker", "court"])
    assert [label.classes[code] for code in codes] == ["sport", "law"]
    assert (probability > 0.5).all()
    assert [len(part) for part in label([])] == [0, 0]


def test_few_texts_get_the_committees_label_by_the_shares_of_the_classes():
    texts, known = ["the judge"] * 95 + ["the team"] * 5, np.repeat([0, 1], [95, 5])
    texts, known = [*texts, "of no class"], np.append(known, -1)
    label = rest_of(OneSaid(), texts, known, ["a goal"] * 4, encoder=None)
    codes, probability = pickle.loads(pickle.dumps(label))(["a goal", "a verdict"])
    assert codes.tolist() == [0, 0]  # .1 * .95 against .9 * .05
    np.testing.assert_allclose(probability, [0.095 / 0.14, 0.855 / 0.86])
    label = rest_of(OneSaid(), texts, known, ["a goal"] * 5, encoder=None)  # self-training
    assert label(["a goal"])[0] == 1


def test_a_table_by_blocks_and_its_training_file(tmp_path):
    rows = [
        [*row[:2], "" if gone else row[2], row[3]]
        for row, gone in zip(noisy_rows(n=240, k=3), UNKNOWN, strict=True)
    ]
    path = write_table(tmp_path / "news.csv", rows)
    options = ["--text", "text", "--label", "weak", "--encoder", "none", "--quiet"]
    assert (
        command.main(
            [str(path), *options, "--probe-rows", "150", "--output", str(tmp_path / "news-lops")]
        )
        == 0
    )
    rest = read_table(tmp_path / "news-lops/abstained.csv")
    assert [row["nr"] for row in rest] == [row[0] for row in rows if not row[2]]
    right = [row["lops_suggested"] == row["true"] for row in rest]
    assert np.mean(right) > 0.95
    train = {row["text"]: row for row in read_table(tmp_path / "news-lops/train.csv")}
    for row in rest:
        assert train[row["text"]]["label"] == row["lops_suggested"]
        assert float(train[row["text"]]["weight"]) == pytest.approx(
            float(row["lops_confidence"]), rel=1e-4
        )
    assert [row["text"] for row in read_table(tmp_path / "news-lops/train.csv")] == [
        row[1] for row in rows
    ]
