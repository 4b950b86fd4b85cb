"""Pages about selections and data: every Python block runs, one after the other."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    *("select", "vectors", "report", "check", "datasets", "layouts", "limits"),
    *("selection", "committee", "learning-order"),
)
# Pages whose Python blocks other tests run: test_tutorials.py and the test_docs.py of other rooms.
ELSEWHERE = {
    *("clean-table", "sources", "llm-labels", "agreement", "own-texts", "framework"),
    *("inject", "extend", "probes", "integrations", "training", "recipes", "copy-core", "index"),
}


def test_no_page_is_left_out():
    with_blocks = {
        path.stem
        for path in DOCS.glob("**/*.md")
        if "\n```python\n" in path.read_text(encoding="utf-8")
    }
    assert with_blocks == {*PAGES, *ELSEWHERE}


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    given = {}
    for block in blocks:
        exec(compile(block, page, "exec"), given)
    if page == "learning-order":
        assert capsys.readouterr().out.splitlines() == ["True", "[0 2 3]"]
