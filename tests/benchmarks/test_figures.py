"""The paper's figures: drawn from result files alone, deterministic, checked by their numbers."""

import json
import re
import sys
from xml.etree import ElementTree

import pytest

from benchmarks import figures, tables
from benchmarks.figures import drawing, model
from benchmarks.pages import common
from lops_adapters.core import LopsError

from .stored import about, write_result

DATA = "20news-fine"


def curves(seed):
    shares = {"correct": [0.8, 0.2, 0.0], "wrong": [0.0, 0.5, 0.5]}
    probability = {"correct": [0.0] * 9 + [1.0], "wrong": [0.4] + [0.0] * 8 + [0.6]}
    curve = {"coverage": [0.5, 1.0], "noise": [0.1 * seed, 0.25], "aunc": 0.05}
    rows = [
        ("all", 1.0, 0.7),
        ("learning-order", 0.5, 0.6 + seed / 10),
        ("probability", 0.5, 0.4),
        ("probability above", 0.9, 0.5),
    ]
    return {
        "pseudo_labels": {"noise": 0.25},
        "epochs": 2,
        "confidences": {"learning-order": curve, "probability": {**curve, "noise": [0.2, 0.25]}},
        "distributions": {"learnt_at": shares, "probability": probability},
        "f1": [{"by": by, "at": at, "macro_f1": score} for by, at, score in rows],
    }


def arms(first, last):
    iterations = [{"macro_f1": first}, {"macro_f1": last}]
    return {
        "arms": {
            "lops": {"macro_f1": last, "iterations": iterations},
            "standard": {"macro_f1": 0.5, "iterations": iterations[:1]},
        }
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two seeds of one data set: curves, self-training, and two tau."""
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")

    def write(name, result, seed, **settings):
        path = tmp_path / "results" / "cpu" / f"{name}-seed{seed}.json"
        write_result(path, result, about(DATA, seed, **settings))

    for seed in (0, 1):
        write(f"curves-linear-{DATA}", curves(seed), seed)
        write(f"self-training-linear-{DATA}", arms(0.4, 0.6 + seed / 10), seed)
        for tau in (0.5, 0.9):
            write(
                f"tau-ranked-linear-{DATA}-tau{tau}",
                arms(0.4, tau - 0.2 + seed / 10),
                seed,
                tau=tau,
                rule="ranked",
            )
    return tmp_path


def lines_of(name):
    figure = figures.FIGURES[name]()
    assert len(figure.panels) == 1
    return {line.label: line for line in figure.panels[0].series}


def test_a_seed_that_failed_or_lacks_a_part_leaves_a_hole(folder):
    path = folder / "results" / "cpu" / f"curves-linear-{DATA}-seed1.json"
    item = json.loads(path.read_text(encoding="utf-8"))
    del item["result"]["confidences"]["probability"]
    item["result"]["f1"] = []
    item["result"]["distributions"]["probability"]["wrong"] = None
    path.write_text(json.dumps(item), encoding="utf-8")
    assert set(lines_of("cpu-linear-figure-3")) == {"learning-order", "best possible"}
    for number in (1, 4, 7, 8, 9):
        caption = figures.caption(f"cpu-linear-figure-{number}")
        assert caption.text == f"Figure {number}, linear: not measured yet."
    for file in (folder / "results" / "cpu").glob("*.json"):
        file.unlink()
    assert figures.caption("cpu-figure-6").text == "Figure 6: not measured yet."
    assert not any(make() for make in figures.FIGURES.values())


@pytest.fixture
def site(folder, monkeypatch):
    monkeypatch.setattr(tables, "ROOT", folder)
    monkeypatch.setattr(tables, "PAGES", ())
    return folder


@pytest.mark.slow
def test_drawings_are_the_same_twice_and_hold_their_numbers(site):
    pytest.importorskip("matplotlib", reason="the extra benchmarks is not installed")
    assert tables.main(check=True) == 1
    assert not (site / "docs").exists()
    assert tables.main() == 0
    drawings = {path: path.read_bytes() for path in (site / "docs" / "figures").iterdir()}
    assert {path.stem for path in drawings} == {
        *(f"cpu-linear-figure-{n}" for n in (3, 4, 7, 8, 9)),
        "cpu-figure-5",
        "cpu-figure-6",
    }
    for path, content in drawings.items():
        assert drawing.drawn(path) == figures.FIGURES[path.stem]().data()
        assert not re.search(rb"<text|20\d\d-\d\d-\d\d|<dc:date", content), (
            "letters are paths, and there is no date"
        )
        assert ElementTree.fromstring(content).tag.endswith("svg")
        path.unlink()
    tables.main()
    assert {path: path.read_bytes() for path in drawings} == drawings


def test_check_compares_numbers_without_matplotlib(site, monkeypatch, capsys):
    pytest.importorskip("matplotlib", reason="the extra benchmarks is not installed")
    tables.main()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert tables.main(check=True) == 0
    path = site / "docs" / "figures" / "cpu-linear-figure-4.svg"
    path.write_text(
        path.read_text(encoding="utf-8").replace("<path", "<path "), encoding="utf-8"
    )  # other pixels, the same numbers
    (site / "docs" / "figures" / "gone.svg").write_text("<svg/>", encoding="utf-8")
    capsys.readouterr()
    assert tables.main(check=True) == 1
    assert capsys.readouterr().out == "out of date: docs/figures/gone.svg\n"
    assert tables.main() == 0
    assert not (site / "docs" / "figures" / "gone.svg").exists()
    for file in (site / "results" / "cpu").glob("curves-*"):
        file.unlink()
    tables.main()
    assert {item.stem for item in (site / "docs" / "figures").iterdir()} == {
        "cpu-figure-5",
        "cpu-figure-6",
    }
    path.write_text("half a drawing", encoding="utf-8")
    assert tables.main(check=True) == 1


def test_drawing_without_matplotlib_says_what_to_install(site, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(LopsError, match=r"pip install 'lops_adapters\[benchmarks\]'"):
        tables.main()


def test_every_look_is_known_and_every_drawing_is_up_to_date():
    assert figures.refresh(tables.ROOT, check=True) == [], "run python -m benchmarks tables"
    used = {
        line.look
        for make in figures.FIGURES.values()
        if (figure := make())
        for panel in figure.panels
        for line in panel.series
    }
    assert used
    assert used <= set(drawing.LOOKS)
    assert model.measured(None) == []
