"""The patches as files: only our own lines, in a form that git reads, and glue for old Python."""

import ast
import re
import sys

import pytest

from lops_adapters import shipped
from lops_adapters.core import LopsError
from lops_adapters.datasets.layouts import LAYOUTS
from lops_adapters.vendoring import upstreams
from lops_adapters.vendoring.patching import MARKS

from .checkouts import NAMES, SCRIPTS, hunks_of

VENDORING = shipped.HERE / "vendoring"
TOP = VENDORING.parents[1]
GLUE = sorted((VENDORING / "glue").glob("*.py"))
HEADERS = re.compile(
    r"diff --git a/\S+ b/\S+|--- a/\S+|\+\+\+ b/\S+"
    r"|@@ -\d+,0 \+\d+,\d+ @@"
)


@pytest.mark.parametrize("name", NAMES)
def test_only_headers_and_added_lines(name):
    for line in upstreams.load(name).patch.decode().splitlines():
        assert HEADERS.fullmatch(line) or (line.startswith("+") and not line.startswith("+++")), (
            line
        )


@pytest.mark.parametrize("name", NAMES)
def test_every_insertion_is_marked_and_waits_for_the_switch(name):
    inserted = hunks_of(upstreams.load(name))
    for hunk in inserted:
        first, test, *_, last = (line.decode().strip() for line in hunk.lines)
        assert first.startswith(MARKS[0].decode())
        assert last == MARKS[1].decode()
        assert test == 'if os.environ.get("LOPS", "0") not in ("", "0"):'
        block = ast.parse("\n".join(line.decode()[indent(hunk) :] for line in hunk.lines)).body
        assert len(block) == 1
        assert isinstance(block[0], ast.If)
        assert not block[0].orelse
    assert len({hunk.lines for hunk in inserted}) == len(inserted), (
        "undoing finds each insertion by its lines"
    )


def indent(hunk):
    return len(hunk.lines[0]) - len(hunk.lines[0].lstrip())


@pytest.mark.parametrize(
    ("switch", "imported"), [(None, False), ("", False), ("0", False), ("1", True)]
)
def test_switch(switch, imported, monkeypatch):
    source = hunks_of(upstreams.load("conwea"))
    monkeypatch.delenv("LOPS", raising=False)
    if switch is not None:
        monkeypatch.setenv("LOPS", switch)
    program = compile("import os\n" + b"\n".join(source[0].lines).decode(), "patched", "exec")
    if imported:
        with pytest.raises(ModuleNotFoundError, match="lops_conwea"):
            exec(program, {})
    else:
        exec(program, {})


@pytest.mark.parametrize("name", NAMES)
def test_upstream_says_what_it_is(name):
    upstream = upstreams.load(name)
    assert re.fullmatch(r"https://github\.com/\w+/\w+", upstream.repository)
    assert re.fullmatch("[0-9a-f]{40}", upstream.commit)
    assert hunks_of(upstream)
    assert re.fullmatch("[0-9a-f]{40}", upstream.blob)
    assert upstream.licence.split(",")[0] in ("MIT", "Apache-2.0")
    assert upstream.layout in {layout.name for layout in LAYOUTS}
    assert sorted(upstream.companions()) == sorted(
        SCRIPTS[name] + f"lops_{stem}.py" for stem in ("core", "held_out", "shared", name)
    )
    page = (TOP / "docs" / "vendoring.md").read_text(encoding="utf-8")
    assert upstream.commit in page
    assert upstream.repository in page


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no tomllib to compare with")
def test_the_file_of_upstreams_is_toml():
    import tomllib

    tables = tomllib.loads((VENDORING / "upstreams.toml").read_text(encoding="utf-8"))
    assert list(tables) == NAMES
    for name, table in tables.items():
        upstream = upstreams.load(name)
        assert table == {key: getattr(upstream, key) for key in table}


def test_unknown_name_is_refused():
    with pytest.raises(
        LopsError, match="no patch for 'bert'; wanted one of conwea, xclass, westclass, lotclass"
    ):
        upstreams.load("bert")


@pytest.mark.parametrize(
    ("name", "there"), [("patches", "patches"), ("third_party/upstreams.toml", "upstreams.toml")]
)
def test_the_files_at_the_top_are_those_of_the_package(name, there):
    link, copy = TOP / name, VENDORING / there
    assert link.resolve() == copy.resolve() or link.read_text().strip().endswith(
        f"lops_adapters/vendoring/{there}"
    )


def imported(nodes):
    """The packages of import statements."""
    named = (alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names)
    return {name.split(".")[0] for name in named}


@pytest.mark.parametrize("path", GLUE, ids=lambda path: path.stem)
def test_glue_imports_what_is_there(path):
    """Vendored files, numpy and Python 3.6's library; torch where the repository has it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = imported(ast.walk(tree)) | {
        node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    assert modules <= {
        "contextlib", "copy", "os", "pickle", "random", "sys", "typing", "numpy", "lops_core",
        "lops_held_out", "lops_shared", "torch",
    }  # fmt: skip
    assert "torch" not in imported(tree.body) or path.stem in ("lops_xclass", "lops_lotclass")
