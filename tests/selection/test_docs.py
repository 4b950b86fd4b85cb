"""docs/core.md, selection.md, committee.md and learning-order.md: their examples run as written."""

import re
from pathlib import Path

import pytest

from lops_adapters.selection import METHODS

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["core", "selection", "committee", "learning-order"])
def test_examples_run(page, capsys):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    given = {}
    for block in blocks:
        exec(compile(block, page, "exec"), given)
    if page == "core":
        assert capsys.readouterr().out.splitlines() == ["True", "[0 2 3]"]


def test_every_method_is_a_row_of_the_page():
    text = (DOCS / "selection.md").read_text(encoding="utf-8")
    first_cells = " ".join(re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE))
    assert set(METHODS) <= set(re.findall(r"`([a-z0-9-]+)`", first_cells))
