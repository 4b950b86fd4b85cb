import re
from dataclasses import replace

from lops_adapters.report.comparison_page import write_comparison_page
from lops_adapters.report.contents import ComparisonPage, Curve, MethodRow
from lops_adapters.report.data import best_curve

from .examples import HOSTILE, Reader

METHODS = [
    MethodRow("lops", 900, 0.05, 0.0123, 2.04, "two checkpoints"),
    MethodRow("random", 500, 0.2, None, None, ""),
]
CURVES = [
    Curve("lops", [0.5, 1.0], [0.02, 0.2], 0.0123),
    Curve("random", [0.01, 1.0], [0.2, 0.2], 0.19),
    best_curve(0.2),
]
PAGE = ComparisonPage("Toy", "rows.csv", 1000, 0.2, METHODS, CURVES, {"tau": 0.5}, {"numpy": "2.0"})


def read(folder, made):
    path = write_comparison_page(folder / "report.html", made)
    assert [file.name for file in folder.iterdir()] == ["report.html"]
    text = path.read_text(encoding="utf-8")
    reader = Reader(text)
    assert reader.open == []
    return text, reader


def test_numbers_stand_in_the_page(tmp_path):
    _, reader = read(tmp_path, PAGE)
    assert "2 methods on 1,000 rows, 20.0 % wrong" in reader.text
    assert ["lops", "900", "90 %", "5.0 %", "0.0123", "2.0", "two checkpoints"] in reader.rows
    assert ["random", "500", "50 %", "20.0 %", "-", "-", ""] in reader.rows
    assert ["lops", "-", "-", "2.0 %", "11.0 %", "16.4 %", "20.0 %"] in reader.rows
    assert ["best possible", "0.0 %", "0.0 %", "0.0 %", "0.0 %", "11.1 %", "20.0 %"] in reader.rows
    assert ["tau", "0.5"] in reader.rows


def test_every_curve_has_a_line_and_a_legend(tmp_path):
    text, reader = read(tmp_path, PAGE)
    assert len(reader.attributes("polyline")) == 3
    lines = re.findall(r'class="line (c\d d\d|best)"', text)
    assert {name: lines.count(name) for name in lines} == {
        "c0 d0": 2,
        "c1 d1": 2,
        "best": 2,
    }  # the line and its legend
    assert text.count(": kept</title>") == 2


def test_without_gold_labels(tmp_path):
    methods = [replace(row, noise_after=None, area=None, note="") for row in METHODS]
    _, reader = read(tmp_path, replace(PAGE, noise=None, methods=methods, curves=[]))
    assert "2 methods on 1,000 rows" in reader.text
    assert ["lops", "900", "90 %", "-", "-", "2.0"] in reader.rows
    assert "Noise against coverage" not in reader.text
    assert not re.search(r"\b(None|nan)\b", reader.text)


def test_one_method_alone(tmp_path):
    assert "1 method on 1,000 rows" in read(tmp_path, replace(PAGE, methods=METHODS[:1]))[1].text


def test_hostile_text_is_text(tmp_path):
    methods = [replace(METHODS[0], name=text, note=text) for text in HOSTILE]
    curves = [replace(CURVES[0], name=text) for text in HOSTILE]
    text, reader = read(
        tmp_path,
        replace(
            PAGE,
            title=HOSTILE[1],
            methods=methods,
            curves=curves,
            settings=dict.fromkeys(HOSTILE, HOSTILE),
        ),
    )
    assert not {"script", "img"} & {tag for tag, _ in reader.tags}
    assert "script-src" not in text
    assert HOSTILE[0] in reader.text


def test_nothing_is_asked_of_the_network(tmp_path):
    text, _ = read(tmp_path, PAGE)
    for outside in ("http:", "https:", "src=", "href=", "@import"):
        assert outside not in text
