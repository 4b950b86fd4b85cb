"""Pickles that run nothing, but crash, hang or fill the memory of a careless reader.

Each is read by a process with 2 GB of memory, which starts another one with limits of its own.
"""

import pickle
import struct

import numpy as np
import pytest

from lops_adapters.datasets.safe_pickle import read_frame

from ..datasets.opcodes import (
    NONE,
    array,
    arrow,
    build,
    call,
    dtype,
    encoded,
    frame,
    index,
    many,
    mapping,
    name,
    new,
    number,
    places,
    rows,
    several,
    simple,
    text,
)
from .bounded import outcomes

pytestmark = pytest.mark.slow

MANY = 200_000
FRAME_CLASS = name("pandas", "DataFrame")
PAD = text("x" * 4_000_000) + b"0"  # with it, a file may make a million objects
DEEP = PAD + b")" + b"\x85" * 1_000_000
DOUBLED = b")" + b"2\x86" * 60  # 2**60 empty tuples, in 60 objects


def keyed(key):
    return b"}" + key + NONE + b"s"


def long(value):
    raw = value.to_bytes((value.bit_length() + 8) // 8, "little")
    return b"\x8b" + struct.pack("<i", len(raw)) + raw


def memoised(piece, place):
    return piece + b"r" + struct.pack("<I", place)


def again(place):
    return b"j" + struct.pack("<I", place)


def modern(names, blocks, n_rows):
    """A frame as of pandas 1.3 and later."""
    made = [call(name("pandas.core.internals.blocks", "new_block"), *block) for block in blocks]
    axes = many(index(array([len(names)], many(*map(text, names)))), rows(number(n_rows)))
    manager = call(name("pandas.core.internals.managers", "BlockManager"), several(*made), axes)
    return build(new(FRAME_CLASS), mapping(_mgr=manager))


def chunks(n, times):
    """One column of text whose chunk of n rows is repeated."""
    column = arrow("string", n, 0, None, np.arange(n + 1, dtype="<i4").tobytes(), b"x" * n)
    chunk = column[column.index(b"cpyarrow.lib\n_restore_array") : -2]
    repeated = many(memoised(chunk, 0), again(0) * (times - 1))
    made = call(name("pyarrow.lib", "chunked_array"), repeated)
    column = build(new(name("pandas.arrays", "ArrowStringArray")), mapping(_pa_array=made))
    return frame([text("text")], [(column, places(0, 1))], n * times)


def columns(n, n_rows):
    """A frame of n columns which are one array."""
    kind = dtype("i8", "<")
    values = array([1, n_rows], encoded(bytes(8 * n_rows)), kind)
    blocks = [(memoised(values, 9), places(0, 1))]
    blocks += [(again(9), places(place, place + 1)) for place in range(1, n)]
    return modern([f"c{place}" for place in range(n)], blocks, n_rows)


def scalars(n, letters):
    """Cells that are one long string of numpy."""
    raw = memoised(encoded("x".encode("utf-32-le") * letters), 8)
    kind = memoised(dtype(f"U{letters}", "<"), 7)
    scalar = name("numpy.core.multiarray", "scalar")
    cells = [call(scalar, kind, raw), *[call(scalar, again(7), again(8))] * (n - 1)]
    return simple(many(*cells), n)


def overlapping(n):
    """Blocks that all have the same places, and no rows."""
    none = array([n, 0], b"]")
    blocks = [(memoised(none, 9), places(0, n)), *[(again(9), places(0, n))] * n]
    return modern([f"c{place}" for place in range(n)], blocks, 0)


def hostile():
    return {
        "deep tuple": DEEP,
        "deep tuple as a key": keyed(DEEP),
        "deep tuple in a set": b"\x8f(" + DEEP + b"\x90",
        "deep tuple as a cell": simple(many(text("x"), DEEP)),
        "deep objects": PAD
        + FRAME_CLASS
        + b"q\x01"
        + b"h\x01" * MANY
        + b")\x81"
        + b"\x85\x81" * MANY,
        "a hash without end": keyed(DOUBLED),
        "a hash without end in a frozen set": b"(" + DOUBLED + b"\x91",
        "keys with one hash": b"}("
        + b"".join(long(place * (2**61 - 1)) + NONE for place in range(1, 100_000))
        + b"u",
        "a shape of nothing": frame([text("text")], [(array([10**9, 0], b"]"), places(0, 1))], 0),
        "an index of nothing": frame(
            [text("a")], [(array([1, 0], b"]"), array([10**9, 0], b"]"))], 0
        ),
        "nested type name": simple(
            many(text("x"), text("y")), kind=call(name("numpy", "dtype"), DOUBLED)
        ),
        "nested place": frame([text("a")], [(array([1, 1], many(text("x"))), DOUBLED)], 1),
        "nested shape": simple(many(text("x")), kind=dtype()).replace(
            several(number(1), number(2)), DOUBLED
        ),
        "long name": name("os" * 10_000_000, "system"),
        "repeated chunk": chunks(40_000, 50_000),
        "repeated column": columns(20_000, 50_000),
        "repeated string": scalars(50_000, 100_000),
        "repeated places": overlapping(5_000),
        "lists only": b"]" * 3_000_000,
        "dictionaries only": b"}" * 30_000_000,
        "memo only": b"N" + b"\x94" * 3_000_000,
        "marks only": b"(" * 3_000_000,
        "huge integer": simple(many(long(2**8_000_000), text("x"))),
        "huge integer in a shape": simple(many(text("x"), text("y"))).replace(
            several(number(1), number(2)), several(*[long(2**80_000)] * 1000)
        ),
        "length of a string": b"\x8d" + struct.pack("<Q", 2**40) + b"abc",
        "length of bytes": b"\x8e" + struct.pack("<Q", 2**40) + b"abc",
        "rows without end": frame([], [], 0).replace(rows(number(0)), rows(long(2**62))),
        "names are huge integers": build(
            new(name("pandas.core.frame", "DataFrame")),
            mapping(
                _mgr=call(
                    name("pandas.core.internals.managers", "BlockManager"),
                    b")",
                    many(index(array([1], many(long(2**80_000)))), rows(number(0))),
                )
            ),
        ),
    }


def test_each_is_refused_or_read_within_limits(tmp_path):
    bodies, paths = hostile(), []
    for place, body in enumerate(bodies.values()):
        paths.append(tmp_path / f"{place}.pkl")
        paths[-1].write_bytes(b"\x80\x04" + body + b".")
    found = dict(zip(bodies, outcomes(read_frame, paths, seconds=240), strict=True))
    read = [kind for kind, message in found.items() if message is None]
    assert read == ["rows without end"]
    for kind, message in found.items():
        assert message is None or len(message) < 600, kind


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("kind", ["object", "str", "string", "category", "columns"])
def test_every_protocol_is_read(tmp_path, protocol, kind):
    pandas = pytest.importorskip("pandas")
    texts = ["A goal.", "", "Zürich 株\n\\u0041\x1a", "a 'quoted' \"text\""]
    columns = {"text": texts, "label": [1, 0, 1, 0], "score": [0.5, -1.0, 2.0, 1e300]}
    frame = pandas.DataFrame(columns)
    if kind != "columns":
        frame = frame[["text"]].astype({"text": kind})
    path = tmp_path / "df.pkl"
    path.write_bytes(pickle.dumps(frame, protocol=protocol))
    assert read_frame(path) == {name: columns[name] for name in frame.columns}
