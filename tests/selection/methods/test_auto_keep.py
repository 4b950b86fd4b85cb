"""``keep="auto"`` and the random control of another selection."""

import math
from fractions import Fraction

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import METHODS, Corrected, Lops, build
from lops_adapters.selection.canonical import as_selector
from lops_adapters.selection.methods.auto_keep import prefer
from lops_adapters.selection.methods.baselines import random_like, relabelled_like

from ...noisy import noisy_texts


@pytest.fixture(scope="module")
def noisy():
    texts, weak, _ = noisy_texts(n=180, k=3, noise=0.2)
    return texts, np.array([f"class {code}" for code in weak], dtype=object)


def held_out(labelled):
    return prefer(labelled, LinearProbe(quiet=True))


def share(selection):
    return len(selection.kept) / len(selection.mask)


def test_the_share_is_what_held_out_probes_agree_with(noisy):
    agreed = share(as_selector(held_out)(*noisy))
    assert 0.5 < agreed < 1
    for name in ("learning-order", "probability", "ranked"):
        found = build(name, LinearProbe(quiet=True), keep="auto")(*noisy)
        assert share(found) == pytest.approx(agreed, abs=3 / 180), name  # rounded up per class
        each = " on average" if name == "ranked" else ""
        assert found.stopped.startswith(f"keep {agreed:.3f}{each} by 3-fold cross-validation")


def test_the_share_of_each_class(noisy):
    """Ranked learning order keeps of each class as many as the probe prefers; others do not."""
    texts, labels = noisy
    labels = labels.copy()
    labels[::5] = "class class 0"
    wanted = as_selector(held_out)(texts, labels).per_class
    found = build("ranked", LinearProbe(quiet=True), keep="auto")(texts, labels)
    assert [r.kept for r in found.per_class.values()] == [r.kept for r in wanted.values()]
    shares = [report.kept / report.count for report in found.per_class.values()]
    assert max(shares) - min(shares) > 0.1


def test_labels_unrelated_to_the_texts_are_all_kept(noisy):
    labels = np.random.default_rng(0).permutation(noisy[1])
    found = build("ranked", LinearProbe(quiet=True), keep="auto")(noisy[0], labels)
    assert found.stopped.startswith("keep 1.000")


def test_a_share_per_class_is_for_ranked_learning_order(noisy):
    keep = {"class class 0": 0.2, "class class 1": 0.4, "class class 2": 1.0}
    found = build("ranked", LinearProbe(quiet=True), keep=keep)(*noisy)
    for label, report in found.per_class.items():
        assert report.kept == math.ceil(Fraction(str(keep[label])) * report.count)
    with pytest.raises(
        LopsError, match="keep is a fraction per class, and only ranked takes it; give one"
    ):
        build("learning-order", LinearProbe(), keep=keep)
    keep.pop("class class 2")
    with pytest.raises(LopsError, match="tau has no fraction for the class 'class class 2'"):
        build("ranked", LinearProbe(), keep=keep)(*noisy)


def test_predictions_are_divided_by_the_shares_of_classes(noisy):
    """Of a class that is applied too often, wrong labels are learnt later."""
    rng = np.random.default_rng(1)
    gold = np.array(noisy_texts(n=180, k=3, noise=0.2)[2])
    labels = np.where(rng.random(180) < 0.4, "class 0", gold)
    wrong = labels != gold
    learnt = {}
    for corrected in (False, True):
        probe = LinearProbe(quiet=True)
        found = Lops(probe, keep=1.0, method="ranked", every=2, corrected=corrected)
        learnt[corrected] = found(noisy[0], labels).learnt_at
    late = {key: (times[wrong].mean() - times[~wrong].mean()) for key, times in learnt.items()}
    assert late[True] > late[False]


def test_too_few_samples_for_cross_validation_are_kept():
    found = build("released", LinearProbe(quiet=True), keep="auto")(["one", "two"], ["x", "y"])
    assert found.kept.tolist() == [0, 1]
    assert found.stopped.startswith("keep 1.000 by too few samples; ")
    three = build("released", LinearProbe(quiet=True), keep="auto")(
        ["one", "two", "six"], list("xyy")
    )
    assert "by 3-fold cross-validation" in three.stopped


def test_a_number_to_keep_goes_before(noisy):
    assert len(build("random", n=7, keep="auto")(*noisy).kept) == 7


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, row in METHODS.items() if not row.takes_keep])
def test_methods_that_decide_by_themselves_take_auto_only(name, noisy):
    if name == "confident-learning":
        pytest.importorskip("cleanlab")
    gold = noisy[1] if METHODS[name].needs_gold else None
    one, other = (
        build(name, LinearProbe(quiet=True), keep=keep, gold=gold)(*noisy)
        for keep in (None, "auto")
    )
    assert one.kept.tolist() == other.kept.tolist()
    with pytest.raises(LopsError, match=f"{name} decides how many to keep, and keep is 0.3"):
        build(name, LinearProbe(quiet=True), keep=0.3, gold=gold)


def test_the_control_keeps_as_many_per_class(noisy):
    other = build("released", LinearProbe(quiet=True), keep=0.5)(*noisy)
    labelled = Labelled.of(*noisy)
    found, again, another = (random_like(other, "lops", labelled, seed).mask for seed in (3, 3, 4))
    assert np.bincount(labelled.codes[found]).tolist() == [
        report.kept for report in other.per_class.values()
    ]
    assert found.tolist() == again.tolist()
    assert found.tolist() not in (other.mask.tolist(), another.tolist())


def test_a_class_too_small_for_the_control_is_kept_whole():
    other = build("standard")(["a"] * 6, ["x"] * 4 + ["y"] * 2)
    found = random_like(other, "lops", Labelled.of(["a"] * 5, ["x"] * 2 + ["z"] * 3))
    assert found.mask[:2].all()  # and two of the other class, for the size
    assert found.mask.sum() == 4


def relabelled(labels, seed=0, n=40):
    """The control of a correction that moves 3 of 20 from x to y, and 1 from y to x."""
    before = np.array(["x"] * 20 + ["y"] * 20, dtype=object)
    after = before.copy()
    after[:3], after[20] = "y", "x"
    other = Corrected(build("standard")(["a"] * 40, before), after, before)
    return relabelled_like(other, "corrected", Labelled.of(range(n), labels), seed)


def test_random_relabelling_changes_as_many_of_each_kind():
    labels = np.array(["x"] * 20 + ["y"] * 20)
    found, again, another = (relabelled(labels, seed) for seed in (3, 3, 4))
    assert found.mask.all()
    moved = [int((found.labels[part] != code).sum()) for part, code in
             ((slice(0, 20), 0), (slice(20, 40), 1))]  # fmt: skip
    assert moved == [3, 1]
    assert found.labels.tolist() == again.labels.tolist() != another.labels.tolist()
    assert found.labels[:3].tolist() != [1, 1, 1]  # other rows than the correction's


def test_random_relabelling_of_a_smaller_class_changes_all_of_it():
    found = relabelled(["x"] * 2 + ["y"] * 3 + ["z"] * 2, n=7)
    assert found.labels.tolist()[:2] == [1, 1]
    assert sorted(found.labels.tolist()[2:5]) == [0, 1, 1]
    assert found.labels.tolist()[5:] == [2, 2]
    assert relabelled(["x"] * 4, n=4).labels.tolist() == [0] * 4  # no sample is of y
