"""The pages in a real browser, from disk: what they do, what they never do, and how they fit."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.evaluation.agreement import Interval
from lops_adapters.report.agreement import AgreementPage, Pair
from lops_adapters.report.agreement_page import write_agreement_page
from lops_adapters.report.framework_page import write_report
from lops_adapters.report.selection_page import write_selection_page

from .examples import HOSTILE, changed, gold, hostile_page, labels, page, selection
from .test_framework_page import contents

pytestmark = pytest.mark.slow


def rows(tab):
    return tab.locator("#rows tbody tr")


def downloaded(tab):
    with tab.expect_download() as download:
        tab.click("#download")
    text = Path(download.value.path()).read_bytes().decode("utf-8")
    assert download.value.suggested_filename == "suspicious_rows.csv"
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def test_the_slider_changes_the_numbers(show):
    tab = show(page())

    def says():
        return tab.locator("#threshold-says").inner_text().replace("\xa0", " ")

    assert says().split("\n") == [
        "32 of 40 rows (80.0 %)",
        "have a confidence of at least 0.5; 1 of these wrong (3.1 %).",
    ]
    place = tab.locator("#marker-share").get_attribute("cx")
    tab.focus("#threshold")
    tab.keyboard.press("ArrowRight")
    assert "20 of 40 rows (50.0 %)" in says()
    assert "at least 0.75; 1 of these wrong (5.0 %)" in says()
    assert float(tab.locator("#marker-share").get_attribute("cx")) > float(place)
    tab.keyboard.press("Home")
    assert "40 of 40 rows (100.0 %)" in says()
    assert "9 of these wrong (22.5 %)" in says()
    assert tab.locator("#threshold").get_attribute("aria-valuetext") == "at least -0.25: 40 rows"
    line, dot = (tab.locator(f"#marker-{name}").bounding_box() for name in ("line", "share"))
    assert line["x"] + line["width"] / 2 == pytest.approx(dot["x"] + dot["width"] / 2, abs=1)


def test_a_probability_is_never_in_scientific_notation(show):
    chosen = selection()
    chosen.learnt_at[:] = np.inf
    chosen.confidence[:] = np.where(chosen.mask, 0.99996, 9.75e-7)
    tab = show(page(selection=chosen, is_probability=True, to_check=[39, 38]))
    assert "at least 99.99\xa0%" in tab.locator("#threshold-says").inner_text()
    tab.check("#check-suggestions")
    assert "unsure" in tab.locator("#check-label").inner_text()  # labelled law, as suggested
    last = rows(tab).filter(has_text="text number 39")
    assert [cell.strip() for cell in last.locator("td").all_inner_texts()[1:4]] == [
        *("law\ngold: arts", "unsure", "< 0.1\xa0%")
    ]
    assert last.locator("button", has_text="accept").count() == 0
    assert rows(tab).filter(has_text="text number 38").locator("button", has_text="accept").count()


def test_a_matrix_of_ten_classes_fits(show):
    made = page()
    names = [f"{kind}-destination" for kind in "abcdefghij"]
    pairs = [(name, other, 1234) for name in names for other in names]
    classes = [replace(made.counts.classes[0], label=name) for name in names]
    tab = show(changed(made, suspects=[], classes=classes, confused=pairs))
    matrix = tab.locator(".matrix .wide")
    assert matrix.locator("thead th").all_inner_texts() == ["label", *names, "unsure"]
    assert matrix.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_the_slider_without_gold_labels(show):
    tab = show(page(with_gold=False))
    assert tab.locator("#threshold-says").inner_text().replace("\xa0", " ").split("\n") == [
        "32 of 40 rows (80.0 %)",
        "have a confidence of at least 0.5.",
    ]
    assert "wrong by" not in tab.locator("body").inner_text()


def test_the_slider_with_some_gold_labels(show):
    tab = show(page(gold=[label if i < 10 else None for i, label in enumerate(gold())]))
    tab.focus("#threshold")
    tab.keyboard.press("Home")
    said = tab.locator("#threshold-says").inner_text().replace("\xa0", " ")
    wrong = sum(given != label for given, label in zip(gold()[:10], labels()[:10], strict=True))
    assert f"{wrong} of the 10 with a gold label wrong ({10 * wrong:.1f} %)" in said
    assert "wrong among the 10 with a gold label" in tab.locator("body").inner_text()
    assert "gold: null" not in tab.locator("body").inner_text()


def test_search_and_filters(show):
    tab = show(page(suspects_per_class=20))
    assert rows(tab).count() == 40
    tab.fill("#search", "NUMBER 3")
    assert tab.locator("#rows-status").inner_text() == "1 to 13 of 13 rows"
    tab.select_option("#label", label="law")
    assert rows(tab).count() == 8
    tab.select_option("#state", "kept")
    assert [row.split()[0] for row in rows(tab).all_inner_texts()] == ["32", "24", "14", "4"]
    tab.fill("#search", "number 3 arts")
    assert tab.locator("#rows-status").inner_text() == "No matching rows."
    assert tab.locator("#download").is_disabled()
    tab.fill("#search", "")
    tab.select_option("#label", label="all")
    tab.select_option("#state", "rejected")
    assert rows(tab).count() == 8
    tab.select_option("#order", "position")
    assert rows(tab).first.inner_text().startswith("33")
    tab.select_option("#order", "probe")
    assert rows(tab).first.inner_text().startswith("39")


def test_pages_of_fifty(show):
    tab = show(page(400, suspects_per_class=60))
    assert rows(tab).count() == 50
    assert tab.locator("#previous").is_disabled()
    tab.focus("#next")
    tab.keyboard.press("Enter")
    tab.click("#next")
    assert tab.locator("#rows-status").inner_text() == "101 to 120 of 120 rows"
    assert rows(tab).count() == 20
    assert tab.locator("#next").is_disabled()
    tab.click("#previous")
    assert tab.locator("#rows-status").inner_text() == "51 to 100 of 120 rows"


def test_pages_of_ten_on_a_phone(show):
    tab = show(page(400, suspects_per_class=60), viewport={"width": 390, "height": 800})
    assert rows(tab).count() == 10
    for _ in range(6):
        tab.click("#next")
    assert tab.locator("#rows-status").inner_text() == "61 to 70 of 120 rows"
    tab.set_viewport_size({"width": 1200, "height": 900})
    tab.wait_for_function(
        "document.getElementById('rows-status').textContent === '51 to 100 of 120 rows'"
    )
    assert rows(tab).count() == 50


def test_the_download_holds_the_rows_shown(show):
    tab = show(page(ids=[f"id-{i}" for i in range(40)]))
    tab.select_option("#state", "rejected")
    tab.select_option("#label", label="arts")
    tab.select_option("#order", "position")
    found = downloaded(tab)
    assert [row["id"] for row in found] == ["id-32", "id-34", "id-36", "id-38"]
    assert found[0] == {
        "row": "33", "id": "id-32", "label": "arts", "suggested": "law",
        "suggested_probability": found[0]["suggested_probability"], "confidence": "-0.25",
        "learnt_at": "", "selected": "false", "gold": "law", "text": "text number 32 about arts",
    }  # fmt: skip
    assert float(found[0]["suggested_probability"]) == 0.5 + 0.4 * 32 / 39


def test_no_cell_of_the_download_is_a_formula(show):
    bad = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        " =1",
        "\r=1",
        '="a"",""b"',
        "＝1",
        "\n-1",
        "plain",
        'quoted "text", with\nlines',
    ]
    tab = show(
        page(24, texts=[bad[i // 2] for i in range(24)], ids=[bad[i // 2] for i in range(24)])
    )
    tab.select_option("#order", "position")
    found = downloaded(tab)
    assert [row["text"] for row in found[::2]] == ["'" + text for text in bad[:10]] + bad[10:]
    assert [row["id"] for row in found] == [row["text"] for row in found]
    assert {row["confidence"] for row in found} == {"0.75", "0.5", "-0.25"}  # numbers stay numbers


def test_hostile_text_runs_nothing(show):
    tab = show(hostile_page())
    for _ in range(2):  # the second time with everything unfolded
        assert tab.evaluate("window.ran") is None
        for button in tab.locator("button.more").all():
            button.click()
        for more in tab.locator("summary").all():
            more.click()
    assert tab.locator("main img, main script, main iframe").count() == 0
    shown = tab.locator("#rows").inner_text()
    for text in HOSTILE[:6]:
        assert text in shown
    assert "control ␀␇␛[31m␡" in shown
    assert tab.evaluate("document.querySelectorAll('#rows bdi[dir=auto]').length") >= 60
    assert (
        tab.evaluate("getComputedStyle(document.querySelector('#rows bdi')).unicodeBidi")
        == "isolate"
    )
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_scripts_that_are_not_ours_do_not_run(show, tmp_path, browser):
    """The policy is the second wall: even where text got through unescaped."""
    path = write_selection_page(tmp_path / "broken.html", page())
    text = path.read_text(encoding="utf-8").replace(
        "<main>", "<main><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
    )
    path.write_text(text, encoding="utf-8")
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(path.as_uri())
    assert tab.locator("#rows tbody tr").count() == 40
    assert tab.evaluate("window.ran") is None
    context.close()


def test_long_text_unfolds(show):
    tab = show(page(10, texts=["👩" * 200 + "end"] * 10))
    row = rows(tab).first
    assert "end" not in row.inner_text()
    assert "\ufffd" not in row.inner_text()
    button = row.locator("button.more")
    assert button.get_attribute("aria-expanded") == "false"
    button.focus()
    tab.keyboard.press("Enter")
    assert "end" in row.inner_text()
    assert (button.inner_text(), button.get_attribute("aria-expanded")) == ("less", "true")
    tab.keyboard.press("Enter")
    assert "end" not in row.inner_text()


def test_a_phone_does_not_scroll_sideways(show):
    tab = show(page(source="s" * 300), viewport={"width": 390, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    for more in tab.locator("summary").all():
        more.click()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_a_phone_breaks_no_word_of_the_headings(show):
    wrong = ["wrong (estimate)", "3.1 %", "5.0 %"]
    tab = show(changed(page(), wrong=wrong), viewport={"width": 390, "height": 800})
    broken = """(headings) => headings.flatMap((heading) => {
      const words = [...heading.textContent.matchAll(/\\S+/g)];
      return words.map((word) => {
        const range = document.createRange();
        range.setStart(heading.firstChild, word.index);
        range.setEnd(heading.firstChild, word.index + word[0].length);
        return range.getClientRects().length;
      });
    })"""
    assert tab.locator("#classes ~ .wide thead th").count() == 7
    headings = tab.locator("#classes ~ .wide thead th:not(.words)")
    assert headings.evaluate_all(broken) == [1] * 10


def test_on_a_phone_an_interval_of_agreement_is_shown_whole(show):
    kappa = Interval(0.96, 0.94, 0.97, 12_000)
    pair = Pair("annotator one", "joint labels", 0.968, kappa, (kappa, kappa))
    made = AgreementPage(
        rows=12_000, classes=("law", "arts"), sources=("annotator one", "b"), votes=(9, 9),
        ordered=False, problems=(), notes=(), checked=0, alpha=kappa, pairs=(), truth="",
        with_truth=(pair,), confusions=(), comparisons=(), margin=0.05, disagreements=(),
        sent_back={}, to_check=(),
    )  # fmt: skip

    def write(path, made):
        return write_agreement_page(path, made, "toy", {})

    tab = show(made, write, viewport={"width": 390, "height": 800})
    cells = tab.locator(".stacked tbody td")
    assert cells.count() == 4
    over = "(cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length"
    assert cells.evaluate_all(over) == 0


def test_on_a_phone_no_column_lies_beyond_the_edge(show):
    made = changed(page(), classes=[replace(row, why=row.label) for row in page().counts.classes])
    tab = show(made, viewport={"width": 390, "height": 800})
    lines = tab.locator(".stacked tbody tr")
    assert lines.count() == 2
    for line in lines.all():
        name, *cells = (cell.bounding_box() for cell in line.locator("th, td").all())
        numbers, words = cells[:-1], cells[-1]
        assert len({box["y"] for box in numbers}) == 1
        assert all(30 < box["width"] < box["x"] + box["width"] <= 390 for box in numbers)
        assert name["y"] + name["height"] <= numbers[0]["y"]
        # none: there is no note
        assert words is None or words["y"] >= numbers[0]["y"] + numbers[0]["height"]
        assert max(box["x"] + box["width"] for box in numbers) <= 390
        assert line.bounding_box()["height"] < 110
    heads = [head.bounding_box() for head in tab.locator(".stacked thead th").all()][
        1 : len(numbers) + 1
    ]
    assert [head["x"] for head in heads] == pytest.approx([box["x"] for box in numbers], abs=1)


def test_the_page_of_a_run_on_a_phone_and_without_a_script(show, tmp_path):
    def write(path, made):
        for name, value in zip(("config.json", "metrics.json"), made, strict=True):
            (path.parent / name).write_text(json.dumps(value), encoding="utf-8")
        return write_report(path.parent)

    config, metrics = contents("long-name-" * 9)
    for item in metrics["arms"]["lops"]["iterations"]:
        item["seed_words"] = {HOSTILE[-2][:200]: [[text[:300], 12] for text in HOSTILE[:-1]]}
    phone = {"width": 390, "height": 800}
    tab = show((config, metrics), write, viewport=phone, color_scheme="dark")
    assert tab.locator("script").count() == 0
    tab.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_without_scripts_the_charts_are_there(show):
    tab = show(page(to_check=[0]), java_script_enabled=False)
    assert tab.locator("noscript p").is_visible()
    works_by_script = ("#threshold", "#search", "#marker-line", ".check", "#corrections-note")
    for place in (*works_by_script, "#download-corrections"):
        assert not tab.locator(place).is_visible()
    assert tab.locator("svg.chart").count() == 2


def test_two_thousand_suspects_are_quick(show):
    tab = show(page(4000, texts=["word " * 400] * 4000, suspects_per_class=1000))
    assert tab.locator("#rows-status").inner_text() == "1 to 50 of 2,000 rows"
    took = tab.evaluate(
        """() => {
          const box = document.getElementById("search"), start = performance.now();
          for (const text of ["w", "wo", "word", "law word", "none"]) {
            box.value = text;
            box.dispatchEvent(new Event("input"));
          }
          return performance.now() - start;
        }"""
    )
    assert tab.locator("#rows-status").inner_text() == "No matching rows."
    assert took < 2500  # five searches; a person waits for one


def test_printed(show):
    tab = show(page(to_check=[0]), color_scheme="dark")
    assert tab.locator(".check").is_visible()
    tab.emulate_media(media="print", color_scheme="dark")
    ink = tab.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(27, 29, 33)"  # on white paper
    for place in ("#search", "#download", ".check"):
        assert not tab.locator(place).is_visible()
    assert tab.locator("#rows").is_visible()
