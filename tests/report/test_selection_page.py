import base64
import hashlib
import itertools
import json
import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from lops_adapters.core import Selection
from lops_adapters.report.charts import histogram, threshold_chart
from lops_adapters.report.selection_page import write_selection_page

from .examples import HOSTILE, Reader, changed, hostile_page, page, selection


def read(folder, made):
    path = write_selection_page(folder / "report.html", made)
    assert path == folder / "report.html"
    assert [file.name for file in folder.iterdir()] == ["report.html"]
    text = path.read_text(encoding="utf-8")
    reader = Reader(text)
    assert reader.open == []
    return text, reader


def data_of(reader):
    return json.loads(reader.raw["script"][0])


def test_numbers_stand_in_the_page(tmp_path):
    _, reader = read(tmp_path, page())
    assert "Kept 32 of 40 rows (80 %)" in reader.text
    assert ["arts", "20", "16", "80 %", "25.0 %", "6.2 %"] in reader.rows
    assert ["0.5", "32", "80 %", "32", "1", "3.1 %"] in reader.rows
    assert ["2", "12", "0"] in reader.rows
    assert ["never", "0", "8"] in reader.rows
    assert ["probe.kind", "linear"] in reader.rows
    assert ["numpy", "2.0"] in reader.rows
    assert "wrong by gold labels22.5 %" in reader.text
    _, reader = read(tmp_path, replace(page(), estimate=[0.25, 0.2, 0.3]))
    assert "8 of 40 labels are probably wrong" in reader.text
    assert "kept rows wrong by gold labels3.1 %" in reader.text
    assert len(data_of(reader)["suspects"]) == 40


def test_a_reason_of_all_classes_is_given_once(tmp_path):
    made = page()
    _, reader = read(tmp_path, made)
    assert reader.text.count("threshold reached") == 1
    assert "Reason in every class: threshold reached." in reader.text
    _, reader = read(tmp_path, changed(made, wrong=["wrong (estimate)", "12.5 %", "-"]))
    assert reader.rows[0][:5] == ["class", "rows", "kept", "share kept", "wrong (estimate)"]
    assert ["arts", "20", "16", "80 %", "12.5 %", "25.0 %", "6.2 %"] in reader.rows
    _, reader = read(
        tmp_path,
        changed(
            made,
            classes=[made.counts.classes[0], replace(made.counts.classes[1], why="kept whole")],
        ),
    )
    assert ["arts", "20", "16", "80 %", "25.0 %", "6.2 %", "threshold reached"] in reader.rows
    assert ["law", "20", "16", "80 %", "20.0 %", "0.0 %", "kept whole"] in reader.rows
    assert "Reason in every class" not in reader.text


def test_without_gold_labels(tmp_path):
    _, reader = read(tmp_path, page(with_gold=False))
    shown = reader.text
    assert "wrong by" not in shown
    assert ["arts", "20", "16", "80 %"] in reader.rows
    assert ["0.5", "32", "80 %"] in reader.rows
    assert not re.search(r"\b(None|nan|null|inf)\b", shown)


def test_what_a_reader_looks_for_comes_first(tmp_path):
    made = page(to_check=[0, 39], estimate=[0.125, 0.04, 0.2], settings={"tau": 0.5})
    _, reader = read(tmp_path, made)
    headings = [tag["id"] for tag in reader.attributes("h2")]
    assert headings == ["check", "classes", "charts", "suspects", "why", "settings"]
    shown = reader.text
    assert shown.index("rows kept") > shown.index("Check rows")
    assert "wrong, estimated (4.0 to 20.0\xa0%; more if errors are shared)12.5 %" in shown
    assert shown.index("12.5 %") < shown.index("Per class")
    _, reader = read(tmp_path, changed(made, n_checked=50))
    assert "wrong, by 50 checked rows (4.0 to 20.0\xa0%)12.5 %" in reader.text


def test_the_suggestion_of_a_rejected_row_is_never_its_label(tmp_path):
    made = page()  # suggested is always law
    _, reader = read(tmp_path, made)
    found = {
        (row["selected"], row["label"], row["suggested"]) for row in data_of(reader)["suspects"]
    }
    assert found == {
        *((True, "arts", "law"), (True, "law", "law")),
        *((False, "arts", "law"), (False, "law", "unsure")),
    }
    assert ["label", "arts", "law", "unsure"] in reader.rows
    assert ["arts", "", "4", ""] in reader.rows
    assert ["law", "", "", "4"] in reader.rows
    unsure = [row for row in made.rows.suspects if row.suggested == "unsure"]
    assert {row.suggested_probability for row in unsure} == {None}


def test_a_class_that_is_named_unsure(tmp_path):
    chosen = selection()
    chosen.per_class["unsure"] = chosen.per_class.pop("law")
    given = ["arts", "unsure"] * 20
    made = page(selection=chosen, labels=given, gold=None, suggested=["unsure"] * 40)
    rejected = [row for row in made.rows.suspects if not row.selected and row.label == "unsure"]
    assert {row.suggested for row in rejected} == {None}


def test_suggestions_of_many_classes_are_a_list(tmp_path):
    classes = [replace(page().counts.classes[0], label=f"class {i}") for i in range(13)]
    pairs = [("class 0", "class 1", 1200), ("class 2", "class 2", 7)]
    _, reader = read(tmp_path, changed(page(), classes=classes, suspects=[], confused=pairs))
    assert ["class 0", "class 1", "1,200"] in reader.rows
    assert ["class 2", "unsure", "7"] in reader.rows
    assert not any(row[-1] == "unsure" for row in reader.rows)  # no matrix


def test_probabilities_are_percentages(tmp_path):
    scores = np.linspace(9.75e-7, 0.99999, 40)
    chosen = replace_scores(selection(), scores, scores > 0.5)
    text, reader = read(tmp_path, page(selection=chosen, is_probability=True))
    shown = [cell for row in reader.rows for cell in row]
    assert "99.99 %" in shown  # of the thresholds: at most the largest confidence
    assert not any(re.search(r"\d[eE]-\d", cell) for cell in shown)
    assert data_of(reader)["probability"] is True
    assert "60 %</text>" in text  # under the axis of thresholds


SCRIPTS = ("corrections.js", "more.js", "check.js", "page.js")


def read_text(name):
    return files("lops_adapters.report").joinpath(name).read_text(encoding="utf-8")


def test_a_method_without_times_or_thresholds(tmp_path):
    chosen = selection()
    chosen.learnt_at[:], chosen.confidence[:] = float("inf"), 0.0
    _, reader = read(
        tmp_path,
        page(selection=chosen, with_gold=False, suggested=None, suggested_probability=None),
    )
    assert not any(attributes.get("id") == "threshold" for attributes in reader.attributes("input"))
    assert data_of(reader)["columns"] == [
        *("row", "text", "label", "confidence", "state", "correction")
    ]
    assert "Confidence" not in reader.text
    assert not [
        attributes for attributes in reader.attributes("svg") if attributes.get("class") == "chart"
    ]


def slider(reader):
    at = next(
        attributes
        for attributes in reader.attributes("input")
        if attributes.get("id") == "threshold"
    )
    return data_of(reader)["thresholds"][int(at["max"]) - int(at["value"])]


def test_the_slider_starts_at_the_selection(tmp_path):
    scores = np.random.default_rng(5).normal(0.5, 0.4, 2000)
    chosen = replace_scores(selection(2000), scores, scores >= 0)
    _, reader = read(tmp_path, page(2000, selection=chosen))
    assert slider(reader)[:2] == [0.0, (scores >= 0).sum()]
    assert "One threshold for all classes. The selection's is 0." in reader.text
    mask = scores >= np.where(np.arange(2000) % 2, 0.2, 0.6)
    _, reader = read(tmp_path, page(2000, selection=replace_scores(chosen, scores, mask)))
    rows = [row[1] for row in data_of(reader)["thresholds"]]
    assert slider(reader)[1] == min(rows, key=lambda n: abs(n - mask.sum()))
    assert f"no single threshold keeps exactly its {mask.sum():,} rows." in reader.text


def replace_scores(chosen, scores, mask):
    nothing = np.full(len(scores), np.inf)
    return Selection(mask, nothing, scores, chosen.per_class, chosen.rule, chosen.stopped)


def test_only_what_is_hashed_may_run(tmp_path):
    text, reader = read(tmp_path, hostile_page())
    policy = next(
        attributes["content"]
        for attributes in reader.attributes("meta")
        if "http-equiv" in attributes
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"

    def hashed(content):
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    assert reader.attributes("script") == [{"type": "application/json", "id": "data"}, {}]
    script, style = reader.raw["script"][1], "".join(reader.raw["style"])
    assert rules["script-src"] == hashed(script)
    assert rules["style-src"] == hashed(style)
    assert script == "".join(map(read_text, SCRIPTS))
    assert text.count("</script") == 2
    assert not any(
        name.startswith("on") or name == "style"
        for _, attributes in reader.tags
        for name in attributes
    )


def test_nothing_is_asked_of_the_network(tmp_path):
    text, reader = read(tmp_path, page())
    assert not {"link", "img", "iframe", "object", "embed", "form", "a", "base"} & {
        tag for tag, _ in reader.tags
    }
    for outside in ("http:", "https:", "src=", "href=", "@import", "//cdn"):
        assert outside not in text
    assert set(re.findall(r"url\([^)]*\)", text)) == {"url(#hatch)"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_writes_text_only(name):
    script = read_text(name)
    writes = "innerHTML outerHTML insertAdjacentHTML document.write"
    runs_or_asks = "eval( Function( fetch( XMLHttp import("
    for dangerous in f"{writes} {runs_or_asks}".split():
        assert dangerous not in script


def test_near_duplicates(tmp_path):
    groups = [np.array([0, 2, 4]), np.array([1, 5]), np.array([3, 6])]  # of 3 and 6: two labels
    made = page(near=groups, numbers=range(11, 51))
    assert [group.rows for group in made.rows.near] == [[14, 17], [11, 13, 15], [12, 16]]
    assert made.rows.near[0].labels == ["law", "arts"]
    _, reader = read(tmp_path, made)
    assert (
        "3 groups of nearly equal texts; groups with several labels first (1). Near" in reader.text
    )
    assert ["14, 17", "law (1), arts (1)", "text number 3 about law"] in reader.rows
    assert ["11, 13, 15", "arts (3)", "text number 0 about arts"] in reader.rows
    assert json.loads(json.dumps(made.to_json())) == made.to_json()
    (tmp_path / "report.html").unlink()
    assert "Near-duplicates" not in read(tmp_path, page())[1].text


def test_many_near_duplicates(tmp_path):
    groups = [np.array([i, i + 200]) for i in range(150)]
    groups[149] = np.concatenate([groups[149], np.arange(2, 40) + 400])
    made = page(600, near=groups)
    assert (len(made.rows.near), made.rows.n_near) == (100, 150)
    assert made.rows.near[0].rows[:2] == [150, 350]  # the labels of this group differ
    _, reader = read(tmp_path, made)
    assert "150 groups of nearly equal texts; groups with several labels first (1), 100 of" in (
        reader.text
    )
    assert any(row[0].endswith(" and 20 more") for row in reader.rows)


def test_hostile_text_is_text(tmp_path):
    _, reader = read(tmp_path, hostile_page())
    allowed = {"script": 2, "img": 0, "style": 1}
    for tag, number in allowed.items():
        assert len(reader.attributes(tag)) == number
    for text in HOSTILE[:6]:
        assert text in reader.text
    assert "control ␀␇␛[31m␡" in reader.text
    assert "\x00" not in reader.text
    stored = {row["text"] for row in data_of(reader)["suspects"]}
    assert HOSTILE[0] in stored
    assert "x" * 1999 + "…" in stored
    raw = reader.raw["script"][0]
    assert not re.search(r"[<>&\u2028\u2029]", raw)
    assert raw.isascii()


def test_rows_count_from_one(tmp_path):
    _, reader = read(tmp_path, page())
    assert "Row 1 is the first row; the header does not count." in reader.text
    _, reader = read(tmp_path, page(ids=[f"row-{i}" for i in range(40)]))
    assert "Rows are shown by id. In the CSV: row 1 is the first row" in reader.text


def test_marked_up_for_every_reader(tmp_path):
    text, reader = read(tmp_path, page())
    tags = [tag for tag, _ in reader.tags]
    assert (
        tags.count("h1") == tags.count("main") == tags.count("header") == tags.count("footer") == 1
    )
    assert '<html lang="en">' in text
    assert all(attributes.get("scope") in ("col", "row") for attributes in reader.attributes("th"))
    assert all(
        "aria-label" in attributes
        for attributes in reader.attributes("svg")
        if attributes.get("role") == "img"
    )
    assert all(
        attributes.get("role") == "img" or attributes.get("aria-hidden") == "true"
        for attributes in reader.attributes("svg")
    )
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["aria-labelledby"] for attributes in reader.attributes("section")} <= set(
        ids
    )
    labelled = {
        attributes["for"] for attributes in reader.attributes("label") if "for" in attributes
    }
    assert labelled == {"threshold"}
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))


def luminance(colour):
    values = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1])
def test_contrast(scheme):
    """WCAG AA: 4.5 for text, 3 for lines, bars and borders of controls, on page and card alike."""
    style = files("lops_adapters.report").joinpath("page.css").read_text(encoding="utf-8")
    colours = dict(
        re.findall(r"--([\w-]+): (#[0-9a-f]{6})", style.split(":root {")[scheme + 1].split("}")[0])
    )
    assert len(colours) == 11
    for ground in ("ground", "card", "shade"):
        below = luminance(colours[ground])
        for name in ("ink", "muted", "kept", "rejected", "noise"):
            assert contrast(luminance(colours[name]), below) >= 4.5, (name, ground)
        for name in ("control", "mark"):
            assert contrast(luminance(colours[name]), below) >= 3, (name, ground)


def contrast(one, other):
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


@pytest.mark.parametrize(
    "bins",
    [
        [(1.0, 3, 0)],
        [(None, 0, 7)],
        [(0.1 * i, i, 1) for i in range(1, 12)] + [(None, 0, 5)],
        [(i**2 / 3, 1, 0) for i in range(1, 12)],
    ],
)
def test_bars_stay_inside(bins):
    drawn = histogram(bins).split("<svg class")[1]
    bars = re.findall(
        r'<rect class="(?:kept|rejected)"[^>]*? x="([\d.-]+)" y="([\d.-]+)"'
        r' width="([\d.-]+)" height="([\d.-]+)"',
        drawn,
    )
    assert len(bars) == sum((kept > 0) + (rejected > 0) for _, kept, rejected in bins)
    for x, y, width, height in (map(float, bar) for bar in bars):
        assert 0 <= x <= x + width <= 480
        assert 0 <= y <= y + height <= 280
        assert width > 0.5


def test_bars_are_as_high_as_their_numbers():
    drawn = histogram([(1.0, 30, 10), (2.0, 0, 20)])
    found = re.findall(r'<rect class="(?:kept|rejected)"[^>]* x=[^>]* height="([\d.]+)"', drawn)
    kept, first, second = map(float, found)
    assert kept == pytest.approx(3 * first, abs=0.3)
    assert second == pytest.approx(2 * first, abs=0.3)


def test_the_marker_goes_where_the_numbers_are():
    drawn, places = threshold_chart([(0.75, 20, 20, 1), (0.5, 32, 32, 1), (-0.25, 40, 40, 9)], 32)
    assert [x for x, _, _ in places] == sorted((x for x, _, _ in places), reverse=True)
    top, bottom = places[2][1], 236.0
    assert places[0][1] == pytest.approx((top + bottom) / 2)
    assert places[2][2] == pytest.approx(bottom - (bottom - top) * 9 / 40, abs=0.1)
    assert 'id="marker-noise"' in drawn
    assert (
        'id="marker-noise"' not in threshold_chart([(0.75, 20, 0, None), (0.5, 40, 0, None)], 20)[0]
    )


def test_the_same_page_every_time(tmp_path):
    first, second = (read(tmp_path, made)[0] for made in (page(), page()))
    assert first == second


def test_numbers_of_rows_are_those_of_the_table(tmp_path):
    numbers = [2 * i + 5 for i in range(40)]
    _, reader = read(tmp_path, page(numbers=numbers))
    found = data_of(reader)["suspects"]
    assert all(row["row"] == numbers[row["position"]] for row in found)
    assert [row["row"] for row in data_of(read(tmp_path, page())[1])["suspects"]] == [
        row["position"] + 1 for row in found
    ]


def test_what_corrections_need(tmp_path):
    table = {"column": "weak <b>", "sha256": "0" * 64, "command": "lops apply 'a <b>.csv'"}
    text, reader = read(tmp_path, page(table=table))
    data = data_of(reader)
    assert data["table"] == table
    assert data["classes"] == [{"label": name, "shown": name} for name in ("arts", "law")]
    assert [data["classes"][row["code"]]["label"] for row in data["suspects"]] == [
        row["label"] for row in data["suspects"]
    ]
    assert {row["suggested_code"] for row in data["suspects"] if row["suggested"] == "law"} == {1}
    assert "lops apply 'a <b>.csv'" in reader.text
    assert "a <b>" not in text
    made = page()
    suspects = [replace(row, suggested="unheard of") for row in made.rows.suspects]
    _, plain = read(tmp_path, changed(made, suspects=suspects))
    assert {row["suggested_code"] for row in data_of(plain)["suspects"]} == {-1}
    assert "lops apply corrections.csv TABLE --output FILE" in plain.text
    assert data_of(plain)["key"] != data["key"]
    assert data_of(read(tmp_path, page(table=table))[1])["key"] == data["key"]
