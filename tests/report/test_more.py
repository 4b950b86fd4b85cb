"""All rejected rows on the page: packed, searched, corrected, within the size."""

import base64
import gzip
import json
from functools import cache

import numpy as np
import pytest

from lops_adapters.report.data import packed
from lops_adapters.report.selection_page import write_selection_page

from .examples import HOSTILE, changed, page, selection
from .test_corrections import downloaded, row, says, state


@cache
def made(n=12_000):
    """A page without gold labels, which no test changes."""
    return page(n, with_gold=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The file of the page."""
    return write_selection_page(tmp_path_factory.mktemp("page") / "report.html", made())


def of_file(_, path):
    """Show the file as it is."""
    return path


def unpacked(parts):
    return [row for part in parts for row in json.loads(gzip.decompress(base64.b64decode(part)))]


def ready(tab):
    return told(tab, "")


def told(tab, wanted):
    """Wait for what is said of packed rows: the page's policy forbids to poll by script."""
    for _ in range(200):
        if tab.locator("#more-status").inner_text() == wanted:
            return tab
        tab.wait_for_timeout(50)
    raise AssertionError(tab.locator("#more-status").inner_text())


def listed(tab):
    return tab.locator("#rows-status").inner_text()


def test_every_rejected_row_is_listed_once():
    found = made()
    rejected = set(selection(12_000).rejected.tolist())
    first = {row.position for row in found.rows.suspects if not row.selected}
    rest = unpacked(found.rows.more)
    assert len(found.rows.more) > 1
    assert len(rest) == found.rows.n_more == len(rejected) - len(first)
    assert {row["position"] for row in rest} == rejected - first
    assert found.rows.n_unlisted == 0
    assert {row["code"] for row in rest} == {0, 1}
    assert rest[0]["row"] == rest[0]["position"] + 1
    assert json.loads(json.dumps(found.to_json())) == found.to_json()


def test_every_rejected_row_of_a_large_class_is_listed():
    given = ["arts" if i % 10 else "law" for i in range(3_000)]
    chosen = selection(3_000)
    chosen.mask[:] = np.arange(3_000) < 100
    found = page(3_000, with_gold=False, labels=given, selection=chosen)
    listed = [row.position for row in found.rows.suspects if not row.selected]
    listed += [row["position"] for row in unpacked(found.rows.more)]
    assert sorted(listed) == list(range(100, 3_000))


def test_few_rows_need_no_packing():
    assert (made(40).rows.more, made(40).rows.n_more) == ([], 0)


def test_what_is_listed_is_said(tmp_path):
    for found, said in (
        (made(), "All rejected rows, and the least trusted kept rows. Look"),
        (made(40), "All rejected rows, and the least trusted kept rows. Look"),
        (changed(made(), n_rows=20_000), "The least trusted rows per class, 200 in all. Look"),
    ):
        assert said in write_selection_page(tmp_path / "a.html", found).read_text()


def test_what_does_not_fit_is_counted(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    rows = [{"text": str(rng.integers(10**18, size=30))} for _ in range(5000)]
    parts, number = packed(rows, 10**6)
    assert number in (2000, 4000)
    assert sum(map(len, parts)) <= 10**6
    assert unpacked(parts) == rows[:number]
    monkeypatch.setattr("lops_adapters.report.data.MOST", 1000)
    found = page(12_000, with_gold=False)
    assert (found.rows.n_more, found.rows.n_unlisted) == (1000, 2400 - 1000 - 200)
    text = write_selection_page(tmp_path / "a.html", found).read_text()
    assert "The least trusted rows; 1,200 rejected rows did not fit." in text


def test_the_page_stays_below_its_size(tmp_path):
    """Texts that pack badly, of signs that take most in JSON."""
    n = 20_000
    signs = np.random.default_rng(0).integers(0x4E00, 0x9FFF, size=(n // 5, 700), dtype="<u2")
    texts = [row.tobytes().decode("utf-16-le") for row in signs]  # of every fifth row
    found = page(n, with_gold=False, texts=texts * 5, suspects_per_class=1000)
    path = write_selection_page(tmp_path / "report.html", found)
    assert path.stat().st_size < 20 * 10**6


def test_all_rejected_rows_are_browsed(show, written):
    tab = ready(show(written, of_file))
    assert listed(tab) == "1 to 50 of 2,400 rows"
    tab.select_option("#state", "rejected")
    tab.fill("#search", "number 11999")
    assert listed(tab) == "1 to 1 of 1 rows"
    tab.fill("#search", "")
    tab.select_option("#order", "position")
    for _ in range(3):
        tab.click("#next")
    assert listed(tab) == "151 to 200 of 2,400 rows"
    assert tab.locator("#rows tbody tr").first.inner_text().startswith("9751")
    assert "All rejected rows, and the least trusted kept rows." in tab.inner_text("#suspects + p")


def test_packed_rows_are_corrected_and_kept(browser, written):
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(written.as_uri())
    ready(tab)
    packed = unpacked(made().rows.more)[-1]["row"]
    tab.fill("#search", f"number {packed - 1} ")
    row(tab, packed).get_by_role("button", name="delete").click()
    tab.reload()
    ready(tab)
    assert says(tab) == "1 correction: 0 relabelled, 1 deleted."
    tab.select_option("#state", "checked")
    assert state(tab, packed) == "deleted"
    assert downloaded(tab).splitlines() == ["row,label", f'{packed},""']
    tab.click("#undo")
    tab.reload()
    ready(tab)
    assert says(tab) == "0 corrections."
    context.close()


def test_hostile_packed_text_runs_nothing(show):
    n = 1000
    texts = [HOSTILE[i % len(HOSTILE)][:300] for i in range(n)]
    tab = ready(show(page(n, with_gold=False, texts=texts, suspects_per_class=2)))
    assert listed(tab) == "1 to 50 of 200 rows"
    for _ in range(3):
        tab.click("#next")
    assert tab.evaluate("window.ran") is None
    assert tab.locator("main img, main script, main iframe").count() == 0
    assert "control ␀␇␛[31m␡" in tab.locator("#rows").inner_text()


def test_a_browser_that_cannot_unpack(browser, written):
    context = browser.new_context()
    context.add_init_script("delete window.DecompressionStream")
    tab = context.new_page()
    tab.goto(written.as_uri())
    told(tab, "This browser shows the first 200.")
    assert listed(tab) == "1 to 50 of 200 rows"
    context.close()


def test_a_row_that_is_worked_on_stays(show, written):
    """While rows arrive, the current row keeps the focus and stays on the shown page."""
    tab = show(written, of_file)
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    number = tab.evaluate("document.activeElement.dataset.row")
    ready(tab)
    assert tab.locator("#rows tr[aria-current]").get_attribute("data-row") == number
