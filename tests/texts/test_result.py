"""What comes back: a frame, a summary, a page, a plot."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import lops_adapters
from lops_adapters import LopsError
from lops_adapters.core import ClassReport
from lops_adapters.labels.labelled import codes_among
from lops_adapters.texts.class_table import Wrong
from lops_adapters.texts.result import suggested_pairs

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts()
select = partial(lops_adapters.select, encoder=None)
WRONG = np.array([label != truth for label, truth in zip(LABELS, GOLD, strict=True)])


def test_a_frame():
    pytest.importorskip("pandas")
    found = select(TEXTS, LABELS, probe="linear", method="learning-order", keep=0.5)
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


def test_summary_and_reasons():
    found = select([*TEXTS, "alone"], [*LABELS, "single"], probe="linear")
    head, *classes, whole = [line.split() for line in found.summary().splitlines()]
    assert head == ["class", "rows", "kept", "share", "wrong", "(estimate)", "why"]
    expected = [1 - found.confidence[np.array(found.labels) == f"class {k}"] for k in range(2)]
    shares = [float(line[6 if line[0] == "class" else 4]) for line in classes[:2]]
    assert shares == [round(100 * float(part.mean()), 1) for part in expected]
    assert classes[-1][5] == "-"  # too small to be checked
    assert " ".join(classes[-1][6:]) == "too few samples, kept whole"
    assert [int(line[2 if line[0] == "class" else 1]) for line in classes] == [
        report.count for report in found.per_class.values()
    ]
    assert whole[:3] == ["all", "121", str(len(found.kept))]
    said = " ".join(found.why)
    for part in (
        "Members: TF-IDF + logistic regression, neighbours by LSA.",
        "Kept: rows whose label is more probably right than wrong.",
        found.stopped,
        "Next: train on train.csv, the corrected labels with their weights, with balanced classes.",
        "Expect more wrong labels than rejected ones if the labels share errors",
        "Classes with fewer than 10 rows: single (1). Their labels can hardly be checked;",
    ):
        assert part in said


def test_gold_labels_come_after(tmp_path):
    found = select(TEXTS, LABELS, probe="linear")
    page, turned = found.page(GOLD), found.page(GOLD[::-1])
    assert page.counts.n_kept == turned.counts.n_kept == len(found.kept)
    assert page.counts.noise_before == pytest.approx(WRONG.mean())
    assert page.counts.noise_after == pytest.approx(WRONG[found.kept].mean())
    assert found.page().counts.noise_before is None
    assert page.why == found.why
    assert page.settings["method"] == "committee"
    assert page.title == "Rows kept by committee"
    assert page.charts.is_probability
    assert page.wrong[0] == "wrong (estimate)"
    *classes, whole = found.summary().splitlines()[1:]
    shown = [line.split()[-2] for line in classes]
    assert shown == [cell.removesuffix(" %") for cell in page.wrong[1:]]
    share, low, high = (100 * part for part in page.estimate)
    assert whole.endswith(f" {share:.1f} % ({low:.0f}-{high:.0f})")
    assert page.estimate[1] <= page.estimate[0] <= page.estimate[2]
    with pytest.raises(LopsError, match="found 1 gold labels and 120 texts"):
        found.page(["class 0"])
    path = found.report(tmp_path / "page.html", GOLD)
    assert "class 0" in path.read_text(encoding="utf-8")


def test_the_frame_keeps_an_index():
    pandas = pytest.importorskip("pandas")
    index = range(1000, 1000 + len(TEXTS))
    texts, labels = (pandas.Series(column, index=index) for column in (TEXTS, LABELS))
    frame = select(texts, labels, probe="linear").to_frame()
    assert frame.index.tolist() == list(index)
    assert "lops_learnt_at" not in frame


def test_a_polars_column_gives_a_polars_frame():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    given = polars.DataFrame({"text": TEXTS, "label": [None, *LABELS[1:]]})
    frame = select(given["text"], given["label"], probe="linear").to_frame()
    expected = select(TEXTS, [None, *LABELS[1:]], probe="linear")
    assert type(frame) is type(given)
    assert frame.columns == ["text", "label", "lops_confidence", "lops_selected", "lops_suggested"]
    assert frame["lops_selected"].to_list() == expected.mask.tolist()
    assert frame["lops_confidence"].to_list()[0] is None
    assert frame["lops_suggested"].to_list()[1:] == expected.suggested.tolist()[1:]


@pytest.mark.parametrize(
    ("labels", "suggested", "rejected", "expected"),
    [
        ([], [], [], []),
        (["a", "b"], ["a", "b"], [0, 1], []),
        (["a", "b"], ["b", "a"], [], []),
        (["a", "b", "b"], ["b", "a", "a"], [0, 1, 2], [("b", "a", 2), ("a", "b", 1)]),
        (["b", "a"], ["a", "b"], [0, 1], [("a", "b", 1), ("b", "a", 1)]),  # ties by name
        ([2, 10], [10, 2], [0, 1], [(10, 2, 1), (2, 10, 1)]),
    ],
)
def test_corrections(labels, suggested, rejected, expected):
    classes, mask = sorted(set(labels)), np.ones(len(labels), dtype=bool)
    mask[rejected] = False
    columns = {"labels": labels, "suggested": suggested}
    codes = {name: codes_among(given, classes) for name, given in columns.items()}
    outcome = SimpleNamespace(**codes, mask=mask)
    assert suggested_pairs(outcome, classes) == expected


def test_the_range_of_wrong_labels_holds_their_estimate():
    """3 of 10 labels are expected to be wrong, beyond either limit."""
    report = {"a": ClassReport(10, 8, 0, 8, None, "")}
    assert Wrong({"a": 0.3}, limits=(0.1, 0.2)).share(report) == [0.3, 0.1, 0.3]
    assert Wrong({"a": 0.3}, limits=(0.4, 0.5)).share(report) == [0.3, 0.3, 0.5]
    assert Wrong().share(report) == []
