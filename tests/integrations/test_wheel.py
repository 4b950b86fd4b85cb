"""The wheel installs and runs on every supported Python of this machine (``make
test-integrations``): without a clone, with what pip brings.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lops_adapters.core import __version__

from ..test_packaging import ROOT, build, copy_checkout

VERSIONS = ("3.10", "3.11", "3.12", "3.13")
TESTED = VERSIONS[1:]  # of constraints.txt

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("WHEEL" not in os.environ, reason="make test-integrations installs wheels"),
]


def run(*words, folder):
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def interpreter(version):
    """An interpreter of a version that starts: on the path, or of pyenv; None: there is none."""
    found = [shutil.which(f"python{version}")]
    found += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for path in filter(None, found):
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if said.stdout.startswith(f"Python {version}."):
            return path
    return None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    return build("wheel", copy_checkout(folder / "checkout", keep_links=True), folder / "out")


@pytest.mark.parametrize("version", VERSIONS)
def test_it_installs_and_runs(version, wheel, tmp_path):
    if (python := interpreter(version)) is None:
        pytest.skip(f"no Python {version} on this machine")
    run(python, "-m", "venv", "here", folder=tmp_path)
    place = tmp_path / "here" / "bin"
    known = ["--constraint", ROOT / "constraints.txt"] if version in TESTED else []
    run(place / "python", "-m", "pip", "install", "--quiet", *known, wheel, folder=tmp_path)
    assert run(place / "lops", "--version", folder=tmp_path) == f"lops_adapters {__version__}\n"
    run(place / "lops", "demo", "--output", "demo", folder=tmp_path)
    assert (tmp_path / "demo" / "train.csv").is_file()
