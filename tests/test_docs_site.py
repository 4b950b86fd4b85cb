"""The documentation site: builds without a warning, with pages that come and go, and all links
inside it lead somewhere.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

import lops_adapters
from lops_adapters import selection

ROOT = Path(lops_adapters.__file__).parents[1]
DOCS = ROOT / "docs"
NEEDED = ("sphinx", "furo", "myst_parser")

# The site is built where none of these libraries is installed, as by "make docs".
HIDDEN = """
from importlib.machinery import PathFinder
find_spec, hidden = PathFinder.find_spec, ("torch", "transformers", "accelerate", "keras")
def find(name, *more, **named):
    return None if name.partition(".")[0] in hidden else find_spec(name, *more, **named)
PathFinder.find_spec = find
"""

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """The ids of a page, what it links to, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("img", "script", "iframe", "source"):
            self.loaded += [found["src"]] if found.get("src") else []
        elif tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(found["href"])


def complaints(site) -> Iterator[str]:
    """What is linked or loaded and is not there, and what is loaded from elsewhere."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            if urlsplit(link).scheme or link.startswith("//"):
                if link in page.loaded and not link.startswith("data:"):
                    yield f"{path.name} loads {link}"
                continue
            name, fragment = urldefrag(link)
            target = (path.parent / unquote(urlsplit(name).path)).resolve() if name else path
            if not target.exists():
                yield f"{path.name}: no file for {link}"
            elif fragment and target in pages and unquote(fragment) not in pages[target].ids:
                yield f"{path.name}: no place for {link}"


def test_the_check_of_links_finds_what_is_wrong(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#x">1</a><a href="b.html#y">2</a><a href="c.html">3</a>'
        '<a href="https://e.org"><script src="//e.org/s"></script>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="x">', encoding="utf-8")
    assert list(complaints(tmp_path)) == [
        "a.html: no place for b.html#y",
        "a.html: no file for c.html",
        "a.html loads //e.org/s",
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of a copy of the pages, with one more about a module that is not there; a page that
    the front lists nowhere is an error.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (the extra docs)")
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("_build"))
    (folder / "benchmarks").mkdir()
    shutil.copy(ROOT / "benchmarks" / "README.md", folder / "benchmarks" / "README.md")
    (folder / "docs" / "api" / "not_there.md").write_text(
        "```{eval-rst}\n.. automodule:: lops_adapters.not_there\n```\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "html"]
    (folder / "sitecustomize.py").write_text(HIDDEN, encoding="utf-8")
    places = [str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr  # -W: a warning is an error
    return folder / "html"


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    assert not list(complaints(site))


def test_every_page_is_listed_and_a_page_about_no_module_waits(site):
    links = Page((site / "index.html").read_text(encoding="utf-8")).links
    listed = {urldefrag(link).url for link in links}
    pages = [path.relative_to(DOCS) for path in (*DOCS.glob("*.md"), *DOCS.glob("results/*.md"))]
    wanted = {path.with_suffix(".html").as_posix() for path in pages if path.stem != "index"}
    assert {"findings.html", "results/ranking.html"} <= wanted
    assert listed >= wanted | {"api/index.html"}
    assert not (site / "api" / "not_there.html").exists()
    assert (site / "api" / "core.html").exists()


def test_the_interface_is_described_from_docstrings(site):
    text = (site / "api" / "selection.html").read_text(encoding="utf-8")
    for name in selection.__all__:
        assert f'id="lops_adapters.selection.{name}"' in text or name.isupper(), name
    assert "|D_c|" in (site / "api" / "core.html").read_text(encoding="utf-8")
    text = (site / "api" / "integrations.html").read_text(encoding="utf-8")
    for module in ("huggingface", "keras"):
        assert f'id="lops_adapters.integrations.{module}.LopsCallback"' in text


def test_results_of_a_search_stand_page_by_page(site):
    loaded = Page((site / "search.html").read_text(encoding="utf-8")).loaded
    assert "_static/search.js" in {name.partition("?")[0] for name in loaded}


def test_figures_are_in_the_results(site):
    pages = [Page(path.read_text(encoding="utf-8")) for path in (site / "results").glob("*.html")]
    loaded = {Path(name).name for page in pages for name in page.loaded if name.endswith(".svg")}
    assert loaded == {path.name for path in (DOCS / "figures").glob("*.svg")}


def test_the_quick_start_runs(tmp_path, monkeypatch):
    """Both blocks, in order, next to a table of the name that the page uses."""
    blocks = re.findall(
        r"```python\n(.*?)```", (DOCS / "index.md").read_text(encoding="utf-8"), re.DOTALL
    )
    rows = [f"goal match team {number},sports" for number in range(20)]
    rows += [f"vote law senate {number},politics" for number in range(20)]
    monkeypatch.chdir(tmp_path)
    Path("tickets.csv").write_text("\n".join(["body,category", *rows]) + "\n", encoding="utf-8")
    names = {}
    assert len(blocks) == 2
    exec(blocks[0], names)
    assert {names["labels"][i] for i in names["selection"].kept} == {"sports", "politics"}
    assert len(names["train"]) == len(names["selection"].corrected)
    exec(blocks[1], names)
    assert {names["labels"][i] for i in names["trusted"]} == {"sports", "politics"}
