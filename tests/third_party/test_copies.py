"""Copied files say what they are."""

from pathlib import Path

from lops_adapters import core
from lops_adapters.vendoring import copies

TEXT = Path(core.__file__).read_text(encoding="utf-8")


def copied(folder):
    path = folder / "lops_core.py"
    path.write_text(copies.stamped(TEXT, "lops_adapters/core.py"), encoding="utf-8")
    return path


def test_current_old_edited_foreign(tmp_path):
    path, text = copied(tmp_path), TEXT
    assert copies.state(path, text) == "current"
    path.write_text(path.read_text() + "\n", encoding="utf-8")
    assert copies.state(path, text) == "edited"
    path.write_text(
        copies.stamped(text.replace("LOPS", "SPOL"), "lops_adapters/core.py").replace(
            core.__version__, "0.0.1"
        )
    )
    assert copies.state(path, text) == "edited", "the stamp is not of this text"
    path.write_text(
        copies.stamped("import numpy\n", "lops_adapters/core.py").replace(core.__version__, "0.0.1")
    )
    assert copies.state(path, text) == "old"
    path.write_text(text)
    assert copies.state(path, text) == "current", "copied by hand"
    for other in (b"print()\n", b"\xff\xfe"):
        path.write_bytes(other)
        assert copies.state(path, text) == "foreign"
    path.unlink()
    assert copies.state(path, text) == "missing"
    path.mkdir()
    assert copies.state(path, text) == "foreign"


def test_windows_line_ends_are_no_edit(tmp_path):
    path = copied(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert copies.state(path, TEXT) == "current"
