"""Files of strangers are opened in one place, which refuses what may never end."""

import ast
import os
from pathlib import Path

import pytest

import lops_adapters
from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset

ROOT = Path(lops_adapters.__file__).parent
LAYOUTS = {
    "dataset.txt": ["classes.txt"],
    "classes.txt": ["dataset.txt"],
    "train.txt": ["label_names.txt"],
    "label_names.txt": ["train.txt"],
    "dataset.csv": ["classes.txt"],
    "df.pkl": [],
}


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_file_of_a_layout_that_never_ends(tmp_path, name, kind):
    for other in LAYOUTS[name]:
        (tmp_path / other).write_text("0:x\n1:y\n" if name == "dataset.csv" else "x\ny\n")
    if kind == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(LopsError, match="is a pipe or a device; wanted a file"):
        load_dataset(tmp_path)


def test_seed_words_in_a_pipe(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\n")
    os.mkfifo(tmp_path / "seeds.json")
    with pytest.raises(LopsError, match="is a pipe or a device"):
        load_dataset(tmp_path / "a.csv", seeds=tmp_path / "seeds.json")


@pytest.mark.parametrize("room", ["formats", "datasets", "labels", "tables"])
def test_no_other_place_opens_a_file_to_read(room):
    """Except for what a download has just written; pyarrow opens what was looked at before."""
    found = []
    for path in sorted((ROOT / room).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                modes = [one.value for one in node.args if isinstance(one, ast.Constant)]
                reads = node.func.attr in ("read_bytes", "read_text") or "rb" in modes
                found += [path.name] if reads else []
    assert set(found) <= {"download.py", "parquet.py", "pickle_reader.py"}
