"""What a notebook shows of a selection."""

import importlib.util
import pydoc
import sys
from types import SimpleNamespace

import pytest

from lops_adapters import select
from lops_adapters.console import chance
from lops_adapters.core import LopsError

from ..noisy import noisy_texts
from ..report.examples import Reader

TEXTS, LABELS, GOLD = noisy_texts()


def shown(selection):
    """What a notebook shows, and its two tables: classes and all of them, rows."""
    page = selection._repr_html_()
    reader, of_classes = Reader(page), len(selection.per_class) + 2
    assert not reader.open
    return page, (reader.rows[:of_classes], reader.rows[of_classes:])


@pytest.fixture(scope="module")
def selection():
    return select(TEXTS, LABELS, encoder=None)


def test_counts_estimate_and_ten_rows_to_check(selection):
    page, (classes, rows) = shown(selection)
    assert f"Kept {len(selection.kept)} of {len(TEXTS)} rows (" in page
    assert classes[0][-1] == "wrong (estimate)"
    assert [row[:3] for row in classes[1:-1]] == [
        [label, str(report.count), str(report.kept)]
        for label, report in selection.per_class.items()
    ]
    share = selection.wrong.total(selection.per_class)
    assert f"Wrong labels, estimated: {100 * share:.1f} %" in page
    assert [int(row[0]) for row in rows[1:]] == selection.to_check(10).tolist()
    for number, text, label, suggested, right in rows[1:]:
        i = int(number)
        assert (text, label, suggested) == (TEXTS[i], LABELS[i], selection.shown_suggestion(i))
        assert right == chance(selection.confidence[i])


@pytest.fixture(scope="module")
def with_checks(selection):
    checked = {i: GOLD[i] for i in selection.to_check(40).tolist()}
    return select(TEXTS, LABELS, encoder=None, checked=checked)


def test_checked_rows_give_the_measured_share(with_checks):
    page, (classes, _) = shown(with_checks)
    rate = with_checks.checked_rate
    assert f"Wrong labels by 40 checked rows: {100 * rate.value:.1f} % (" in page
    assert classes[0][-1] == "wrong (checked)"


@pytest.mark.parametrize("method", ["automatic", "learning-order"])
def test_other_methods_show_their_least_trusted_rows(method):
    selection = select(TEXTS, LABELS, method=method)
    page, (classes, rows) = shown(selection)
    assert "estimate" not in page
    assert classes[0][:4] == ["class", "rows", "kept", "share"]
    confidence = [selection.confidence[int(row[0])] for row in rows[1:]]
    assert confidence == sorted(selection.confidence[selection.rejected].tolist())[:10]


def test_texts_and_labels_are_escaped_and_cut():
    texts = [f"<b>{text}</b> " + "long " * 100 for text in TEXTS]
    page, (classes, rows) = shown(select(texts, [f"<i>{label}" for label in LABELS]))
    assert "<b>" not in page
    assert "<i>" not in page
    assert classes[1][0].startswith("<i>")
    assert all(len(row[1]) == 160 for row in rows[1:])


def test_it_is_one_line_and_shows_public_names(selection):
    kept, n = len(selection.kept), len(TEXTS)
    share = 100 * selection.wrong.total(selection.per_class)
    assert repr(selection) == (
        f"TextSelection(kept {kept} of {n} rows ({100 * kept / n:.1f} %); wrong labels, estimated: "
        f"{share:.1f} %; more if errors are shared; method committee)"
    )
    assert not [name for name in dir(selection) if name.startswith("_")]
    assert {"kept", "plot", "suggested", "to_check"} <= {*dir(selection)}
    assert "<function" not in pydoc.render_doc(select)


def test_texts_are_aligned_to_the_left(selection):
    page, _ = shown(selection)
    assert page.count('<th style="text-align: left">') == 4  # class; text, label, suggested
    assert f'<td style="text-align: left">{LABELS[0]}</td>' in page


@pytest.mark.parametrize("how", ["estimate", "checked"])
def test_three_charts(how, selection, with_checks):
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    pyplot.switch_backend("agg")
    drawn = with_checks if how == "checked" else selection
    rows, confidence, suggested = drawn.plot()
    widths = [bar.get_width() for bar in rows.patches]
    k = len(drawn.per_class)
    assert sorted(widths[:k]) == sorted(report.kept for report in drawn.per_class.values())
    assert sum(widths) == len(TEXTS)
    assert f"wrong ({how})" in [text.get_text() for text in rows.get_legend().get_texts()]
    assert confidence.get_xlabel() == "confidence"
    pairs = sum(count for _, _, count in drawn.corrections())
    assert suggested.images[0].get_array().sum() == pairs
    pyplot.close("all")


class Widget:
    """What ``ipywidgets`` does where it is not installed: children, and values that are watched."""

    def __init__(self, children=(), options=(), value=None):
        self.children, self.options, self._value, self._watching = children, options, value, []

    def observe(self, watching, names):
        assert names == "value"
        self._watching.append(watching)

    value = property(lambda self: self._value)

    @value.setter
    def value(self, new):
        self._value = new
        for watching in self._watching:
            watching({"new": new})


def test_rows_are_checked_in_a_box(monkeypatch):
    if importlib.util.find_spec("ipywidgets") is None:
        stub = SimpleNamespace(VBox=Widget, Dropdown=Widget, HTML=lambda text: Widget(value=text))
        monkeypatch.setitem(sys.modules, "ipywidgets", stub)
    texts, labels, gold = noisy_texts(n=90)
    texts[0] = f"<b> {texts[0]}"
    selection = select(texts, labels, encoder=None, checked={0: gold[0]})
    box, rows = selection.check_box(4), selection.to_check(4).tolist()
    first, second, third, _ = (row.children[1] for row in box.children)
    shown = [label for label, _ in first.options]
    assert shown == ["not checked", "class 0", "class 1", "none of the classes"]
    assert [row.children[0].value.partition(",")[0] for row in box.children] == [
        f"<b>{row}" for row in rows
    ]
    for choice, value in ((first, 1), (second, -1), (third, 0), (third, "not checked")):
        choice.value = value
    assert box.checked == {0: gold[0], rows[0]: "class 1", rows[1]: None}
    again = select(texts, labels, encoder=None, checked=box.checked)
    assert set(rows[:2]).isdisjoint(again.to_check(90))


def test_a_box_needs_ipywidgets(selection, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(LopsError, match="Checking in a notebook needs ipywidgets"):
        selection.check_box()
