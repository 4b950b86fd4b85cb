"""Real frames of pandas 1.5 to 3.1 (fixtures/make_frames.py) and hand-written ones of older pandas.

pandas 0.25 and older do not install on the Pythons supported here, so their pickles are put
together opcode by opcode, from the form those versions wrote: a BlockManager whose state is a tuple
with the entry "0.14.1".
"""

import math
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.datasets.safe_pickle import read_frame

from .opcodes import (
    NONE,
    TRUE,
    array,
    arrow,
    arrow_frame,
    call,
    dtype,
    frame,
    many,
    name,
    old_text,
    places,
    simple,
    text,
)

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.pkl"))
TEXTS = ["A goal, a game.", "", "Zürich – markets 株", "line one\nline two"]
LABELS = ["sports", "sports", "business", "business"]


@pytest.fixture
def attempt(tmp_path):
    """Read a pickle given without header and end; give the columns."""

    def read(body, protocol=2):
        path = tmp_path / "df.pkl"
        path.write_bytes(b"\x80" + bytes([protocol]) + body + b".")
        return read_frame(path)

    return read


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_real_frames(path):
    found = read_frame(path)
    kind = path.stem.split("_", 1)[1].removeprefix("arrow_").rsplit("_", 1)[0]
    if kind == "ints":
        assert found == {"sentence": TEXTS, "label": [1, 1, 0, 0], "n": [1.5, 2.0, 0.0, -1.0]}
        assert all(type(label) is int for label in found["label"])
    elif kind == "block":
        assert found == {"text": TEXTS, "label": LABELS, "n": [0, 1, 2, 3], "m": [0, -1, -2, -3]}
    elif kind == "missing":
        assert found["label"] == LABELS
        assert found["text"][::2] == TEXTS[::2]
        assert all(cell is None or math.isnan(cell) for cell in found["text"][1::2])
    elif kind == "all_arrow":
        assert found == {"text": [*TEXTS[:3], None], "label": [1, 1, 0, 0]}
    else:
        assert kind in {"plain", "cut", "dtype_string", "objects", "string_arrow"}
        assert found == {"text": TEXTS, "label": LABELS}


def test_the_real_frames_are_all_there():
    assert len(FIXTURES) == 54
    assert {path.stem.split("_")[0] for path in FIXTURES} == {
        "pandas15",
        "pandas22",
        "pandas30",
        "pandas31",
    }


@pytest.mark.parametrize(
    ("internals", "base"),
    [
        ("pandas.core.internals.managers", "pandas.core.indexes"),
        ("pandas.core.internals", "pandas.core.indexes"),
        ("pandas.core.internals", "pandas.indexes"),
    ],
)
def test_frames_of_old_pandas(attempt, internals, base):
    cells = many(*map(text, [*TEXTS[:3], *LABELS[:3]]))
    whole = old_text(np.array([[5, 6, 7], [8, 9, 200]], "<i8").tobytes("F"))
    blocks = [
        (array([2, 3], cells), places(0, 2)),
        (
            array([2, 3], whole, dtype("i8", "<"), TRUE),
            array([2], old_text(np.array([2, 3], "<i8").tobytes()), dtype("i8", "<")),
        ),
    ]
    found = attempt(
        frame([text("text"), text("label"), text("n"), text("m")], blocks, 3, internals, base)
    )
    assert found == {"text": TEXTS[:3], "label": LABELS[:3], "n": [5, 6, 7], "m": [8, 9, 200]}


def test_frames_of_python_2(attempt):
    cells = many(old_text("Zürich".encode()), old_text(b"plain"))
    blocks = [
        (array([1, 2], cells), places(0, 1)),
        (array([1, 2], old_text(struct.pack(">2h", 255, -2)), dtype("i2", ">")), places(1, 2)),
    ]
    assert attempt(frame([old_text(b"sentence"), old_text(b"n")], blocks, 2)) == {
        "sentence": ["Zürich", "plain"],
        "n": [255, -2],
    }


def test_cells_of_every_kind(attempt):
    scalar = call(
        name("numpy.core.multiarray", "scalar"), dtype("i4", "<"), old_text(struct.pack("<i", 7))
    )
    cells = many(
        name("pandas._libs.missing", "NA"), NONE, TRUE, scalar, b"G" + struct.pack(">d", 0.5)
    )
    assert attempt(simple(cells, 5)) == {"text": [None, None, True, 7, 0.5]}


def test_pandas_is_not_imported():
    code = (
        "import sys; from lops_adapters.datasets.safe_pickle import read_frame; "
        f"[read_frame(path) for path in {[str(path) for path in FIXTURES]!r}]; "
        "print([m for m in ('pandas', 'pyarrow') if m in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_arrow_columns(attempt):
    ends = struct.pack("<5i", 0, 1, 1, 3, 4)
    assert attempt(arrow_frame(arrow("string", 4, 0, None, ends, b"abcd"), 4)) == {
        "text": ["a", "", "bc", "d"]
    }
    assert attempt(arrow_frame(arrow("utf8", 2, 2, b"\x07", ends, b"abcd"), 2)) == {
        "text": ["bc", None]
    }
    assert attempt(arrow_frame(arrow("int16", 2, 1, None, struct.pack("<3h", 5, 6, 7)), 2)) == {
        "text": [6, 7]
    }
