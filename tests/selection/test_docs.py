"""docs/inject.md and extend.md: their examples run as written; selection.md has every method."""

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from unittest import mock

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lops_adapters.selection import MEMBERS, METHODS, build

from ..pages import Page, differences

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"


def test_every_method_is_a_row_of_the_page():
    text = (DOCS / "selection.md").read_text(encoding="utf-8")
    first_cells = " ".join(re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE))
    assert set(METHODS) <= set(re.findall(r"`([a-z0-9-]+)`", first_cells))


@pytest.fixture
def page_of(monkeypatch):
    """A page that is a module; what it registers and sets is gone after it."""

    def read(name):
        page, module = Page(name), ModuleType(f"page_{name}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        page.names = vars(module)
        return page

    with mock.patch.dict(METHODS), mock.patch.dict(MEMBERS), mock.patch.dict(os.environ):
        yield read


def test_a_training_loop(page_of):
    """The three libraries; the selector's result is the same in all."""
    page = page_of("inject")
    if find_spec("keras") is None:
        page.text = re.sub(r"^## Keras\n.*?(?=^## )", "", page.text, flags=re.DOTALL | re.MULTILINE)
    names = page.run().names
    gold, classes = np.array(names["gold"]), np.array(names["classes"])
    assert not differences(*page.outputs[0])
    assert (np.array(names["predicted"]) == gold).mean() > 0.95
    assert (names["model"].predict(names["texts"]) == gold).mean() > 0.95
    if "network" in names:
        found = names["network"].predict(names["inputs"], verbose=0).argmax(axis=1)
        assert (classes[found] == gold).mean() > 0.95


def test_selectors_that_the_page_names(page_of):
    page = page_of("inject")
    given = {"LogisticRegression": LogisticRegression, "build": build}
    calls = [code for code in re.findall(r"`(build\([^`]*\))`", page.text) if code != "build(...)"]
    assert len(calls) == 7
    for code in calls:
        assert callable(eval(code, given))


def test_parts_of_your_own(page_of):
    page = page_of("extend").run()
    assert len(page.outputs) == 2
    for shown, printed in page.outputs:
        assert shown == printed
