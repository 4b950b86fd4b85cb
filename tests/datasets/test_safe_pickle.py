"""Real frames of pandas 0.25 to 3.1 (fixtures/make_frames.py), hand-written ones of older pandas.

The latter are put together opcode by opcode, from the form that those versions wrote: a
BlockManager whose state is a tuple with the entry "0.14.1".
"""

import io
import math
import struct
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.datasets.pickle_reader import read_columns
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


def attempt(body):
    """Read a pickle given without header and end; give the columns."""
    content = b"\x80\x02" + body + b"."
    return read_columns(io.BytesIO(content), len(content))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_real_frames(path):
    found = read_columns(io.BytesIO(path.read_bytes()), path.stat().st_size)
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
    elif kind == "category":
        assert found == {"text": TEXTS, "label": [*LABELS[:3], None]}
    elif kind == "all_arrow":
        assert found == {"text": [*TEXTS[:3], None], "label": [1, 1, 0, 0]}
    else:
        assert kind in {"plain", "cut", "dtype_string", "objects", "string_arrow"}
        assert found == {"text": TEXTS, "label": LABELS}


@pytest.mark.parametrize(
    ("internals", "base"),
    [("pandas.core.internals", "pandas.core.indexes"), ("pandas.core.internals", "pandas.indexes")],
)
def test_frames_of_old_pandas(internals, base):
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


def test_frames_of_python_2():
    cells = many(old_text("Zürich".encode()), old_text(b"plain"))
    blocks = [
        (array([1, 2], cells), places(0, 1)),
        (array([1, 2], old_text(struct.pack(">2h", 255, -2)), dtype("i2", ">")), places(1, 2)),
    ]
    assert attempt(frame([old_text(b"sentence"), old_text(b"n")], blocks, 2)) == {
        "sentence": ["Zürich", "plain"],
        "n": [255, -2],
    }


def test_cells_of_every_kind():
    scalar = call(
        name("numpy.core.multiarray", "scalar"), dtype("i4", "<"), old_text(struct.pack("<i", 7))
    )
    cells = many(
        name("pandas._libs.missing", "NA"), NONE, TRUE, scalar, b"G" + struct.pack(">d", 0.5)
    )
    assert attempt(simple(cells, 5)) == {"text": [None, None, True, 7, 0.5]}


def test_the_reader_needs_nothing_of_the_caller(monkeypatch, tmp_path):
    """Neither its folder nor its environment; so it has no site packages, pandas included."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "json.py").write_text("raise SystemExit(1)")
    path = Path(__file__).parent / "fixtures" / "pandas30_plain_p5.pkl"
    assert read_frame(path) == {"text": TEXTS, "label": LABELS}


def test_arrow_columns():
    ends = struct.pack("<5i", 0, 1, 1, 3, 4)
    assert attempt(arrow_frame(arrow("string", 4, 0, None, ends, b"abcd"), 4)) == {
        "text": ["a", "", "bc", "d"]
    }
    assert attempt(arrow_frame(arrow("utf8", 2, 2, b"\x07", ends, b"abcd"), 2)) == {
        "text": ["bc", None]
    }
    assert attempt(arrow_frame(arrow("double", 1, 1, None, struct.pack("<2d", 5, 0.5)), 1)) == {
        "text": [0.5]
    }
    assert attempt(arrow_frame(arrow("int16", 2, 1, None, struct.pack("<3h", 5, 6, 7)), 2)) == {
        "text": [6, 7]
    }
