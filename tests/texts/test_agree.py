"""Agreement of label sources: pairs, truth, verdicts, rows to send back and to check."""

import json

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from lops_adapters.core import LopsError
from lops_adapters.report.agreement_page import write_agreement_page
from lops_adapters.texts.agree import agree


def labelled(n=400, seed=0):
    """Texts, the right labels, and votes: two people, a good model, and one that guesses."""
    rng = np.random.default_rng(seed)
    true = np.array(["bad", "good"], dtype=object)[rng.integers(0, 2, n)]
    other = np.where(true == "bad", "good", "bad")

    def source(right):
        return np.where(rng.random(n) < right, true, other).tolist()

    votes = {"ann": source(0.9), "ben": source(0.9), "model": source(0.88), "guess": source(0.5)}
    return [f"text {i}" for i in range(n)], true, votes


def test_kappas_of_sources_and_of_checked_rows():
    texts, true, votes = labelled()
    checked = {row: true[row] for row in range(100)}
    page = agree(texts, votes, checked=checked, people=["ann", "ben"])
    assert (page.checked, page.truth, len(page.pairs)) == (100, "checked rows", 6)
    kappas = {(pair.first, pair.second): pair.kappa.value for pair in page.pairs}
    assert kappas["ann", "ben"] > 0.5
    assert abs(kappas["model", "guess"]) < 0.2
    of_truth = {pair.first: pair for pair in page.with_truth}
    assert of_truth["model"].equal == pytest.approx(by_kind(votes, true, range(100)))
    assert of_truth["model"].kappa.rows == 100
    assert len(of_truth["model"].per_class) == 2
    counts = next(one.counts for one in page.confusions if one.source == "guess")
    assert np.sum(counts) == pytest.approx(400, abs=2)
    assert 0 < page.alpha.value < kappas["ann", "ben"]


def by_kind(votes, true, checked):
    """How often the model is right, estimated apart where sources differ and where they do not."""
    differ = np.array([len(set(row)) > 1 for row in zip(*votes.values(), strict=True)])
    right = np.array(votes["model"], dtype=object) == true
    rows = np.isin(np.arange(len(true)), list(checked))
    return sum(np.mean(differ == kind) * right[rows & (differ == kind)].mean() for kind in (0, 1))


def test_rows_on_which_sources_differ_are_checked_more_often_and_weigh_less():
    texts, true, votes = labelled(600)
    del votes["guess"]
    right = np.mean(np.array(votes["model"], dtype=object) == true)
    ahead = np.mean(np.array(votes["model"]) == true) - np.mean(np.array(votes["ann"]) == true)
    differ = np.array([len(set(row)) > 1 for row in zip(*votes.values(), strict=True)])
    found = []
    for seed in range(12):
        top = agree(texts, votes, seed=seed).to_check[:80]
        expected = 3 * differ.mean() / (3 * differ.mean() + 1 - differ.mean())
        assert differ[list(top)].mean() == pytest.approx(expected, abs=0.02)
        page = agree(texts, votes, checked={row: true[row] for row in top}, people=["ann"])
        model = page.with_truth[2]
        one = page.comparisons[1].found
        holds = model.kappa.low <= 2 * right - 1 <= model.kappa.high  # of two even classes
        found.append((model.equal, one.value, one.low <= ahead <= one.high, holds))
    equal, value, difference_holds, kappa_holds = np.mean(found, axis=0)
    assert equal == pytest.approx(right, abs=0.02)
    assert value == pytest.approx(ahead, abs=0.02)
    assert min(difference_holds, kappa_holds) >= 0.8


def test_what_is_checked_is_not_asked_again():
    texts, _, votes = labelled(30)
    people = ["ann", "ben", "model", "guess"]
    page = agree(texts, votes, checked={0: "bad", 1: None}, people=people)
    assert (page.checked, page.comparisons) == (1, ())
    assert sorted(page.to_check) == list(range(2, 30))


def test_checked_rows_of_one_kind_stand_for_all():
    texts = [f"text {i}" for i in range(10)]
    votes = {"ann": ["a", "b"] * 5, "ben": ["a", "b"] * 4 + ["b", "a"]}
    page = agree(texts, votes, checked={0: "a", 1: "b"})  # no row on which they differ
    assert [pair.equal for pair in page.with_truth] == [1, 1]
    assert page.confusions[0].counts == [[5, 0], [0, 5]]


def test_confusions_of_many_classes_are_left_out(tmp_path, monkeypatch):
    """Each is a square of the number of classes: pages and files of gigabytes."""
    monkeypatch.setitem(agree.__globals__, "_CONFUSED", 3)
    pages = []
    for k in (3, 4):
        first = [f"class {i}" for i in range(k)] * 3
        pages.append(agree(first, {"a": first, "b": ["class 1", *first[1:]]}))
    assert [len(page.confusions) for page in pages] == [2, 0]
    told = [any("No confusions are shown" in note for note in page.notes) for page in pages]
    assert told == [False, True]
    shown = [write_agreement_page(tmp_path / "a.html", one, "", {}).read_text() for one in pages]
    assert ["Confusions" in one for one in shown] == [True, False]


def test_verdicts_about_people():
    texts, true, votes = labelled(2000)
    checked = {row: true[row] for row in range(1200)}
    page = agree(texts, votes, checked=checked, people=["ann"])
    found = {one.source: one for one in page.comparisons}
    assert list(found) == ["ben", "model", "guess"]
    assert found["model"].sentence.startswith("model is as good as ann; right ")
    assert found["guess"].sentence.startswith("guess is worse than ann; right ")
    few = agree(texts, votes, checked=dict(list(checked.items())[:25]), people=["ann"])
    undecided = next(one for one in few.comparisons if one.source == "model")
    assert f"undecided, check {undecided.found.more:,} more rows" in undecided.sentence
    assert len(agree(texts, votes, checked=checked).comparisons) == 12


def test_without_checked_rows_joint_labels_take_their_place():
    texts, _, votes = labelled()
    page = agree(texts, votes)
    assert (page.truth, page.comparisons) == ("joint labels", ())
    order = sorted(page.with_truth, key=lambda pair: pair.kappa.value)
    assert order[0].first == "guess"
    assert sorted(page.to_check) == list(range(400))
    assert page.to_check[:20] != tuple(range(20))


def test_telling_rows_and_rows_to_send_back():
    texts, true, votes = labelled()
    page = agree(texts, votes, checked={3: true[3]})
    assert 0 < len(page.disagreements) <= 5
    sure = [one.probability for one in page.disagreements]
    assert sure == sorted(sure, reverse=True)
    for one in page.disagreements:
        assert set(one.said.values()) == {"bad", "good"}
        assert texts[one.row] == one.text
    back = page.sent_back["guess"]
    assert len(back) == 20
    wrong = [votes["guess"][one.row] != true[one.row] for one in back]
    assert np.mean(wrong) > 0.9
    assert all(one.said == {"guess": votes["guess"][one.row]} for one in back)
    assert 3 not in page.to_check


def test_the_order_of_rows_does_not_matter():
    texts, true, votes = labelled()
    order = np.random.default_rng(0).permutation(400)
    moved = {name: [column[i] for i in order] for name, column in votes.items()}
    one = agree(texts, votes, checked={7: true[7]})
    two = agree([texts[i] for i in order], moved, checked={int(np.argmax(order == 7)): true[7]})
    assert [texts[i] for i in one.to_check] == [texts[order[i]] for i in two.to_check]
    assert [a.text for a in one.disagreements] == [b.text for b in two.disagreements]
    assert one.comparisons == two.comparisons


def test_classes_in_their_order_and_plain_values():
    texts, _, votes = labelled(40)
    page = agree(texts, votes, classes=["good", "bad"])
    assert page.classes == ("good", "bad")
    stored = json.loads(json.dumps(page.to_json()))
    assert stored["pairs"][0]["kappa"]["rows"] == 40
    moved = page.numbered([10 * i for i in range(40)])
    assert moved.to_check[0] == 10 * page.to_check[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"people": ["eve"]}, "people names 'eve'; the sources are ann, ben, model, guess"),
        ({"checked": {1: 7}}, "position 1 is checked as 7 .int., and the labels are of type str"),
        ({"checked": ["good"]}, "checked is .*; wanted a dict, position of a text"),
        ({"checked": {99: "good"}}, "checked has the position 99; wanted one of 0 to 39"),
    ],
)
def test_what_is_not_there(change, message):
    texts, _, votes = labelled(40)
    with pytest.raises(LopsError, match=message):
        agree(texts, votes, **change)


def test_checked_as_a_class_that_no_source_gives():
    """Every source is wrong there; joint labels and alpha do not change."""
    texts, true, votes = labelled(40)
    checked = {row: true[row] for row in range(10)} | {11: "ugly"}
    page, without = agree(texts, votes, checked=checked), agree(texts, votes)
    assert page.classes == ("bad", "good", "ugly")
    assert page.checked == 11
    assert page.alpha == without.alpha
    assert page.disagreements == without.disagreements
    assert sum(sum(row) for one in page.confusions for row in one.counts[2:]) > 0
    assert all(row[2] == 0 for one in page.confusions for row in one.counts)


def test_one_source_is_not_enough():
    with pytest.raises(LopsError, match="labels are of one source; wanted labels of several"):
        agree(["a", "b"], ["x", "y"])
    with pytest.raises(LopsError, match="found 3 texts and 2 rows of labels"):
        agree(["a", "b", "c"], [["x", "y"], ["y", "y"]])


def test_rows_without_a_vote_are_neither_sent_back_nor_checked():
    texts, _, votes = labelled(60)
    silent = {name: [None if i < 3 else vote for i, vote in enumerate(column)]
              for name, column in votes.items()}  # fmt: skip
    silent["guess"][3:30] = [None] * 27
    page = agree(texts, silent)
    assert sorted(page.to_check) == list(range(3, 60))
    assert page.sent_back["guess"]
    assert min(one.row for one in page.sent_back["guess"]) >= 30


def test_joint_labels_where_every_class_is_rare():
    names = [f"c{i:02d}" for i in range(12)]
    votes = {"one": names, "two": names[1:] + names[:1]}
    page = agree([f"text {i}" for i in range(12)], votes, checked={0: "c00", 1: "c02"})
    assert all(0 < row.probability <= 1 for row in page.disagreements)
    assert all(row.label in row.said.values() for row in page.disagreements)
    assert page.comparisons[0].found.more > 0


def ratings(n=120, seed=0, spell=str):
    """Texts and ratings of three people, at most one step from the right one, in 1 to 10."""
    rng = np.random.default_rng(seed)
    true = rng.integers(2, 10, n)
    votes = {
        name: list(map(spell, true + rng.integers(-1, 2, n))) for name in ("ann", "ben", "eve")
    }
    return [f"text {i}" for i in range(n)], votes


def test_ordered_labels():
    texts, votes = ratings()
    page, nominal = agree(texts, votes, ordered=True), agree(texts, votes)
    assert page.classes == tuple(map(str, range(1, 11)))
    for pair in page.pairs:
        codes = (list(map(int, votes[name])) for name in (pair.first, pair.second))
        assert pair.kappa.value == pytest.approx(cohen_kappa_score(*codes, weights="quadratic"))
    assert page.alpha.value > 0.8
    assert nominal.alpha.value < 0.5
    assert page.explained[0].endswith("in the order 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.")
    assert nominal.notes == ["The labels are numbers; if they are ratings, give ordered."]
    assert page.notes == []
    assert agree(*ratings(spell=int), ordered=True).pairs == page.pairs


def test_the_order_of_names_is_that_of_the_classes():
    names = ["never", "rarely", "often", "always"]
    texts, votes = ratings(spell=lambda code: names[min(3, max(0, (code - 1) // 2))])
    with pytest.raises(LopsError, match=r"ordered: the label '.*' is no number; give classes in"):
        agree(texts, votes, ordered=True)
    page = agree(texts, votes, classes=names, ordered=True)
    coded = {name: [str(names.index(label)) for label in labels] for name, labels in votes.items()}
    assert page.pairs == agree(texts, coded, ordered=True).pairs
    more = agree(texts, votes, classes=[*names, "unknown"], ordered=True)
    assert more.classes[-1] == "unknown"
    assert more.disagreements == page.disagreements
    assert more.pairs[0].kappa.value == pytest.approx(page.pairs[0].kappa.value)
    turned = agree(texts, votes, classes=["often", "never", "always", "rarely"], ordered=True)
    assert turned.pairs[0].kappa.value < page.pairs[0].kappa.value


def test_a_model_in_the_place_of_a_person():
    texts, _, votes = labelled()
    votes["cy"] = votes["ann"][:200] + votes["ben"][200:]
    people = ["ann", "ben", "cy"]
    page = agree(texts, votes, people=people, alternative=0.15)
    model, guess = page.alternatives
    assert (model.source, model.people, model.wins) == ("model", tuple(people), tuple(people))
    assert model.passes
    assert not guess.passes
    assert guess.advantage < model.advantage <= 1
    assert model.sentence.startswith("model may take a person's place: as close to the others as 3")
    assert guess.sentence.startswith("guess is not shown to replace a person: as close")
    assert page.verdicts == [model.sentence, guess.sentence]
    assert page.to_json()["alternatives"][0]["wins"] == people
    few = agree(texts[:20], {name: said[:20] for name, said in votes.items()}, people=people,
                alternative=0.15)  # fmt: skip
    assert not few.alternatives[0].passes
    assert "no person has 30 rows" in few.alternatives[0].sentence
    assert agree(texts, votes, people=people).alternatives == ()


@pytest.mark.parametrize(
    ("people", "margin", "said"),
    [
        (["ann", "ben"], 0.1, "2 people and 2 other sources; wanted at least 3 and 1"),
        (["ann", "ben", "model", "guess"], 0.1, "4 people and 0 other sources"),
        (["ann", "ben", "model"], 1.0, "wanted a share of rows from 0, below 1"),
    ],
)
def test_what_cannot_take_the_place_of_a_person_is_refused(people, margin, said):
    texts, _, votes = labelled(40)
    with pytest.raises(LopsError, match=said):
        agree(texts, votes, people=people, alternative=margin)
