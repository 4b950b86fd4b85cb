import json

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.report.data import selection_page
from lops_adapters.report.measure import learnt_bins, least_trusted, own_threshold, threshold_rows
from lops_adapters.selection import keep_all

from .examples import HOSTILE, changed, gold, hostile_page, labels, page, selection, texts


def test_numbers_of_a_selection():
    made = page()
    assert (made.counts.n_rows, made.counts.n_kept) == (40, 32)
    assert made.charts.learnt == [(1.0, 20, 0), (2.0, 12, 0), (None, 0, 8)]
    assert made.charts.thresholds == [(0.75, 20, 20, 1), (0.5, 32, 32, 1), (-0.25, 40, 40, 9)]
    assert made.counts.noise_before == 9 / 40
    assert made.counts.noise_after == 1 / 32
    assert [
        (row.label, row.count, row.kept, row.noise_before, row.noise_after)
        for row in made.counts.classes
    ] == [("arts", 20, 16, 5 / 20, 1 / 16), ("law", 20, 16, 4 / 20, 0.0)]
    assert made.why == [
        "Method: released.",
        "Training: every class reached its threshold within 2 checkpoints.",
    ]


def test_without_gold_labels_no_noise():
    made = page(with_gold=False)
    assert made.counts.noise_before is made.counts.noise_after is None
    assert made.counts.n_gold == made.counts.n_gold_kept == 0
    assert all(not with_gold and wrong is None for _, _, with_gold, wrong in made.charts.thresholds)
    assert all(row.noise_before is row.noise_after is None for row in made.counts.classes)
    assert all(row.gold is None for row in made.rows.suspects)


def test_some_gold_labels_measure_as_if_there_were_no_other_rows():
    with_gold = [i % 3 > 0 for i in range(40)]
    some = [
        label if known else [None, float("nan"), ""][i // 3 % 3]
        for i, (label, known) in enumerate(zip(gold(), with_gold, strict=True))
    ]
    made, chosen = page(gold=some), selection()
    at = np.flatnonzero(with_gold)
    wrong = np.array([gold()[i] != labels()[i] for i in at])
    assert (made.counts.n_gold, made.counts.n_gold_kept) == (26, int(chosen.mask[at].sum()))
    assert made.counts.noise_before == pytest.approx(wrong.mean())
    assert made.counts.noise_after == pytest.approx(wrong[chosen.mask[at]].mean())
    arts = np.array([labels()[i] == "arts" for i in at])
    assert made.counts.classes[0].noise_before == pytest.approx(wrong[arts].mean())
    assert made.charts.thresholds[-1][1:] == (40, 26, wrong.sum())
    assert [rows for _, rows, _, _ in made.charts.thresholds] == [
        rows for _, rows, _, _ in page().charts.thresholds
    ]
    assert {row.gold for row in made.rows.suspects} == {None, *gold()}


def test_every_way_to_have_no_gold_label():
    pandas = pytest.importorskip("pandas")
    some = [pandas.NA, None, float("nan"), "", " ", *gold()[5:]]
    made = page(gold=pandas.Series(some, dtype=object))
    assert made.counts.n_gold == 35
    assert made == page(gold=[None] * 5 + gold()[5:])


def test_the_least_trusted_rows_come_first():
    made = page(suspects_per_class=5)
    assert len(made.rows.suspects) == 10
    assert sorted(row.position for row in made.rows.suspects[:8]) == list(range(32, 40))
    assert all(
        not row.selected and row.learnt_at is None and row.confidence == -0.25
        for row in made.rows.suspects[:8]
    )
    # ties: the rows first for which the probe is surest of another class
    assert [row.position for row in made.rows.suspects[:4]] == [38, 36, 34, 32]
    assert {row.label for row in made.rows.suspects[:4]} == {"arts"}
    first = made.rows.suspects[0]
    assert (first.text, first.suggested, first.gold, first.id) == (
        "text number 38 about arts",
        "law",
        "law",
        None,
    )
    assert first.suggested_probability == pytest.approx(0.5 + 0.4 * 38 / 39)


def test_suspects_of_each_class_and_in_all():
    rng = np.random.default_rng(0)
    confidence, codes = rng.random(500), rng.integers(0, 7, 500)
    at = least_trusted(confidence, codes, np.zeros(500, bool), np.zeros(500), 4, 1000)
    assert np.bincount(codes[at]).tolist() == [4] * 7
    assert (np.diff(confidence[at]) >= 0).all()
    for code in range(7):
        assert set(at[codes[at] == code]) == set(
            np.flatnonzero(codes == code)[np.argsort(confidence[codes == code])[:4]]
        )
    capped = least_trusted(confidence, codes, np.zeros(500, bool), np.zeros(500), 100, 14)
    assert np.bincount(codes[capped]).tolist() == [2] * 7
    assert len(least_trusted(confidence, codes, np.zeros(500, bool), np.zeros(500), 100, 3)) == 3
    assert len(least_trusted(confidence, codes, np.zeros(500, bool), np.zeros(500), 100, 0)) == 0


def test_long_texts_are_cut(monkeypatch):
    monkeypatch.setattr("lops_adapters.report.data.LONGEST", 10)
    made = page(texts=["y" * 50] * 40)
    assert {row.text for row in made.rows.suspects} == {"y" * 9 + "…"}


def test_columns_of_any_kind():
    pandas = pytest.importorskip("pandas")
    made = page(
        labels=np.array(labels()),
        gold=pandas.Series(gold()),
        suggested=np.array(["law"] * 40),
        ids=np.arange(100, 140),
    )
    plain = page(ids=[str(i) for i in range(100, 140)])
    assert made == plain
    shuffled = pandas.Series(labels(), index=range(40, 80))
    assert page(labels=shuffled, texts=pandas.Series(texts(), index=range(40, 80))) == page()
    holes = page(suggested=[None, float("nan")] * 20, suggested_probability=[np.nan] * 40)
    assert {(row.suggested, row.suggested_probability) for row in holes.rows.suspects} == {
        (None, None)
    }


def test_numbers_as_labels():
    given = [0, 1, 0, 1]
    chosen = keep_all(["a"] * 4, given)
    made = selection_page(chosen, ["a"] * 4, given, title="t", source="s", gold=[0, 1, 1, 2])
    assert [row.label for row in made.counts.classes] == ["0", "1"]
    assert made.counts.noise_before == 0.5
    assert made.charts.learnt == []
    assert made.charts.thresholds == [(0.0, 4, 4, 2)]


def test_survives_json():
    for made in (page(to_check=np.array([0, 39])), page(with_gold=False), hostile_page()):
        stored = json.loads(json.dumps(made.to_json(), allow_nan=False))
        assert stored == made.to_json()
        json.dumps(stored, ensure_ascii=False).encode("utf-8")
    assert changed(page(), settings={"tau": np.float64(0.5)}).to_json()["settings"] == {"tau": 0.5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["arts"] * 39 + ["war"]}, "label 'war' at position 39 is no class"),
        ({"gold": [None] * 40}, "all 40 gold labels are missing; give some"),
        ({"gold": [0] * 40}, "pass all as class names or all as class numbers"),
    ],
)
def test_what_does_not_fit(change, message):
    with pytest.raises(LopsError, match=message):
        page(**change)


def test_confidences_that_are_no_numbers():
    chosen = selection()
    chosen.confidence = chosen.confidence.copy()
    chosen.confidence[3] = np.nan
    with pytest.raises(LopsError, match="the confidence of row 3 is NaN"):
        page(selection=chosen)
    chosen.confidence[3] = -np.inf
    assert page(selection=chosen).charts.thresholds[-1][0] == -0.25


def test_thresholds_count_as_one_would():
    rng = np.random.default_rng(1)
    for values in (
        rng.random(1000),
        rng.integers(0, 5, 1000) / 5,
        np.zeros(3),
        rng.integers(0, 300, 1000) ** 2 / 7,
    ):
        with_gold = rng.random(len(values)) < 0.8
        wrong = with_gold & (rng.random(len(values)) < 0.3)
        rows = threshold_rows(values, with_gold, wrong, size=50)
        assert len(rows) <= 50
        assert len(rows) == min(50, len(np.unique(values))) or len(np.unique(values)) > 50
        for value, n, known, errors in rows:
            assert (n, known, errors) == tuple(
                of[values >= value].sum() for of in (np.ones(len(values)), with_gold, wrong)
            )
        assert [row[0] for row in rows] == sorted({row[0] for row in rows}, reverse=True)
        assert rows[0][0] == values.max()
        assert rows[-1][:2] == (values.min(), len(values))
        assert [row[:2] for row in threshold_rows(values, with_gold, None, size=50)] == [
            row[:2] for row in rows
        ]


def test_the_own_threshold_is_among_the_thinned_ones():
    rng = np.random.default_rng(4)
    values = rng.normal(0.5, 0.4, 2000)
    kept, nobody = values >= 0, np.zeros(2000, dtype=bool)
    assert 0.0 not in [row[0] for row in threshold_rows(values, nobody, None)]
    assert own_threshold(values, kept, timed=False) == 0.0
    lowest = own_threshold(values, kept, timed=True)
    assert lowest == values[kept].min()
    for own in (0.0, lowest):
        rows = threshold_rows(values, nobody, None, own)
        assert len(rows) <= 200
        assert (own, kept.sum(), 0, None) in rows
        assert rows[0][0] == values.max()
        assert rows[-1][:2] == (values.min(), 2000)


def test_no_own_threshold_where_classes_are_cut_apart():
    scores = np.array([0.9, 0.5, 0.4, 0.1])
    assert own_threshold(scores, np.array([True, False, True, False]), timed=False) is None
    assert own_threshold(np.full(4, 0.5), np.array([True, False, True, True]), timed=False) is None
    assert own_threshold(scores, np.zeros(4, dtype=bool), timed=False) is None
    assert own_threshold(scores, np.ones(4, dtype=bool), timed=False) == 0.1
    assert page().charts.own_threshold == 0.5


def test_many_times_of_learning_become_bins():
    rng = np.random.default_rng(2)
    learnt_at = np.where(rng.random(5000) < 0.1, np.inf, rng.random(5000) * 4)
    mask = rng.random(5000) < 0.5
    bins = learnt_bins(learnt_at, mask)
    assert len(bins) == 12
    assert bins[-1] == (
        None,
        (mask & np.isinf(learnt_at)).sum(),
        (~mask & np.isinf(learnt_at)).sum(),
    )
    low = -1.0
    for time, kept, rejected in bins[:-1]:
        inside = (learnt_at > low) & (learnt_at <= time)
        assert (kept, rejected) == ((mask & inside).sum(), (~mask & inside).sum())
        low = time


def test_lone_surrogates_are_replaced():
    assert "lone � surrogate �" in json.dumps(hostile_page().to_json(), ensure_ascii=False)
    joined = page(texts=["\ud83d\ude00"] * 40).rows.suspects[0].text
    assert joined == "😀"
    assert changed(page(), title=HOSTILE[10]).to_json()["title"] == "lone � surrogate �"
