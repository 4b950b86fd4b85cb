"""``lops vendor``: copies that say what they are."""

import subprocess
import sys

import pytest

from lops_adapters import core
from lops_adapters.core import LopsError
from lops_adapters.vendoring import copies


def test_a_copy_selects(tmp_path):
    copies.vendor(tmp_path)
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import lops_core
order = lops_core.LearningOrder(["a", "b"])
order.observe(["a", "b"])
print(order.select().kept, lops_core.__file__)
"""
    command = [sys.executable, "-I", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == f"[0 1] {tmp_path / 'lops_core.py'}"


def test_current_old_edited_foreign(tmp_path):
    path, text = copies.vendor(tmp_path)[0], copies.core_text()
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
    assert copies.version_of(path) == "0.0.1"
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
    path = copies.vendor(tmp_path)[0]
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert copies.state(path, copies.core_text()) == "current"


@pytest.mark.parametrize(
    ("name", "message"),
    [("new", "neither a folder nor a name ending in"), ("new/core.py", "there is no folder")],
)
def test_wrong_destinations(name, message, tmp_path):
    with pytest.raises(LopsError, match=message):
        copies.vendor(tmp_path / name)
