import io
import tarfile
from pathlib import Path

import pytest

FRAME = (Path(__file__).parent / "fixtures" / "pandas15_arrow_plain_p5.pkl").read_bytes()


def write_archive(path, messages, prefix=""):
    """Write a packed tar archive of files, name to bytes, and return its path."""
    with tarfile.open(path, "w:gz") as file:
        for name, content in messages.items():
            member = tarfile.TarInfo(prefix + name)
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """No data folder and an empty cache; returns the cache."""
    monkeypatch.delenv("LOPS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lops_adapters"


@pytest.fixture
def put(tmp_path):
    """Write files below a folder: put("folder", {"name": text or bytes}) -> the folder."""

    def write(folder, files):
        root = tmp_path / folder
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return root

    return write
