import sys

import pytest

from lops_adapters.core import LopsError
from lops_adapters.report.plots import plot_selection

from .examples import page, selection


def test_bars_and_steps_show_the_page():
    pytest.importorskip("matplotlib")
    figure = plot_selection(page())
    bars, steps = figure.axes
    assert [bar.get_height() for bar in bars.patches] == [20, 12, 0, 0, 0, 8]
    assert [tick.get_text() for tick in bars.get_xticklabels()] == ["1", "2", "never"]
    coverage, noise, kept = steps.lines
    assert coverage.get_xdata().tolist() == [0.75, 0.5, -0.25]
    assert coverage.get_ydata().tolist() == [0.5, 0.8, 1.0]
    assert noise.get_ydata().tolist() == pytest.approx([1 / 20, 1 / 32, 9 / 40])
    assert list(kept.get_ydata()) == [0.8, 0.8]
    assert figure.get_suptitle() == "Kept 32 of 40 rows (80 %)"


def test_it_can_be_written(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "selection.png"
    plot_selection(page()).savefig(path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_without_gold_labels_and_times():
    pytest.importorskip("matplotlib")
    chosen = selection()
    chosen.learnt_at[:] = float("inf")
    figure = plot_selection(page(selection=chosen, with_gold=False))
    assert len(figure.axes) == 1
    assert len(figure.axes[0].lines) == 2


def test_it_stays_out_of_pyplot():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = pyplot.get_fignums()
    plot_selection(page())
    assert pyplot.get_fignums() == before


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        LopsError,
        match=r"A plot needs matplotlib, which cannot be .* pip install 'lops_adapters\[report\]'",
    ):
        plot_selection(page())
