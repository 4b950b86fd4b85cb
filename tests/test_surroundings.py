import os
import subprocess
import sys

import pytest

from lops_adapters.surroundings import commit_of, threads

SHOW = (
    "import json, sys; import lops_adapters.surroundings as here; "
    "print(json.dumps([here.threads(), 'torch' in sys.modules]))"
)


def asked(**environment):
    import json

    kept = {name: value for name, value in os.environ.items() if not name.endswith("_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        capture_output=True,
        text=True,
        check=True,
        env={**kept, **environment},
    )
    return json.loads(done.stdout)


def test_threads_in_effect():
    found, has_torch = asked(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    assert (found["openmp"], found["blas"], found["torch"], has_torch) == (1, 1, None, False)
    assert found["processors"] >= 1
    for words in ("", "many", "0"):
        found, _ = asked(OMP_NUM_THREADS=words)
        assert found["openmp"] == found["processors"]
    assert asked(OMP_NUM_THREADS="3,2")[0]["openmp"] == 3


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
