import json
import os
import subprocess
import sys

import pytest

from lops_adapters.surroundings import commit_of, threads

SHOW = (
    "import json, sys; import lops_adapters.surroundings as here; "
    "print(json.dumps([here.threads(), 'torch' in sys.modules]))"
)


def test_threads_in_effect():
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-c", SHOW]
    said = subprocess.run(command, capture_output=True, check=True, env={**os.environ, **one})
    found, has_torch = json.loads(said.stdout)
    assert (found["openmp"], found["blas"], found["torch"], has_torch) == (1, 1, None, False)
    assert found["processors"] >= 1


def test_threads_that_are_asked_for(monkeypatch):
    """While no library has loaded OpenMP."""
    monkeypatch.setattr("threadpoolctl.threadpool_info", list)
    for words in ("", "many", "0"):
        monkeypatch.setenv("OMP_NUM_THREADS", words)
        found = threads()
        assert found["openmp"] == found["processors"]
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert threads()["openmp"] == 3


def test_threads_of_torch():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert threads()["torch"] == 2
    finally:
        torch.set_num_threads(before)


def test_the_commit_is_of_the_packages_own_files(tmp_path):
    """A later commit and a new file elsewhere change nothing, an edited file of it does."""

    def git(*arguments):
        name = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *name, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    package = tmp_path / "package"
    assert commit_of(tmp_path) == {"git_commit": None, "edited": None}
    git("init", "-q")
    package.mkdir()
    for folder, name in ((package, "code.py"), (tmp_path, "result.json")):
        (folder / name).write_text("1")
        git("add", name if folder == tmp_path else f"package/{name}")
        git("commit", "-q", "-m", name)
    first = git("rev-parse", "HEAD~1")
    assert commit_of(package) == {"git_commit": first, "edited": False}
    (tmp_path / "other.json").write_text("2")
    assert commit_of(package) == {"git_commit": first, "edited": False}
    (package / "code.py").write_text("2")
    assert commit_of(package) == {"git_commit": first, "edited": True}
