"""A source archive and wheels: complete, also where symbolic links are lost."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import lops_adapters

ROOT = Path(lops_adapters.__file__).parents[1]
PACKAGE = ROOT / "lops_adapters"
LINKS = {
    "patches": "lops_adapters/vendoring/patches",
    "third_party/upstreams.toml": "../lops_adapters/vendoring/upstreams.toml",
}
SUFFIXES = {".py", ".typed", ".css", ".js", ".toml", ".patch", ".json", ".jsonl", ".md"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("setuptools") is None, reason="setuptools is not installed"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a checkout"),
]


def copy_checkout(target, keep_links):
    """Copy the files that git knows; ``keep_links=False``: as git writes them without links."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        source, path = ROOT / name, target / name
        if not name or not os.path.lexists(source) or name.split("/")[0] in ("tests", "benchmarks"):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink() and not keep_links:
            path.write_text(os.readlink(source))
        else:
            shutil.copy2(source, path, follow_symlinks=False)
    return target


def build(kind, folder, output):
    """Build an sdist or a wheel from a folder, offline, with the installed setuptools."""
    output.mkdir()
    code = (
        "import sys; from setuptools import build_meta; "
        f"print(build_meta.build_{kind}(sys.argv[1]), file=sys.stderr)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(output)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (built,) = output.iterdir()
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The unpacked source archive of this checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    archive = build("sdist", copy_checkout(folder / "checkout", keep_links=True), folder / "out")
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return unpacked


def package_files():
    """Contents of all files of the package that a wheel has to hold, by path."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix in SUFFIXES and "__pycache__" not in path.parts
    }


def wheel_files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def missing_or_changed(wheel):
    found = wheel_files(wheel)
    return sorted(name for name, data in package_files().items() if found.get(name) != data)


def test_the_list_of_files_is_not_empty():
    files = set(package_files())
    for pattern in (
        "py.typed",
        "report/*.css",
        "report/*.js",
        "datasets/published.json",
        "datasets/demo/*",
        "vendoring/upstreams.toml",
        "vendoring/glue/*.py",
        "vendoring/patches/*.patch",
    ):
        found = {path.relative_to(ROOT).as_posix() for path in PACKAGE.glob(pattern)}
        assert found, pattern
        assert found <= files, pattern


def test_the_package_holds_the_real_files_and_the_checkout_links_to_them():
    for link, target in LINKS.items():
        assert os.readlink(ROOT / link) == target
        assert (ROOT / link).resolve() == (ROOT / link).parent.joinpath(target).resolve()
    assert not [path for path in PACKAGE.rglob("*") if path.is_symlink()]


def test_the_source_archive_holds_real_files_instead_of_links(sdist):
    assert not [path for path in sdist.rglob("*") if path.is_symlink()]
    patches = sorted((PACKAGE / "vendoring" / "patches").glob("*.patch"))
    assert [path.name for path in patches] == sorted(p.name for p in (sdist / "patches").iterdir())
    for path in patches:
        assert (sdist / "patches" / path.name).read_bytes() == path.read_bytes()
    toml = (PACKAGE / "vendoring" / "upstreams.toml").read_bytes()
    assert (sdist / "third_party" / "upstreams.toml").read_bytes() == toml
    for name in ("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "third_party/README.md"):
        assert (sdist / name).read_bytes() == (ROOT / name).read_bytes()
    assert not (sdist / "tests").exists()


def test_a_wheel_of_the_source_archive_is_complete(sdist, tmp_path):
    wheel = build("wheel", sdist, tmp_path / "out")
    assert not missing_or_changed(wheel)
    found = wheel_files(wheel)
    (metadata,) = (data for name, data in found.items() if name.endswith(".dist-info/METADATA"))
    assert (ROOT / "README.md").read_text(encoding="utf-8").strip() in metadata.decode()
    (scripts,) = (data for name, data in found.items() if name.endswith("entry_points.txt"))
    assert b"lops = lops_adapters.cli.main:main" in scripts
    tops = {name.split("/")[0] for name in found}
    assert tops == {"lops_adapters", f"lops_adapters-{lops_adapters.__version__}.dist-info"}


def test_a_wheel_of_a_checkout_without_links_is_complete(tmp_path):
    checkout = copy_checkout(tmp_path / "checkout", keep_links=False)
    for link, target in LINKS.items():
        assert (checkout / link).read_text() == target
    assert not missing_or_changed(build("wheel", checkout, tmp_path / "out"))
