"""What every selection method promises, over the table of methods: a new one is checked without a
line here.
"""

import numpy as np
import pytest

from lops_adapters.core import RULES, LopsError, tie_hash
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import METHODS, Choice, Lops, build, decide, keep_all
from lops_adapters.selection.canonical import content_order
from lops_adapters.testing import check_method

from ..noisy import noisy_texts
from .stand_in import Told, world

SAMPLES, LABELS, GOLD, TABLE = world()
N = len(SAMPLES)
everything = pytest.mark.parametrize("name", METHODS, indirect=True)
takes_n = pytest.mark.parametrize(
    "name", [name for name, row in METHODS.items() if row.takes_n], indirect=True
)


@pytest.fixture
def name(request):
    """The name of a method; a skip without its library."""
    if request.param == "confident-learning":
        pytest.importorskip("cleanlab")
    return request.param


def selector(name, table=TABLE, gold=GOLD, **settings):
    if METHODS[name].needs_gold:
        settings["gold"] = gold
    return build(name, Told(table) if METHODS[name].needs_probe else None, **settings)


def counts_of(positions, labels=LABELS):
    names, counts = np.unique(np.array(labels)[positions], return_counts=True)
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


@everything
def test_an_outcome_holds_what_the_probe_predicts(name):
    """At no cost: the probe is trained no more often."""
    if METHODS[name].needs_gold:
        return
    choice = Choice(name, None, probe=Told(TABLE) if METHODS[name].needs_probe else "auto")
    found = decide(Labelled.of(SAMPLES, LABELS), choice)
    plain = selector(name)(SAMPLES, LABELS)
    np.testing.assert_array_equal(found.mask, plain.mask)
    np.testing.assert_array_equal(found.confidence, plain.confidence)
    if name == "committee":  # its members know nothing of these samples
        assert (found.suggested >= 0).all()
        return
    if not METHODS[name].needs_probe:
        assert (found.suggested == -1).all()
        assert np.isnan(found.probability).all()
        return
    gold = np.array([int(label[-1]) for label in GOLD])
    assert (found.suggested == gold).mean() > 0.6 > (np.array(LABELS) != np.array(GOLD)).mean()
    assert ((found.probability > 1 / 3) & (found.probability <= 1)).all()


@everything
def test_conformance(name):
    check_method(name, SAMPLES, LABELS, gold=GOLD, probe=lambda: Told(TABLE))


@takes_n
@pytest.mark.parametrize("per_class", [False, True, None])
def test_n_is_kept(name, per_class):
    for n in (1, 2, 17, N - 1, N, N + 1, 10 * N):
        selection = selector(name, n=n, per_class=per_class)(SAMPLES, LABELS)
        assert len(selection.kept) == min(n, N)
        if per_class is False and n < N:
            assert (
                selection.confidence[selection.kept].min()
                >= selection.confidence[selection.rejected].max()
            )


@takes_n
def test_the_same_share_per_class(name):
    for n in (3, 17, 50):
        kept = counts_of(selector(name, n=n, per_class=True)(SAMPLES, LABELS).kept)
        for label in set(LABELS):
            assert abs(kept.get(label, 0) - n * LABELS.count(label) / N) < 1
    if name != "confident-learning":
        kept = counts_of(selector(name, keep=0.3, per_class=True)(SAMPLES, LABELS).kept)
        assert kept == {label: -(-LABELS.count(label) * 3 // 10) for label in set(LABELS)}
        assert len(selector(name, keep=0.3, per_class=False)(SAMPLES, LABELS).kept) == 27
        default = selector(name, keep=0.3)(SAMPLES, LABELS)
        told = selector(name, keep=0.3, per_class=METHODS[name].per_class)(SAMPLES, LABELS)
        np.testing.assert_array_equal(default.kept, told.kept)
    shown = counts_of(selector("probability", n=30, per_class=False)(SAMPLES, LABELS).kept)
    assert shown != counts_of(selector("probability", n=30, per_class=True)(SAMPLES, LABELS).kept)


@everything
def test_gold_labels_change_nothing_but_the_optimum(name):
    if name == "optimal":
        other = selector(name, gold=GOLD[::-1])(SAMPLES, LABELS)
        assert other.kept.tolist() == [i for i in range(N) if LABELS[i] == GOLD[::-1][i]]
        assert selector(name)(SAMPLES, LABELS).kept.tolist() == [
            i for i in range(N) if LABELS[i] == GOLD[i]
        ]
        return
    with pytest.raises(LopsError, match=f"{name} takes no gold labels; only optimal does"):
        build(name, Told(TABLE), gold=GOLD)


@everything
def test_a_class_with_one_sample(name):
    labels = ["rare", *("class 0" if label == "class 2" else label for label in LABELS[1:])]
    columns = {**TABLE, "text 0": np.tile([0.2, 0.2, 0.6], (4, 1))}
    for settings in ({}, {"n": 5}, {"per_class": True}):
        if "n" in settings and not METHODS[name].takes_n:
            continue
        if settings.get("per_class") and METHODS[name].per_class is None:
            continue
        selection = selector(name, columns, gold=labels, **settings)(SAMPLES, labels)
        assert selection.per_class["rare"].count == 1
        assert selection.per_class["rare"].kept == int(0 in selection.kept)
    if name in ("standard", *RULES, "automatic", "optimal"):
        assert 0 in selector(name, columns, gold=labels)(SAMPLES, labels).kept


@takes_n
def test_ties_go_by_hash(name):
    if name == "random":
        pytest.skip("random numbers do not tie")
    samples, labels = [f"text {i}" for i in range(40)], ["a", "b"] * 20
    table = {sample: np.full((3, 2), 0.5) for sample in samples}
    for seed in (0, 5):
        order = content_order(samples, np.arange(40) % 2, seed)
        expected = np.sort(order[np.argsort(tie_hash(np.arange(40), seed))[:11]])
        selection = selector(name, table, n=11, seed=seed, per_class=False)(samples, labels)
        if name == "learning-order":  # an even probability predicts the first class
            assert set(np.array(labels)[selection.kept]) == {"a"}
        elif name in ("mc-dropout", "entropy", "stability"):
            assert len(set(selection.confidence)) <= 2
        else:
            assert len(set(selection.confidence.round(12))) == 1
            np.testing.assert_array_equal(selection.kept, expected)


@everything
def test_a_real_probe(name):
    if name in ("mc-dropout", "entropy"):
        with pytest.raises(
            LopsError,
            match=f"{name} needs a probe with dropout, and this linear probe has none; "
            "take a transformer",
        ):
            build(name, "linear")
        return
    texts, *columns = noisy_texts(n=240, k=3, noise=0.25)
    labels, gold = map(np.array, columns)
    extra = {"gold": gold} if name == "optimal" else {}
    keep = 0.7 if METHODS[name].takes_keep else None
    selection = build(name, LinearProbe(), keep=keep, **extra)(texts, labels)
    if name not in ("standard", "random"):
        assert (labels != gold)[selection.kept].mean() < 0.22 < (labels != gold).mean()
        assert len(selection.kept) > 100


def test_a_rule_is_lops():
    for rule in RULES:
        for every in (None, 2):
            found = build(rule, Told(TABLE), every=every, keep=0.4, seed=2)(SAMPLES, LABELS)
            order = content_order(SAMPLES, np.array([int(label[-1]) for label in LABELS]), seed=2)
            expected = Lops(Told(TABLE), method=rule, every=every, keep=0.4, seed=2)(
                [SAMPLES[i] for i in order], [LABELS[i] for i in order]
            )
            np.testing.assert_array_equal(found.mask[order], expected.mask)
    kept, usual = build("standard")(SAMPLES, LABELS), keep_all(SAMPLES, LABELS)
    assert (kept.mask.all(), kept.per_class) == (True, usual.per_class)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("best", {}, "method is 'best'; wanted one of standard, learning-order, released"),
        ("margin", {"folds": 3}, "margin has no option 'folds'; its options are: none of its own"),
        ("random", {"folds": 3}, "random has no option 'folds'; its options are: none of its own"),
        ("automatic", {"fold": 3}, "automatic has no option 'fold'; its options are: folds"),
        ("o2u-net", {"variant": "mine"}, "variant is 'mine'; wanted one of paper, released"),
        ("entropy", {"variant": "mine"}, "variant is 'mine'; wanted one of paper, released"),
        ("released", {"n": 5}, "released decides how many to keep, and n is 5; leave n out"),
        ("margin", {"n": 0}, "n is 0; wanted a number of samples to keep, at least 1"),
        ("margin", {"keep": 0}, "keep is 0; wanted 'auto', or a fraction above 0"),
        ("margin", {"keep": 1.1}, "keep is 1.1; wanted"),
        ("margin", {"keep": "0.5"}, "keep is '0.5'; wanted 'auto'"),
        ("margin", {"keep": True}, "keep is True"),
        ("committee", {"keep": 0.5}, "committee decides how many to keep, and keep is 0.5"),
        ("committee", {"every": 3}, "committee has no checkpoints, and every is 3"),
        ("margin", {"per_class": "yes"}, "per_class is 'yes'; wanted True, False or None"),
        ("released", {"per_class": True}, "released decides the share of each class itself"),
        (["margin"], {}, r"method is \['margin'\]; wanted one of"),
        ("margin", {"every": 0}, "every is 0; wanted a number of updates"),
        ("random", {"seed": -1}, "seed is -1"),
        ("optimal", {}, "optimal is defined by gold labels; pass gold, one label per sample"),
    ],
)
def test_bad_requests(name, settings, message):
    probe = Told(TABLE)
    with pytest.raises(LopsError, match=message):
        build(name, probe, **settings)
    assert not probe.trained_on


@pytest.mark.parametrize(
    "name", [name for name, row in METHODS.items() if row.needs_probe], indirect=True
)
def test_a_probe_is_needed(name):
    with pytest.raises(LopsError, match=f"{name} needs a probe; pass one, such as probe='linear'"):
        build(name)


@everything
def test_bad_input(name):
    with pytest.raises(LopsError, match=r"found 90 samples and .*89"):
        selector(name)(SAMPLES, LABELS[1:])
    if name != "standard":
        with pytest.raises(LopsError, match="found no pseudo-labels"):
            selector(name, gold=[])([], [])


@pytest.mark.parametrize("name", ["probability", "margin", "learning-order", "stability"])
def test_a_diverged_probe(name):
    table = {**TABLE, "text 3": np.full((4, 3), np.nan)}
    with pytest.raises(
        LopsError,
        match=r"the probe predicts NaN at time 1\.0: its training has diverged; "
        "lower its learning rate",
    ):
        build(name, Told(table))(SAMPLES, LABELS)
    with pytest.raises(LopsError, match="every is 9, and the probe's training has fewer updates"):
        build(name, Told(TABLE), every=9)(SAMPLES, LABELS)
