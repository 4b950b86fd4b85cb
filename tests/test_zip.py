"""The package from a zip file: commands run, and find the package's data files."""

import subprocess
import sys
import zipfile

import pytest

from lops_adapters import shipped

from .noisy import noisy_rows, write_table

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
archive, *arguments = sys.argv[1:]
sys.path.insert(0, archive)
import lops_adapters
from lops_adapters.cli.main import main
assert lops_adapters.__file__.startswith(archive), lops_adapters.__file__
sys.exit(main(arguments))
"""
PICKLE = shipped.HERE.parent / "tests" / "datasets" / "fixtures" / "pandas30_plain_p5.pkl"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "package.zip"
    with zipfile.ZipFile(path, "w") as file:
        for one in shipped.HERE.rglob("*"):
            if one.is_file() and one.suffix != ".pyc":
                file.write(one, one.relative_to(shipped.HERE.parent))
    return path


@pytest.mark.parametrize(
    "arguments",
    ["--help", "select t.csv --text text --label weak --output out", "demo", "vendor ."],
)
def test_commands(archive, tmp_path, monkeypatch, arguments):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_table(tmp_path / "t.csv", noisy_rows(n=40))
    command = [sys.executable, "-c", PROGRAM, str(archive), *arguments.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_frames_and_patches(archive):
    """Files of the package that are run by another process, and that are copied."""
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "from lops_adapters.datasets.safe_pickle import read_frame\n"
        "from lops_adapters.vendoring import upstreams\n"
        f"assert read_frame({str(PICKLE)!r})\n"
        "assert all(upstreams.load(name).companions() for name in upstreams.names())\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
