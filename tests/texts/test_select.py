"""``lops_adapters.select``: what it takes, which method it is, what comes back."""

import inspect
import re
from functools import partial

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline

import lops_adapters
from lops_adapters import LopsError, LopsWarning
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import Outcome, build
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.committee.committee import CANNOT_TELL
from lops_adapters.texts.select import select as texts_select

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts()
select = partial(lops_adapters.select, encoder=None)
WRONG = np.array([label != truth for label, truth in zip(LABELS, GOLD, strict=True)])


def test_it_is_the_packages_select():
    assert lops_adapters.select is texts_select
    assert not {"gold", "truth"} & set(inspect.signature(texts_select).parameters)
    assert dir(lops_adapters) == sorted(lops_adapters.__all__)


@pytest.mark.parametrize(
    ("arguments", "method", "own"),
    [
        ({}, "committee", {"encoder": None, "sure": None}),
        ({"sure": 0.95}, "committee", {"encoder": None, "sure": 0.95}),
        ({"method": "automatic"}, "automatic", {}),
    ],
)
def test_the_default_and_the_automatic_choice(arguments, method, own):
    found = select(TEXTS, LABELS, probe="linear", **arguments)
    expected = build(method, "linear", **own)(TEXTS, LABELS)
    np.testing.assert_array_equal(found.kept, expected.kept)
    np.testing.assert_array_equal(found.confidence, expected.confidence)
    assert (found.rule, found.stopped, found.per_class) == (
        expected.rule,
        expected.stopped,
        expected.per_class,
    )
    assert WRONG[found.rejected].mean() > 0.5 > WRONG.mean() > WRONG[found.kept].mean()


def test_suggestions_of_the_automatic_choice():
    """They are the probe's, which contradict every label that is rejected."""
    found = select(TEXTS, LABELS, probe="linear", method="automatic")
    agree = found.suggested == np.array(LABELS, dtype=object)
    assert 0 < len(found.rejected) <= (~agree).sum()
    assert not agree[found.rejected].any()
    assert WRONG[~agree].mean() > 0.9
    assert (
        found.suggested[found.rejected] == np.array(GOLD, dtype=object)[found.rejected]
    ).mean() > 0.8
    assert (
        (found.suggested_probability >= 0.5) & (found.suggested_probability <= 1)
    ).all()  # the larger of two


def test_suggestions_are_those_of_the_last_snapshot():
    """One training, and no prediction after it."""
    found = select(TEXTS, LABELS, probe="linear", method="probability", keep=0.5)
    probe = LinearProbe()
    codes = np.array([int(label[-1]) for label in LABELS])
    order = content_order(TEXTS, codes, seed=0)
    ordered = [TEXTS[i] for i in order], codes[order]
    *_, shuffled = (snapshot.probabilities for snapshot in probe.watch(*ordered, 2))
    last = np.empty_like(shuffled)
    last[order] = shuffled
    np.testing.assert_array_equal(
        found.suggested, np.array([f"class {code}" for code in last.argmax(axis=1)], dtype=object)
    )
    np.testing.assert_array_equal(found.suggested_probability, last.max(axis=1).astype(float))


@pytest.mark.parametrize("arguments", [{}, {"method": "automatic"}])
def test_per_class_keeps_as_many_and_the_same_share_of_every_class(arguments):
    plain, even = (
        select(TEXTS, LABELS, probe="linear", per_class=per_class, **arguments)
        for per_class in (False, True)
    )
    assert len(plain.kept) == len(even.kept)
    wanted = len(plain.kept) / len(TEXTS)
    for report in even.per_class.values():
        assert abs(report.kept - wanted * report.count) < 1
    assert [report.kept for report in even.per_class.values()] != [
        report.kept for report in plain.per_class.values()
    ]
    np.testing.assert_array_equal(even.confidence, plain.confidence)
    assert even.settings["per_class"]
    assert "the same share of every class" in even.why[1]


def test_a_class_of_which_nothing_is_kept(monkeypatch):
    def two_classes_only(labelled, choice):
        codes, how = labelled.codes, {"rule": "some", "stopped": "said so", "why": "why"}
        return Outcome.of(codes < 2, np.zeros(len(codes)), codes, len(labelled.classes), **how)

    monkeypatch.setattr("lops_adapters.texts.labelled.decide", two_classes_only)
    message = (
        "nothing is kept of 1 of 3 classes: 'class 2' .10.. Check these labels, or use a ranking"
    )
    labels = ["class 2"] * 10 + LABELS[10:]
    automatic = {"method": "automatic"}
    with pytest.warns(LopsWarning, match=message):
        select(TEXTS, labels, probe="linear", **automatic)
    with pytest.raises(LopsError, match=message):
        select(TEXTS, labels, probe="linear", **automatic, strict=True)


def test_a_class_in_which_nothing_is_learnt():
    labels = ["class 2" if i % 30 == 0 else label for i, label in enumerate(LABELS)]
    message = "nothing was learnt in 1 of 3 classes: 'class 2' .4.. Their kept rows are chosen by"
    with pytest.warns(LopsWarning, match=message) as caught:
        found = select(TEXTS, labels, probe="linear", method="learning-order", keep=0.5)
    assert caught[0].filename == __file__
    assert found.per_class["class 2"].kept == 2
    with pytest.raises(LopsError, match=message):
        select(TEXTS, labels, probe="linear", method="learning-order", keep=0.5, strict=True)


def random_labels():
    """Texts, and labels of four classes that say nothing of them."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(50)])
    texts = [" ".join(rng.choice(words, 6)) for _ in range(400)]
    return texts, [f"class {i}" for i in rng.integers(0, 4, 400)]


@pytest.mark.parametrize("choice", [{}, {"per_class": True}, {"method": "automatic"}])
def test_labels_that_say_nothing_of_the_texts_are_all_kept(choice):
    texts, labels = random_labels()
    with pytest.warns(
        LopsWarning,
        match=r"^held-out predictions agree with the 400 labels hardly more than by guessing, so "
        r"all are kept: check that",
    ) as warned:
        found = select(texts, labels, probe="linear", **choice)
    assert len(warned) == 1
    assert found.mask.all()
    assert (found.corrected == np.array(labels, dtype=object)).all()
    assert {report.why for report in found.per_class.values()} == {CANNOT_TELL}
    assert found.corrections() == []
    assert not any("Often confused" in why for why in found.why)
    if "method" not in choice:
        assert found.suggested.tolist() == labels
        assert 0.4 < found.confidence.min() < found.confidence.max() < 0.9
        assert found.noise.low < 0.3 < found.noise.high
    assert found.why[1] == (
        "Kept: all rows, since held-out predictions cannot tell right labels from wrong ones."
    )


# The committee: its probabilities, its estimate of the noise, its members.


def test_labels_that_are_more_probably_wrong_than_right_are_rejected():
    rng = np.random.default_rng(0)
    gold = np.arange(300) % 3
    vectors = rng.normal(size=(300, 6)) + 4 * np.eye(6)[gold]
    for noise in (0.0, 0.2):
        wrong = rng.random(300) < noise
        found = select(None, np.where(wrong, (gold + 1) % 3, gold).tolist(), embeddings=vectors)
        np.testing.assert_array_equal(found.mask, found.confidence >= 0.5)
        assert found.why[1] == "Kept: rows whose label is more probably right than wrong."
        assert found.settings["sure"] is None
        assert wrong[found.rejected].all()
    assert len(found.rejected) > 0.4 * wrong.sum()


def vectors_of(labels):
    """Vectors around a point per class."""
    places = 4 * np.eye(8)[[int(label[-1]) for label in labels]]
    return places + np.random.default_rng(0).normal(size=places.shape)


@pytest.mark.parametrize("noise", [0, 0.15, 0.3])
def test_the_estimate_of_the_noise(noise):
    texts, labels, gold = noisy_texts(n=300, k=3, noise=noise)
    found = select(texts, labels, embeddings=vectors_of(gold))
    true = np.mean([label != truth for label, truth in zip(labels, gold, strict=True)])
    if noise:
        assert found.noise.low <= true <= found.noise.high
    assert abs(found.noise.rate - true) < 0.1
    for code, rate in enumerate(found.noise.of_classes):
        name = f"class {code}"
        own = [truth != name for label, truth in zip(labels, gold, strict=True) if label == name]
        assert abs(rate.value - np.mean(own)) < 0.15
    assert not any("Estimated" in why for why in found.why)
    assert any(why.startswith("Expect more wrong labels than rejected ones") for why in found.why)


def test_who_labelled_moves_the_estimate_of_every_class_alone():
    texts, labels, _ = noisy_texts(n=120, k=3)
    one, other = (select(texts, labels, labelled_by=by) for by in (None, "rules"))
    assert all(other.wrong.shares[c] > share for c, share in one.wrong.shares.items())
    rows = one.per_class
    assert one.wrong.total(rows) == pytest.approx(1 - one.confidence.mean())
    assert other.wrong.total(rows) == pytest.approx(other.noise.rate)


def test_corrections():
    texts, labels, _ = noisy_texts(n=300, k=3, noise=0)
    for i in range(0, 60, 3):
        labels[i] = "class 1"  # of class 0
    for i in (1, 4, 7):
        labels[i] = "class 2"
    found = select(texts, labels)
    pairs = found.corrections()
    assert pairs[0][:2] == ("class 1", "class 0")
    assert pairs[1][:2] == ("class 2", "class 1")
    assert [rows for *_, rows in pairs] == sorted((rows for *_, rows in pairs), reverse=True)
    differs = [i for i in found.rejected if found.suggested[i] != labels[i]]
    assert sum(rows for *_, rows in pairs) == len(differs)
    said = f"Often confused: class 1 -> class 0 ({pairs[0][2]}), "
    assert any(why.startswith(said) for why in found.why)


def test_methods_without_an_estimate():
    found = select(TEXTS, LABELS, method="automatic")
    assert found.noise is None
    assert not any("Expect more wrong labels" in why for why in found.why)
    assert found.corrections()  # the method suggests labels all the same


def test_probabilities_with_an_encoder(tiny):
    encoder = EmbeddingProbe(tiny, max_tokens=16, precision="float32")
    found = lops_adapters.select(TEXTS, LABELS, encoder=encoder)
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()
    assert found.confidence[WRONG].mean() < 0.7
    assert found.confidence[~WRONG].mean() > 0.85
    np.testing.assert_allclose(found.sample_weight, found.confidence)
    assert found.noise.low <= WRONG.mean() <= found.noise.high
    assert found.settings["sure"] is None
    assert WRONG[found.rejected].mean() > 0.8
    names = re.findall(r"[(), ](\w[^,]*?) [\d.]+ %", found.stopped.replace("preferred by", ","))
    assert names == ["TF-IDF", "neighbours (LSA)", "neighbours", "regression"]


def test_a_given_probe_is_the_first_member():
    probe = LinearProbe(epochs=2, learning_rate=0.01)
    found = select(TEXTS, LABELS, probe=probe)
    expected = build("committee", probe, encoder=None)(TEXTS, LABELS)
    np.testing.assert_array_equal(found.confidence, expected.confidence)
    assert found.settings["probe"] == repr(probe)
    assert found.why[0] == "Members: TF-IDF + logistic regression, neighbours by LSA."

    class Other(LinearProbe):
        kind = "of my own"

    said = select(TEXTS, LABELS, probe=Other()).why[0]
    assert said == "Members: of my own, neighbours by LSA."


@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(),
        SGDClassifier(),
        make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression()),
    ],
)
def test_a_scikit_learn_classifier_is_the_first_member(classifier):
    found = select(TEXTS, LABELS, probe=classifier)
    name = type(classifier[-1] if hasattr(classifier, "steps") else classifier).__name__
    assert found.why[0] == f"Members: {name}, neighbours by LSA."
    assert f"labels preferred by {name} " in found.stopped
    assert WRONG[found.rejected].mean() > 0.5 > WRONG.mean() > WRONG[found.kept].mean()
    np.testing.assert_array_equal(found.mask, select(TEXTS, LABELS, probe=classifier).mask)


def test_learning_order_needs_a_classifier_with_checkpoints():
    found = select(
        TEXTS, LABELS, probe=SGDClassifier(loss="log_loss"), method="learning-order", keep=0.5
    )
    assert found.why[0] == "Probe: SGDClassifier."
    assert WRONG[found.kept].mean() < WRONG.mean()
    with pytest.raises(LopsError, match="LogisticRegression has no partial_fit"):
        select(TEXTS, LABELS, probe=LogisticRegression(), method="learning-order", keep=0.5)
    ranked = select(TEXTS, LABELS, probe=LogisticRegression(), keep=0.5, method="margin")
    assert WRONG[ranked.kept].mean() < WRONG.mean()
    with pytest.raises(LopsError, match=r"wanted an object: LogisticRegression\(\)"):
        select(TEXTS, LABELS, probe=LogisticRegression)


def test_an_encoder_and_words(tiny, monkeypatch):
    narrow = partial(EmbeddingProbe, max_tokens=16, precision="float32")
    monkeypatch.setattr("lops_adapters.selection.committee.committee.EmbeddingProbe", narrow)
    words = {f"class {code}": [f"topic{code}word{i}" for i in range(8)] for code in (0, 1)}
    found = lops_adapters.select(TEXTS, LABELS, encoder=tiny)
    helped = lops_adapters.select(TEXTS, LABELS, encoder=tiny, words={**words, "unused": ["x"]})
    own = f"neighbours by LSA, neighbours and logistic regression on {tiny}"
    assert found.why[0].endswith(f", {own}.")
    assert helped.why[0].endswith(f", {own}, class words.")
    assert "class words " in helped.stopped
    assert "class words" not in found.stopped
    assert found.settings["encoder"] == tiny
    own = lops_adapters.select(TEXTS, LABELS, encoder=narrow(tiny))
    assert (own.why, own.settings) == (found.why, found.settings)
    np.testing.assert_array_equal(own.mask, found.mask)
