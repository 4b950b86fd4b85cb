"""Rows that a person has checked: which ones, what is refused, what they change."""

import numpy as np
import pytest

from lops_adapters import LopsError, select
from lops_adapters.selection.committee.checking import Rate
from lops_adapters.texts.explain import checked_sentences

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts(n=240, k=3, noise=0.3)
WRONG = np.array(LABELS) != np.array(GOLD)


def chosen(**settings):
    return select(TEXTS, LABELS, encoder=None, **settings)


@pytest.fixture(scope="module")
def unchecked():
    return chosen()


def test_uncertain_rows_of_all_classes_come_first_and_later_ones_are_new(unchecked):
    selection = unchecked
    rows = selection.to_check(10)
    doubt = selection.confidence * (1 - selection.confidence)
    assert doubt[rows].mean() > 1.5 * doubt.mean()
    assert {LABELS[row] for row in rows} == set(LABELS)
    np.testing.assert_array_equal(rows, selection.to_check(80)[:10])
    later = chosen(checked={int(row): GOLD[row] for row in rows}).to_check(40)
    assert not set(later.tolist()) & set(rows.tolist())


def test_the_order_of_the_texts_does_not_change_which_are_to_check(unchecked):
    order = np.random.default_rng(1).permutation(len(TEXTS))
    other = select([TEXTS[i] for i in order], [LABELS[i] for i in order], encoder=None)
    assert [TEXTS[i] for i in unchecked.to_check()] == [TEXTS[order[i]] for i in other.to_check()]


def test_checked_rows_are_kept_with_their_label(unchecked):
    rows = unchecked.to_check(60)
    checked = {int(row): GOLD[row] for row in rows}
    selection = chosen(checked=checked)
    assert WRONG[rows].any()
    assert selection.mask[rows].all()
    assert (selection.confidence[rows] == 1).all()
    assert selection.suggested[rows].tolist() == [GOLD[row] for row in rows]
    assert selection.corrected[rows].tolist() == [GOLD[row] for row in rows]
    assert selection.checked == checked
    np.testing.assert_array_equal(np.array(selection.labels), np.array(LABELS))


def test_labels_that_are_always_wrong_are_seen(unchecked):
    """No member can see it: every label of a class is another class."""
    gold = [f"class {(int(label[-1]) + (label[-1] == '0'))}" for label in GOLD]
    selection, checked = unchecked, {}
    assert (selection.corrected != gold).mean() > 0.25
    while len(checked) < 60:
        checked |= {int(row): gold[row] for row in selection.to_check(10)}
        selection = chosen(checked=checked)
    others = np.setdiff1d(np.arange(len(TEXTS)), list(checked))
    assert (selection.corrected != gold)[others].mean() < 0.05


def test_the_noise_of_all_rows_and_of_each_class(unchecked):
    rows = unchecked.to_check(120)
    selection = chosen(checked={int(row): GOLD[row] for row in rows})
    rate = selection.checked_rate
    assert rate.low <= WRONG.mean() <= rate.high
    assert rate.checked == 120
    assert set(selection.checked_rates) == set(LABELS)
    for label, own in selection.checked_rates.items():
        assert own.low <= WRONG[np.array(LABELS) == label].mean() <= own.high
    (said,) = [why for why in selection.why if why.startswith("Checked: 120 rows. Wrong labels: ")]
    assert said.endswith(" %); this range is narrow enough to stop.")
    # Four times as many are more than there are.
    assert checked_sentences(Rate(0.2, 0.1, 0.4, 60), 240)[0].endswith(
        "; checking 180 more would halve the range."
    )
    (said,) = checked_sentences(Rate(0.2, 0.1, 0.4, 70), 240)
    assert said == "Checked: 70 rows. Wrong labels: 20.0 % of all rows (10.0 % to 40.0 %)."
    (said,) = [why for why in chosen(checked={3: GOLD[3]}).why if why.startswith("Checked: 1 row.")]
    assert said.endswith(" %); checking 3 more would halve the range.")
    assert unchecked.checked_rate is None
    assert not any(why.startswith("Checked") for why in unchecked.why)


@pytest.mark.parametrize(
    ("checked", "words"),
    [
        ([1, 2], r"^checked is \[1, 2\]; wanted a dict, position of a text to its right label$"),
        ({240: "class 0"}, r"^checked has the position 240; wanted one of 0 to 239$"),
        ({-1: "class 0"}, r"the position -1; wanted one of 0 to 239$"),
        ({"3": "class 0"}, r"the position '3'; wanted one of"),
        ({True: "class 0"}, r"the position True; wanted one of"),
        ({3: 7}, r"3 is checked as 7 .int., and the labels are of type str; wanted one of"),
        ({3: ["class 0"]}, r"is checked as \['class 0'\]; wanted a label, or None"),
    ],
)
def test_what_is_refused(checked, words):
    with pytest.raises(LopsError, match=words):
        chosen(checked=checked)


def test_a_class_that_no_text_has():
    """The text is kept with it; the others are selected as if it fitted no class."""
    selection = chosen(checked={3: "new", 4: " CLASS 0", 5: "new"})
    assert selection.checked == {3: "new", 4: "class 0", 5: "new"}
    assert [selection.suggested[row] for row in (3, 4, 5)] == ["new", "class 0", "new"]
    assert selection.corrected[3] == "new"
    assert selection.mask[[3, 5]].all()
    assert selection.weights[3] == selection.suggested_probability[3] == 1
    assert selection.per_class["new"].count == 0
    assert selection.said.problems == [
        "Checked as a class that no row has as its label: 'new' (2 rows)."
    ]
    assert selection.page().to_json()
    none = chosen(checked={3: None, 4: "class 0", 5: None})
    others = np.delete(np.arange(len(TEXTS)), [3, 5])
    np.testing.assert_array_equal(selection.confidence[others], none.confidence[others])


def test_copies_of_a_text_with_a_new_class_get_it():
    selection = select([*TEXTS, TEXTS[3]], [*LABELS, LABELS[3]], encoder=None, checked={3: "new"})
    assert selection.suggested[[3, len(TEXTS)]].tolist() == ["new", "new"]
    assert selection.mask[[3, len(TEXTS)]].all()


def test_a_text_without_a_label_cannot_be_checked():
    labels = [None, *LABELS[1:]]
    with pytest.raises(LopsError, match="which has no label; leave it out, or give it a label"):
        select(TEXTS, labels, encoder=None, checked={0: "class 0"})


def test_other_methods_have_no_rows_to_check():
    with pytest.raises(LopsError, match=r"^learning-order does not learn from checked rows"):
        select(TEXTS, LABELS, "learning-order", keep=0.5, checked={0: GOLD[0]})
    selection = select(TEXTS, LABELS, "learning-order", keep=0.5)
    with pytest.raises(LopsError, match="need the committee, and the method is learning-order"):
        selection.to_check()


def test_none_of_the_classes(unchecked):
    rows = unchecked.to_check(30)
    checked = {int(row): GOLD[row] for row in rows[:29]} | {int(rows[29]): None}
    selection, none = chosen(checked=checked), int(rows[29])
    assert not selection.mask[none]
    assert selection.confidence[none] == selection.sample_weight[none] == 0
    assert selection.suggested[none] is selection.corrected[none] is None
    assert np.isnan(selection.suggested_probability[none])
    assert selection.checked == checked
    assert selection.checked_rate.checked == 30
    full = chosen(checked={**checked, none: LABELS[none]})
    assert selection.checked_rate.value > full.checked_rate.value
    assert all(None not in pair for pair in selection.corrections())
    assert chosen(checked={none: None}).rejected.tolist().count(none) == 1


@pytest.mark.parametrize("kind", ["embeddings", "pred_probs"])
def test_vectors_and_probabilities(kind):
    rng = np.random.default_rng(0)
    codes = np.array([int(label[-1]) for label in GOLD])
    if kind == "embeddings":
        numbers = rng.normal(size=(240, 6)) + 3 * np.eye(6)[codes]
    else:
        numbers = np.full((240, 3), 0.2)
        numbers[np.arange(240), codes] = 0.6
    before = select(None, LABELS, **{kind: numbers})
    checked = {int(row): GOLD[row] for row in before.to_check(30)}
    selection = select(None, LABELS, **{kind: numbers}, checked=checked)
    assert (selection.corrected == np.array(GOLD, dtype=object)).mean() > 0.9


def test_a_check_for_a_class_of_one_row_does_not_change_the_others():
    texts, labels = [*TEXTS, "lone words of a rare class"], [*LABELS, "rare"]
    before = select(texts, labels, encoder=None)
    found = select(texts, labels, encoder=None, checked={6: "rare", 7: LABELS[7]})
    assert found.corrected[6] == "rare"
    assert found.corrected[240] == "rare"
    others = np.setdiff1d(np.arange(240), [6, 7])
    assert (found.suggested[others] == before.suggested[others]).mean() > 0.97


def test_many_classes_say_nothing_on_the_terminal(recwarn):
    texts = [f"word{i % 40} other{i % 7}" for i in range(400)]
    labels = [f"class {i % 40}" for i in range(400)]
    select(texts, labels, encoder=None, checked={i: labels[i] for i in range(50)})
    assert not [one for one in recwarn if "classes" in str(one.message)]


def test_copies_of_a_checked_row_are_no_further_evidence():
    texts, labels = [*TEXTS, *[TEXTS[3]] * 20], [*LABELS, *[LABELS[3]] * 20]
    found = select(texts, labels, encoder=None, checked={3: LABELS[3]})
    assert found.checked_rate.checked == 1
    assert (found.confidence[[3, *range(240, 260)]] == 1).all()


def test_a_copy_of_a_row_of_no_class_has_no_suggestion():
    """As the row itself: it is rejected, and not trained on."""
    texts, labels, _ = noisy_texts(n=90, k=3)
    found = select([*texts, texts[0]], [*labels, labels[0]], encoder=None, checked={0: None})
    assert found.suggested[[0, 90]].tolist() == [None, None]
    assert found.mask[[0, 90]].tolist() == [False, False]
    assert found.sample_weight[[0, 90]].tolist() == [0, 0]
