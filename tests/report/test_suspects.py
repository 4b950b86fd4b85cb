"""Rows to check: which rows the page lists, and the card on which a person checks them."""

import pytest

from lops_adapters.cli import apply
from lops_adapters.report import data, rows, suspects
from lops_adapters.report.selection_page import write_selection_page

from ..noisy import read_table, write_table
from .examples import changed, hostile_page, labels, page, texts
from .test_corrections import corrections, downloaded, many_classes, row, says, state

CHECK = [0, 39, 1, 34]  # arts and law in turn; suggested is always law
BOXES = """[...document.querySelectorAll(".buttons > :not([hidden])")].map((button) =>
  button.getBoundingClientRect().toJSON())"""
PHONE = {"width": 360, "height": 740}


def opened(show, to_check=CHECK, **options):
    more = {name: options.pop(name) for name in ("texts", "ids", "table") if name in options}
    return show(page(to_check=to_check, **more), **options)


def progress(tab):
    said = tab.locator("#check-status").inner_text().replace("\n", " ").strip()
    return said.removesuffix(" (suggested: law)")


def shown(tab):
    return tab.locator("#check-row p").first.inner_text()


def press(tab, keys):
    for key in keys:
        tab.keyboard.press(key)


def focused(tab):
    return tab.evaluate("document.activeElement.id")


def test_the_rows_of_a_joined_table_are_texts():
    for counts, first in (("texts in body", "text, in"), ("rows with texts in body", "row; the")):
        assert f"Row 1 is the first {first} " in suspects.listed(page(table={"counts": counts}))


def test_rows_to_check_are_listed_though_they_are_kept():
    made = page(400, suspects_per_class=3, to_check=[7, 399, 2])
    without = page(400, suspects_per_class=3)
    assert list(made.rows.to_check) == [8, 400, 3]
    listed = [suspect.position for suspect in made.rows.suspects]
    least = [suspect.position for suspect in without.rows.suspects]
    assert len(listed) == len(set(listed))
    assert set(listed) == {*least, 7, 399, 2}
    assert [i for i in listed if i in least] == least
    of_numbers = page(to_check=[3], numbers=range(11, 51)).rows
    assert {suspect.row for suspect in of_numbers.suspects} >= {14}
    assert of_numbers.to_check == [14]


def test_the_list_keeps_its_size(monkeypatch):
    for room in (data, rows):
        monkeypatch.setattr(room, "LISTED", 10)
    made = page(400, to_check=range(6))
    assert len(made.rows.suspects) == 10
    assert {suspect.position for suspect in made.rows.suspects} >= set(range(6))
    for room in (data, rows):
        monkeypatch.setattr(room, "LISTED", 4)
    made = page(400, to_check=range(6))
    assert list(made.rows.to_check) == [1, 2, 3, 4]
    assert {suspect.row for suspect in made.rows.suspects} == {1, 2, 3, 4}


def test_the_list_reaches_to_the_upper_end_of_the_range():
    made = page(400, suspects_per_class=3, estimate=[0.2, 0.1, 0.3])
    every = [one.position for one in page(400, suspects_per_class=400).rows.suspects]
    assert [one.position for one in made.rows.suspects][:120] == every[:120]
    assert 120 <= len(made.rows.suspects) <= 126


def test_no_row_is_packed_that_is_listed():
    rejected = 3_000 // 5
    made = page(3_000, suspects_per_class=20, to_check=[2_999, 2_500, 3])
    listed = [suspect for suspect in made.rows.suspects if not suspect.selected]
    assert {suspect.position for suspect in listed} >= {2_999, 2_500}
    assert len(listed) + made.rows.n_more == rejected


def test_the_section_comes_first(tmp_path):
    table = {"check": "lops select 'a <b>.csv' --checked corrections.csv"}
    made = page(to_check=CHECK, table=table)
    text = write_selection_page(tmp_path / "report.html", made).read_text(encoding="utf-8")
    main = text.split("<main>\n")[1]
    assert main.startswith('<div class="check" data-live hidden><section aria-labelledby="check">')
    assert "lops select &#x27;a &lt;b&gt;.csv&#x27; --checked corrections.csv" in main
    assert "The rows to check are also here." in main
    made = page(to_check=[1])
    text = write_selection_page(tmp_path / "one.html", made).read_text(encoding="utf-8")
    assert "Checking 1 row shows" in text
    assert "lops select TABLE --checked corrections.csv" in text


@pytest.mark.slow
def test_checked_by_key(show):
    tab = opened(show)
    tab.check("#check-suggestions")
    assert progress(tab) == "0 of 4 checked"
    assert tab.locator("#check-undo").is_disabled()
    assert tab.locator("#download-checked").is_disabled()
    assert shown(tab) == "Row 1"
    press(tab, ["Enter"])
    assert progress(tab) == "1 of 4 checked Row 1: right"
    assert shown(tab) == "Row 40"
    press(tab, "a")  # it is law already: nothing to accept
    assert shown(tab) == "Row 40"
    press(tab, "1")
    assert progress(tab) == "2 of 4 checked Row 40: → arts"
    press(tab, "9d")  # there are two classes; rows are deleted in the list
    assert shown(tab) == "Row 2"
    press(tab, "s")
    assert progress(tab) == "2 of 4 checked, 1 skipped Row 2: skipped"
    press(tab, "a")
    assert progress(tab) == "3 of 4 checked, 1 skipped Row 35: → law"
    assert tab.locator("#check-row").inner_text().startswith("1 skipped row is left.")
    press(tab, ["Enter"])  # no row is shown
    assert progress(tab) == "3 of 4 checked, 1 skipped Row 35: → law"
    tab.get_by_role("button", name="Check the skipped rows").click()
    assert (shown(tab), focused(tab)) == ("Row 2", "check-row")
    press(tab, "r")
    assert progress(tab) == "4 of 4 checked Row 2: right"
    assert tab.locator("#check-row").inner_text().startswith("All rows are checked.")
    assert not tab.locator("#check-right").is_visible()
    assert tab.locator("#download-checked").get_attribute("class") == "primary"
    assert says(tab) == "2 corrections: 2 relabelled, 0 deleted; 2 labels confirmed."
    assert corrections(tab) == [
        {"row": "1", "label": "arts"},
        {"row": "2", "label": "law"},
        {"row": "35", "label": "law"},
        {"row": "40", "label": "arts"},
    ]
    with tab.expect_download() as download:
        tab.click("#download-checked")
    assert download.value.suggested_filename == "corrections.csv"
    press(tab, "u")  # the focus is still in the section
    assert shown(tab) == "Row 2"


@pytest.mark.slow
def test_a_suggestion_is_hidden_until_the_answer(show):
    tab = opened(show)
    assert tab.locator("#check-label").inner_text().split() == ["label", "arts"]
    assert not tab.locator("#check-accept").is_visible()
    press(tab, "a")  # there is nothing to accept
    assert shown(tab) == "Row 1"
    press(tab, "r")
    assert "Row 1: right (suggested: law)" in tab.locator("#check-status").inner_text()
    assert "in sight" not in tab.locator("#check-estimate").inner_text()
    press(tab, "ss")
    tab.check("#check-suggestions")
    assert tab.locator("#check-label").inner_text().split()[:4] == [
        "label",
        "arts",
        "suggested",
        "law",
    ]
    press(tab, "a")
    assert tab.locator("#check-status").inner_text().endswith("Row 35: → law")
    assert tab.locator("#check-estimate").inner_text().endswith("; 1 with the suggestion in sight")
    again = tab.context.new_page()
    again.goto(tab.url)
    assert not again.is_checked("#check-suggestions")
    assert "1 with the suggestion in sight" in again.locator("#check-estimate").inner_text()


@pytest.mark.slow
def test_wrong_labels_are_counted_while_checking(show):
    tab = opened(show)
    press(tab, "r")
    said = tab.locator("#check-estimate")
    assert said.inner_text() == "So far: 1 right, 0 wrong, 0 of no class"
    press(tab, "n1")
    assert said.inner_text() == "So far: 1 right, 1 wrong, 1 of no class"


@pytest.mark.slow
def test_ten_rows_are_asked_for_and_then_ten_more(show):
    tab = opened(show, to_check=list(range(25)))
    said = tab.locator("#check-row")
    assert progress(tab) == "0 of 10 checked"
    press(tab, "r" * 9 + "s")
    assert said.inner_text().startswith("1 skipped row is left.")
    tab.get_by_role("button", name="Check the skipped rows").click()
    press(tab, "rr")
    assert said.inner_text().startswith("10 rows are checked.")
    tab.get_by_role("button", name="Check 10 more").click()
    press(tab, "r" * 3)
    assert (shown(tab), progress(tab)) == ("Row 14", "13 of 20 checked Row 13: right")
    again = tab.context.new_page()
    again.goto(tab.url)
    assert (shown(again), progress(again)) == ("Row 14", "13 of 20 checked")
    press(again, "r" * 7)
    again.get_by_role("button", name="Check 5 more").click()
    press(again, "r" * 5)
    assert again.locator("#check-row").inner_text().startswith("All rows are checked.")


@pytest.mark.slow
def test_undone(show):
    tab = opened(show)
    press(tab, "rs")
    assert shown(tab) == "Row 2"
    press(tab, "u")
    assert (shown(tab), progress(tab)) == ("Row 40", "1 of 4 checked Row 40: undone")
    tab.click("#check-undo")
    assert (shown(tab), progress(tab)) == ("Row 1", "0 of 4 checked Row 1: undone")
    assert tab.locator("#check-undo").is_disabled()
    press(tab, "u")
    assert says(tab) == "0 corrections."
    press(tab, "rrrr")
    assert progress(tab).startswith("4 of 4 checked")
    press(tab, "u")
    assert (shown(tab), progress(tab)) == ("Row 35", "3 of 4 checked Row 35: undone")


@pytest.mark.slow
def test_a_reload_goes_on(show):
    tab = opened(show)
    press(tab, "r2")
    again = tab.context.new_page()
    again.goto(tab.url)
    assert (shown(again), progress(again)) == ("Row 2", "2 of 4 checked")
    press(again, "u")
    assert (shown(again), progress(again)) == ("Row 40", "1 of 4 checked Row 40: undone")
    press(again, "2")
    assert downloaded(again) == downloaded(tab)


@pytest.mark.slow
def test_by_click_the_focus_goes_to_the_row(show):
    tab = opened(show)
    for name in ("check-right", "check-skip", "check-undo"):
        tab.click(f"#{name}")
        assert focused(tab) == "check-row"
    assert shown(tab) == "Row 40"
    tab.click("[data-code='0']")
    assert (focused(tab), progress(tab)) == ("check-row", "2 of 4 checked Row 40: → arts")
    press(tab, ["Enter"])  # not the class again
    assert progress(tab) == "3 of 4 checked Row 2: right"
    tab.focus("#check-skip")
    press(tab, ["Enter"])  # a button that has the focus is pressed
    assert progress(tab) == "3 of 4 checked, 1 skipped Row 35: skipped"


@pytest.mark.slow
def test_a_key_that_is_held_down_checks_one_row(show):
    tab = opened(show)
    tab.keyboard.down("r")
    for _ in range(3):
        tab.keyboard.down("r")
    assert progress(tab) == "1 of 4 checked Row 1: right"


@pytest.mark.slow
def test_the_card_and_the_list(show):
    tab = opened(show)
    press(tab, "r")
    assert state(tab, 1) == "right"
    row(tab, 1).get_by_role("button", name="undo row 1").click()
    assert progress(tab).startswith("0 of 4 checked")
    press(tab, "d")  # the focus is in the list
    assert state(tab, 1) == "deleted"
    row(tab, 40).get_by_label("class of row 40").select_option(label="arts")
    assert progress(tab).startswith("2 of 4 checked")
    assert shown(tab) == "Row 2"
    tab.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    press(tab, "sr")
    assert progress(tab) == "3 of 4 checked, 1 skipped Row 35: right"
    row(tab, 2).get_by_label("class of row 2").select_option(label="arts")
    assert progress(tab) == "4 of 4 checked Row 35: right"
    tab.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    press(tab, "uu")
    assert progress(tab) == "2 of 4 checked Row 2: undone"
    press(tab, "r")
    assert progress(tab) == "3 of 4 checked Row 2: right"
    press(tab, "j")
    assert tab.evaluate("document.activeElement.closest('#rows') !== null")
    tab.evaluate("document.activeElement.blur(); scrollTo(0, document.body.scrollHeight)")
    press(tab, "r")  # the card is out of sight
    assert progress(tab) == "3 of 4 checked Row 2: right"


@pytest.mark.slow
def test_a_long_text_unfolds(show):
    tab = opened(show, texts=["word " * 300 + "end"] * 40)
    text = tab.locator("#check-row .said")
    assert len(text.inner_text()) < 650
    text.get_by_role("button", name="more of the text of row 1").click()
    assert "end" in text.inner_text()
    press(tab, "r")
    assert "end" not in text.inner_text()


@pytest.mark.slow
@pytest.mark.parametrize(("hostile", "scheme"), [(False, "light"), (True, "dark")])
def test_on_a_phone(show, hostile, scheme):
    made = page(to_check=CHECK, texts=[f"{text} " * 60 for text in texts()])
    if hostile:
        made = hostile_page()
        made = changed(made, to_check=[suspect.row for suspect in made.rows.suspects])
    tab = show(made, viewport=PHONE, color_scheme=scheme, has_touch=True, is_mobile=True)
    tab.evaluate("document.getElementById('check-card').scrollIntoView()")
    for _ in made.rows.to_check[:10]:
        assert tab.evaluate("document.documentElement.scrollWidth") == 360
        for box in tab.evaluate(BOXES):
            assert box["height"] >= 44
            assert 0 <= box["left"] <= box["right"] <= 360
        assert max(box["bottom"] for box in tab.evaluate(BOXES)[-3:]) <= PHONE["height"]
        label = tab.locator("#check-label").bounding_box()
        assert 0 < label["height"] < label["y"] + label["height"] <= tab.evaluate(BOXES)[-4]["top"]
        tab.tap("#check-skip")
        assert tab.locator("#check-row").bounding_box()["y"] >= 0
    assert "skipped" in progress(tab)
    assert tab.evaluate("window.ran") is None


@pytest.mark.slow
def test_many_classes_have_a_menu(show):
    tab = show(page(600, to_check=[5, 7], **many_classes(600, 30)))
    assert tab.locator("[data-code]").count() == 9
    tab.select_option("#check-others", label="class 029")
    assert progress(tab) == "0 of 2 checked"
    tab.click("#check-other")
    assert progress(tab) == "1 of 2 checked Row 6: → class 029"
    assert not tab.locator("#check-accept").is_visible()
    press(tab, "8")
    assert progress(tab) == "2 of 2 checked Row 8: right"


@pytest.mark.slow
def test_confirmed_rows_stay_and_those_of_no_class_go(show, tmp_path, monkeypatch, capsys):
    rows = [list(cells) for cells in zip(texts(), labels(), strict=True)]
    table = write_table(tmp_path / "rows.csv", rows, ["text", "label"])
    tab = opened(show)
    press(tab, "r1nun")
    assert progress(tab) == "3 of 4 checked Row 2: none of these"
    assert says(tab) == "2 corrections: 1 relabelled, 1 deleted; 1 label confirmed."
    assert corrections(tab)[1] == {"row": "2", "label": ""}
    (tmp_path / "corrections.csv").write_text(downloaded(tab), encoding="utf-8")
    output = tmp_path / "new.csv"
    words = ["corrections.csv", table.name, "--output", output.name, "--quiet"]
    monkeypatch.chdir(tmp_path)
    assert apply.main(words) == 0
    assert "; 1 row unchanged, with that label already" in capsys.readouterr().out
    rows[39][1] = "arts"
    del rows[1]
    assert [list(cells.values()) for cells in read_table(output)] == rows
