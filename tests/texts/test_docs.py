"""Pages about selections and data: every Python block runs, one after the other."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["select", "vectors", "report", "check", "datasets", "layouts"])
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    given = {}
    for block in blocks:
        exec(compile(block, page, "exec"), given)
