"""The wheel and ``make demo`` (``make test-integrations``) on every Python of the package."""

import configparser
import os
import re
import shutil
import subprocess
import sys
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

import lops_adapters

from ..test_packaging import ROOT, copy_checkout

VERSIONS = ("3.10", "3.11", "3.12", "3.13")

pytestmark = pytest.mark.skipif(
    "LOPS_WHEEL" not in os.environ, reason="it installs from the index, see make test-integrations"
)


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-2000:]
    return done.stdout


def interpreter(version):
    """The path of a Python of this version that starts, pyenv's too; None: the machine has none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [sys.executable] if sys.version.startswith(f"{version}.") else []
    found += [shutil.which(f"python{version}"), *pyenv.glob(f"{version}.*/bin/python")]
    for python in filter(None, found):
        command = [python, "-c", "import ensurepip, venv"]
        if not subprocess.run(command, capture_output=True, check=False).returncode:
            return python
    return None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    copy_checkout(folder / "source", keep_links=True)
    command = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "out", "./source")
    run(sys.executable, *command, cwd=folder)
    (built,) = (folder / "out").iterdir()
    return built


def test_the_metadata_are_complete(wheel):
    with ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    about = settings["metadata"]
    assert metadata["Version"] == lops_adapters.__version__
    assert metadata["Summary"] == about["description"]
    assert metadata["Author"] == about["author"]
    assert metadata["Requires-Python"] == settings["options"]["python_requires"]
    assert metadata.get_all("Classifier") == about["classifiers"].strip().splitlines()
    for version in VERSIONS:
        assert f"Programming Language :: Python :: {version}" in metadata.get_all("Classifier")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [metadata["Version"]]


@pytest.fixture(params=VERSIONS)
def python(request):
    found = interpreter(request.param)
    return found or pytest.skip(f"this machine has no Python {request.param}")


def test_the_wheel_installs_and_selects(wheel, python, tmp_path):
    run(python, "-m", "venv", "env", cwd=tmp_path)
    programs = tmp_path / "env" / "bin"
    run(programs / "python", "-m", "pip", "install", "--quiet", "--no-compile", wheel, cwd=tmp_path)
    assert "select" in run(programs / "lops", "--help", cwd=tmp_path)
    table = ["text,label"]
    for number in range(60):
        table += [f"goal match coach {number},sports", f"bank shares profit {number},money"]
    (tmp_path / "table.csv").write_text("\n".join([*table, ""]), encoding="utf-8")
    command = ("select", "table.csv", "--text", "text", "--label", "label")
    assert "120" in run(programs / "lops", *command, cwd=tmp_path)
    assert (tmp_path / "table-lops" / "train.csv").exists()


@pytest.mark.parametrize("python", VERSIONS[:1], indirect=True)
def test_a_python_older_than_the_constraints_installs_without_them(python, tmp_path):
    env = tmp_path / "env"
    run("make", f"VENV={env}", f"PYTHON={python}", f"{env}/.demo", cwd=ROOT)
    assert lops_adapters.__version__ in run(env / "bin" / "lops", "--version", cwd=tmp_path)
