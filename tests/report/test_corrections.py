"""Corrections on the page: by click and by key, undone, kept over a reload, and applied."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.cli import apply
from lops_adapters.cli import select as command
from lops_adapters.core import ClassReport, Selection
from lops_adapters.report.selection_page import write_selection_page

from ..noisy import noisy_rows, read_table, write_table
from .examples import hostile_page, page

BY_POSITION = "position"


def opened(show, made=None, **options):
    tab = show(made or page(), **options)
    tab.select_option("#order", BY_POSITION)
    return tab


def says(tab):
    return tab.locator("#corrections-status").inner_text()


def row(tab, number):
    return tab.locator(f"#rows tr[data-row='{number}']")


def state(tab, number):
    return row(tab, number).locator(".fix").inner_text().replace("\xa0", " ").split("\n")[0]


def downloaded(tab):
    with tab.expect_download() as download:
        tab.click("#download-corrections")
    assert download.value.suggested_filename == "corrections.csv"
    return Path(download.value.path()).read_bytes().decode("utf-8-sig")


def corrections(tab):
    return list(csv.DictReader(io.StringIO(downloaded(tab), newline="")))


def current(tab):
    return tab.locator("#rows tr[aria-current='true']").get_attribute("data-row")


def test_by_click(show):
    tab = opened(show)
    assert says(tab) == "0 corrections."
    assert tab.locator("#download-corrections").is_disabled()
    assert row(tab, 2).get_by_role("button", name="accept").count() == 0  # it is law already
    row(tab, 1).get_by_role("button", name="accept row 1").click()
    row(tab, 2).get_by_label("class of row 2").select_option(label="arts")
    row(tab, 3).get_by_role("button", name="delete row 3").click()
    assert says(tab) == "3 corrections: 2 relabelled, 1 deleted."
    assert [state(tab, number) for number in (1, 2, 3)] == ["→ law", "→ arts", "deleted"]
    assert corrections(tab) == [
        {"row": "1", "label": "law"},
        {"row": "2", "label": "arts"},
        {"row": "3", "label": ""},
    ]
    row(tab, 2).get_by_role("button", name="undo row 2").click()
    assert says(tab) == "2 corrections: 1 relabelled, 1 deleted."
    assert row(tab, 2).get_by_role("button", name="delete").count() == 1
    tab.click("#undo")  # the last one: the deletion
    assert [entry["row"] for entry in corrections(tab)] == ["1"]
    tab.click("#undo")
    assert says(tab) == "0 corrections."
    assert tab.locator("#undo").is_disabled()


def test_by_key(show):
    tab = opened(show)
    tab.keyboard.press("a")  # no row yet
    assert says(tab) == "0 corrections."
    tab.keyboard.press("j")
    assert current(tab) == "1"
    tab.keyboard.press("a")
    assert state(tab, 1) == "→ law"
    for key in "jjk":
        tab.keyboard.press(key)
    assert current(tab) == "2"
    tab.keyboard.press("a")  # it is law already
    assert says(tab) == "1 correction: 1 relabelled, 0 deleted."
    tab.keyboard.press("1")
    assert state(tab, 2) == "→ arts"
    tab.keyboard.press("2")  # its own class: the label is right
    assert state(tab, 2) == "right"
    assert says(tab) == "1 correction: 1 relabelled, 0 deleted; 1 label confirmed."
    tab.keyboard.press("3")  # there are two classes
    tab.keyboard.press("d")
    assert state(tab, 2) == "deleted"
    tab.keyboard.press("j")
    tab.keyboard.press("u")
    assert current(tab) == "2"  # that was undone
    assert says(tab) == "1 correction: 1 relabelled, 0 deleted."
    tab.keyboard.press("u")
    tab.keyboard.press("u")
    assert says(tab) == "0 corrections."
    for key in ("Control+d", "Alt+d", "Meta+d"):
        tab.evaluate(
            "key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'd', bubbles: "
            "true, [key]: true}))",
            {"Control+d": "ctrlKey", "Alt+d": "altKey", "Meta+d": "metaKey"}[key],
        )
    assert says(tab) == "0 corrections."
    tab.focus("#search")
    tab.keyboard.type("jad")
    assert says(tab) == "0 corrections."
    assert tab.locator("#search").input_value() == "jad"


def test_keys_turn_the_pages(show):
    """On a phone, whose pages have ten rows."""
    more = {"viewport": {"width": 390, "height": 800}}
    tab = opened(show, page(suspects_per_class=60), **more)
    for _ in range(11):
        tab.keyboard.press("j")
    assert tab.locator("#rows-status").inner_text() == "11 to 20 of 40 rows"
    assert tab.locator("#rows tbody tr").first.get_attribute("aria-current") == "true"
    assert tab.evaluate("document.activeElement.dataset.row") == current(tab)
    tab.keyboard.press("k")
    assert tab.locator("#rows-status").inner_text() == "1 to 10 of 40 rows"
    assert tab.locator("#rows tbody tr").last.get_attribute("aria-current") == "true"
    box = tab.locator("#rows tr[aria-current='true']").bounding_box()
    assert 0 <= box["y"] < 800
    for _ in range(12):
        tab.keyboard.press("k")
    assert tab.locator("#rows tbody tr").first.get_attribute("aria-current") == "true"
    tab.fill("#search", "nothing like it")
    tab.locator("#rows-status").click()
    tab.keyboard.press("j")
    assert tab.locator("#rows-status").inner_text() == "No matching rows."


def test_the_filter_shows_what_is_corrected(show):
    tab = opened(show)
    for number in (1, 5):
        row(tab, number).get_by_role("button", name="delete").click()
    tab.select_option("#state", "checked")
    assert tab.locator("#rows tbody tr").count() == 2
    tab.select_option("#state", "rejected")
    assert tab.locator("#rows tbody tr").count() == 8


def test_a_reload_keeps_them(show):
    tab = opened(show)
    row(tab, 3).get_by_role("button", name="delete").click()
    row(tab, 1).get_by_role("button", name="accept").click()
    before = downloaded(tab)
    html = tab.content()
    assert "corrected" in html
    tab.evaluate("document.title")
    key = tab.evaluate("JSON.parse(document.getElementById('data').textContent).key")
    assert tab.evaluate(f"localStorage.getItem('{key}')") == "[[3,-1],[1,1]]"
    again = tab.context.new_page()
    again.goto(tab.url)
    assert says(again) == "2 corrections: 1 relabelled, 1 deleted."
    assert downloaded(again) == before
    again.click("#undo")  # their order is kept, too
    assert [entry["row"] for entry in corrections(again)] == ["3"]
    again.click("#undo")
    assert again.evaluate(f"localStorage.getItem('{key}')") is None


BROKEN = [
    "not JSON", "{}", "7", "null", '[["1", 1]]', "[[1, 9]]", "[[1, -2]]", "[[99, 1]]", "[1]",
    '[[1, "law"]]', "[[1, 0.5]]", "[[]]",
]  # fmt: skip


def test_broken_content_of_the_storage(show):
    tab = opened(show)
    key = tab.evaluate("JSON.parse(document.getElementById('data').textContent).key")
    again = tab.context.new_page()
    for content in BROKEN:
        tab.evaluate("([key, content]) => localStorage.setItem(key, content)", [key, content])
        again.goto(tab.url)
        assert says(again) == "0 corrections.", content
        again.locator("#rows tr").nth(1).get_by_role("button", name="delete").click()
        assert says(again) == "1 correction: 0 relabelled, 1 deleted.", content


def test_another_selection_has_its_own(show):
    tab = opened(show)
    row(tab, 1).get_by_role("button", name="delete").click()
    other = tab.context.new_page()
    path = Path(tab.url.removeprefix("file://"))
    write_selection_page(path.with_name("other.html"), page(source="another table"))
    other.goto(path.with_name("other.html").as_uri())
    assert says(other) == "0 corrections."


def test_without_storage(show, browser, tmp_path):
    path = write_selection_page(tmp_path / "blocked.html", page(to_check=[0]))
    context = browser.new_context(accept_downloads=True)
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('blocked'); }})"
    )
    tab, problems = context.new_page(), []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto(path.as_uri())
    tab.locator("#rows tr").nth(1).get_by_role("button", name="delete").click()
    assert says(tab) == (
        "1 correction: 0 relabelled, 1 deleted. This browser does not keep them: download them "
        "before you close the page."
    )
    assert "This browser does not keep them" in tab.locator("#check-status").inner_text()
    assert len(corrections(tab)) == 1
    assert problems == []
    context.close()


def test_what_the_file_holds(show):
    table = {"column": "weak", "sha256": "ab" * 32, "command": "lops apply"}
    ids = [f"=id-{i}" for i in range(40)]
    tab = opened(show, page(table=table, ids=ids, numbers=[i + 11 for i in range(40)]))
    row(tab, 13).get_by_role("button", name="delete").click()
    row(tab, 11).get_by_role("button", name="accept").click()
    usual = {"column": "weak", "sha256": "ab" * 32}
    assert corrections(tab) == [
        {"row": "11", "label": "law", "id": "'=id-0", **usual},
        {"row": "13", "label": "", "id": "'=id-2", **usual},
    ]


def test_the_file_of_a_joined_table_names_texts(show):
    keys = [f"t{i}" for i in range(40)]
    tab = opened(show, page(table={"column": "weak", "counts": "texts in body"}, keys=keys))
    row(tab, 3).get_by_role("button", name="delete").click()
    assert corrections(tab) == [
        {"row": "3", "label": "", "key": "t2", "column": "weak", "counts": "texts in body"}
    ]


def test_classes_of_any_name_and_number(show):
    tab = show(hostile_page())
    tab.locator("#rows tr").nth(1).get_by_role("button", name="delete").click()
    assert tab.evaluate("window.ran") is None
    many = page(600, suspects_per_class=2, **many_classes(600, 300))
    tab = show(many)
    select = tab.locator("#rows tr").nth(1).locator("select.small")
    assert select.locator("option").count() == 1
    select.focus()
    assert select.locator("option").count() == 300
    select.select_option(index=299)
    assert says(tab) == "1 correction: 1 relabelled, 0 deleted."


def many_classes(n, k):
    names = [f"class {i:03d}" for i in range(k)]
    reports = {name: ClassReport(n // k, 1, 1, 1, 1.0, "why") for name in names}
    mask = np.arange(n) % 2 == 0
    chosen = Selection(mask, np.full(n, np.inf), np.linspace(0, 1, n), reports, "rule", "stopped")
    return {
        "selection": chosen,
        "labels": [names[i % k] for i in range(n)],
        "with_gold": False,
        "suggested": None,
        "suggested_probability": None,
    }


@pytest.mark.parametrize(("made", "scheme"), [(page, "light"), (hostile_page, "dark")])
def test_on_a_phone(show, made, scheme):
    tab = show(made(), viewport={"width": 390, "height": 800}, color_scheme=scheme)
    buttons = tab.locator("#rows .fix button, #rows .fix select")
    assert buttons.count() >= 20
    for button in buttons.all()[:6]:
        box = button.bounding_box()
        assert box["height"] >= 44
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
    tab.locator("#rows tbody tr").first.get_by_role("button", name="delete").click()
    for more in tab.locator("summary").all():
        more.click()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_from_select_to_a_corrected_table(show, tmp_path, monkeypatch, capsys):
    """A report of a table with unlabelled rows; a few corrections; the table with them."""
    monkeypatch.chdir(tmp_path)
    given = noisy_rows(n=60)
    for position in (0, 7):
        given[position][2] = ""
    table = write_table(tmp_path / "my news.csv", given)
    options = ["--text", "text", "--label", "weak", "--quiet", "--encoder", "none"]
    assert command.main([table.name, *options]) == 0
    tab = show(tmp_path / "my news-lops" / "report.html", lambda _, made: made)
    said = tab.locator("#corrections-note").inner_text()
    output = "my news-corrected.csv"
    assert said == f"Then: lops apply corrections.csv 'my news.csv' --output '{output}'"
    tab.select_option("#order", BY_POSITION)
    first, second = (
        int(tab.locator("#rows tbody tr").nth(i).get_attribute("data-row")) for i in (0, 1)
    )
    row(tab, first).get_by_role("button", name="delete").click()
    old = given[second - 1][2]
    new = "class 1" if old == "class 0" else "class 0"
    row(tab, second).locator("select").select_option(label=new)
    (tmp_path / "corrections.csv").write_text(downloaded(tab), encoding="utf-8")
    assert apply.main(["corrections.csv", table.name, "--output", output, "--quiet"]) == 0
    assert "1 row relabelled; 1 row deleted." in capsys.readouterr().out
    expected = [list(cells) for cells in given]
    expected[second - 1][2] = new
    del expected[first - 1]
    assert [list(cells.values()) for cells in read_table(tmp_path / output)] == expected
