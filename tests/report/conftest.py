"""A real browser for the pages; its tests are skipped where there is none."""

import shutil

import pytest

from lops_adapters.report.selection_page import write_selection_page

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as api:
        started = api.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open a page; in the end: no errors, no console messages, no requests but for the file."""
    contexts, complaints, requests = [], [], []

    def opened(made, write=write_selection_page, **options):
        path = write(tmp_path / f"report{len(contexts)}.html", made)
        contexts.append(
            browser.new_context(
                **{"viewport": {"width": 1200, "height": 900}, "accept_downloads": True, **options}
            )
        )
        tab = contexts[-1].new_page()
        tab.set_default_timeout(10_000)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(path.as_uri())
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "blob:"))] == []
    assert len([url for url in requests if url.startswith("file:")]) == len(contexts)
