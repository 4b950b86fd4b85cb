"""Optional libraries: what a user reads if one is missing or broken, and the extras it names."""

import builtins
import configparser
import json
import re
import sys
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from types import SimpleNamespace

import pytest

import lops_adapters
from lops_adapters import extras
from lops_adapters.core import LopsError

SETUP = Path(lops_adapters.__file__).parents[1] / "setup.cfg"


def distributions():
    """Extra -> names of all distributions that it installs, those of its own extras included."""
    parser = configparser.ConfigParser()
    parser.read(SETUP, encoding="utf-8")
    listed = {
        extra: [line for line in lines.splitlines() if line and not line.startswith("#")]
        for extra, lines in parser["options.extras_require"].items()
    }

    def names(extra):
        for line in listed[extra]:
            inner = re.fullmatch(r"lops_adapters\[(.*)\]", line)
            if inner:
                for name in inner[1].split(","):
                    yield from names(name.strip())
            else:
                yield re.split(r"[<>=!~;\[ ]", line, maxsplit=1)[0].replace("-", "_").lower()

    return {extra: set(names(extra)) for extra in listed}


def test_every_library_names_an_extra_that_installs_it():
    installs = distributions()
    for library, (name, extra) in extras.LIBRARIES.items():
        assert name
        if extra is not None:
            assert library in installs[extra], f"{extra} does not install {library}"


def test_no_extra_installs_the_others():
    others = {library for library, (_, extra) in extras.LIBRARIES.items() if extra is None}
    for extra, found in distributions().items():
        assert extra == "dev" or not others & found, f"{extra} installs {others & found}"


def test_a_library_that_is_there():
    extras.require("This", ["json", "numpy"])
    assert extras.load("json", "This") is json


@pytest.fixture
def absent(monkeypatch):
    """Make a library look as if it is not installed."""

    def hide(library):
        for name in [name for name in sys.modules if name.split(".")[0] == library]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, library, None)

    return hide


@pytest.mark.parametrize("library", sorted(extras.LIBRARIES))
def test_missing(library, absent):
    absent(library)
    name, extra = extras.LIBRARIES[library]
    package = extras.with_extras(extra) if extra else library
    message = f"The oracle needs {name}, which is not installed; run: pip install {package}"
    for module in (library, f"{library}.parts"):
        with pytest.raises(LopsError, match=f"^{re.escape(message)}$"):
            extras.load(module, "The oracle")
    with pytest.raises(LopsError, match=f"^{re.escape(message)}$"):
        extras.require("The oracle", ["json", library])


def test_what_pip_installs(monkeypatch, tmp_path):
    """A clone by its folder, from anywhere, also after `pip install .`; a release by its name."""
    clone = Path(extras.__file__).resolve().parents[1]
    monkeypatch.chdir(clone)
    assert extras.with_extras("keras") == "'.[keras]'"
    monkeypatch.chdir(tmp_path)
    assert extras.with_extras("keras") == f"'{clone}[keras]'"
    (tmp_path / "site" / "lops_adapters").mkdir(parents=True)
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "site" / "lops_adapters" / "extras.py"))
    origin = json.dumps({"url": clone.as_uri(), "dir_info": {}})
    for stored, wanted in ((origin, f"{clone}[keras]"), (None, "lops_adapters[keras]")):
        installed = SimpleNamespace(read_text=lambda _, stored=stored: stored)
        monkeypatch.setattr(extras, "distribution", lambda _, found=installed: found)
        assert extras.with_extras("keras") == f"'{wanted}'"


def test_the_extra_can_be_given(absent):
    absent("torch")
    for act in (
        lambda: extras.load("torch", "ConWea", "conwea"),
        lambda: extras.require("ConWea", ["torch"], "conwea"),
    ):
        with pytest.raises(LopsError, match=r"^ConWea needs PyTorch, .*\[conwea\]'$"):
            act()


def test_a_broken_library_says_why(monkeypatch, tmp_path):
    (tmp_path / "cleanlab.py").write_text("import a_library_that_is_not_there\n")
    monkeypatch.delitem(sys.modules, "cleanlab", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LopsError) as error:
        extras.load("cleanlab", "The page")
    assert str(error.value) == (
        "The page needs cleanlab, which cannot be imported (No module named "
        "'a_library_that_is_not_there'); run: pip install " + extras.with_extras("cleanlab")
    )
    extras.require("The page", ["cleanlab"])  # only load() imports it


def test_other_errors_of_an_import_pass_through(monkeypatch, tmp_path):
    (tmp_path / "cleanlab.py").write_text("raise RuntimeError('no driver')\n")
    monkeypatch.delitem(sys.modules, "cleanlab", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeError, match="no driver"):
        extras.load("cleanlab", "The page")


def test_require_imports_nothing(monkeypatch):
    monkeypatch.setattr(builtins, "__import__", lambda *args, **kwargs: pytest.fail("imported"))
    extras.require("This", ["wave", "json"])


def test_versions():
    found = extras.versions()
    assert list(found) == ["python", *extras.RECORDED]
    assert found["python"] == python_version()
    assert found["numpy"] == version("numpy")
    assert found["lops_adapters"] == version("lops_adapters")
    json.dumps(found)


def test_versions_of_what_is_not_installed(monkeypatch):
    monkeypatch.setattr(extras, "RECORDED", ("numpy", "no-such-distribution"))
    assert extras.versions()["no-such-distribution"] is None
