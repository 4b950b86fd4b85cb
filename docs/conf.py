"""Settings of Sphinx for the site: ``make docs``, or ``python -m sphinx -W docs docs/_build``."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from lops_adapters.core import __version__  # noqa: E402  (after the path it is found on)

project = "lops_adapters"
author = "the contributors of lops_adapters"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
html_theme = "furo"
html_title = f"lops_adapters {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["blocks.css"]
html_js_files = ["search.js"]
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .go"  # the output of a session

# A page of the API is named as its module; those of rooms that are not there wait.
_waiting = [
    page
    for page in (HERE / "api").glob("*.md")
    if page.stem != "index" and find_spec(f"lops_adapters.{page.stem}") is None
]
exclude_patterns = ["_build", *(f"api/{page.name}" for page in _waiting)]

myst_heading_anchors = 4
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
# Callbacks derive from classes of these libraries; where one is missing, a stand-in serves.
autodoc_mock_imports = [
    library
    for library in ("torch", "transformers", "accelerate", "keras")
    if find_spec(library) is None
]
autodoc_typehints = "signature"  # shapes and units are in the docstrings
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# Pages that lie outside this folder are included by pages of the site; links of the guide go there.
_OUTSIDE = re.compile(r"\]\((?:\.\./)+benchmarks/README\.md")


def _links_inside(_app: Any, name: str, source: list[str]) -> None:
    up = "../" * name.count("/")
    source[0] = _OUTSIDE.sub(f"]({up}results/benchmarks.md", source[0])


def _bars_are_sizes(
    _app: Any, _what: str, _name: str, _found: object, _options: object, lines: list[str]
) -> None:
    """In docstrings ``|D|`` is the size of D; to Sphinx it would be something to put in."""
    lines[:] = [
        line if line.lstrip().startswith(">>>") else re.sub(r"\|(\w+)\|", r"\\|\1\\|", line)
        for line in lines
    ]


def setup(app: Any) -> None:
    """Connect what changes pages and docstrings while they are read."""
    app.connect("source-read", _links_inside)
    app.connect("autodoc-process-docstring", _bars_are_sizes)
