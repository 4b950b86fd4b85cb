"""Harmful and odd pickles: each is refused and nothing of it is run."""

import copyreg
import gzip
import os
import pickle
import random
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets.pickle_records import KNOWN, Record
from lops_adapters.datasets.safe_pickle import read_frame

from .opcodes import (
    NONE,
    array,
    arrow,
    arrow_frame,
    build,
    call,
    dtype,
    frame,
    many,
    mapping,
    name,
    new,
    old_text,
    places,
    several,
    simple,
    text,
)

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.pkl"))

_events: list[str] | None = None


def _watch(event, args):
    watched = ("exec", "compile", "os.system", "subprocess.Popen", "os.exec", "pickle.find_class")
    # Python itself may import the codec of protocol 0 strings.
    if (
        _events is not None
        and event in watched
        and "encodings" not in getattr(args[0], "co_filename", "")
    ):
        _events.append(event)


sys.addaudithook(_watch)


@pytest.fixture
def refused(tmp_path):
    """Read a pickle that must be refused without anything run; give the message."""

    def read(content):
        global _events  # noqa: PLW0603
        path = tmp_path / "df.pkl"
        path.write_bytes(content)
        _events = []
        try:
            with pytest.raises(LopsError) as caught:
                read_frame(path)
            ran = list(_events)
        finally:
            _events = None
        assert ran == []
        assert str(path) in str(caught.value)
        assert "CSV or Parquet" in str(caught.value)
        return str(caught.value)

    return read


class Runs:
    def __init__(self, function, *args):
        self.parts = (function, args)

    def __reduce__(self):
        return self.parts


@pytest.mark.parametrize("protocol", range(6))
def test_a_function_in_a_reduce(refused, protocol, tmp_path):
    mark = tmp_path / "ran"
    message = refused(pickle.dumps(Runs(os.system, f"touch {mark}"), protocol=protocol))
    assert f"asks for {os.system.__module__}.system" in message
    assert not mark.exists()


@pytest.mark.parametrize("function", [eval, exec, getattr, setattr, __import__, open, type, print])
def test_builtins(refused, function):
    assert re.search(
        rf"asks for (builtins|_?io)\.{function.__name__},",
        refused(pickle.dumps(Runs(function, "1"), protocol=4)),
    )


@pytest.mark.parametrize(
    "kind", [list, lambda run: np.array([run, "x"], dtype=object)], ids=["list", "array"]
)
def test_a_function_within_cells(refused, kind):
    run = Runs(os.system, "true")
    nested = kind([run]) if kind is list else kind(run)
    assert "asks for" in refused(pickle.dumps(nested, protocol=4))


def test_a_function_within_the_cells_of_a_frame(refused):
    body = simple(many(text("x"), call(name("os", "system"), text("true"))))
    assert "asks for os.system" in refused(b"\x80\x02" + body + b".")


@pytest.mark.parametrize(
    ("module", "attribute"),
    [
        ("pandas", "core.frame.DataFrame"),
        ("pandas", "DataFrame.to_pickle"),
        ("pandas", "io.common.os.system"),
        ("pandas.core.frame.DataFrame", "__init__"),
        ("numpy.core.multiarray", "_reconstruct.__globals__"),
        ("numpy", "ndarray.__reduce__"),
        ("numpy", "load"),
        ("numpy.testing._private.utils", "runstring"),
        ("pandas", "read_pickle"),
        ("pandas", "eval"),
        ("builtins", "slice.__class__"),
        ("numpy.core", "multiarray._reconstruct"),
        ("copyreg", "_reconstructor"),
        ("lops_adapters.datasets.pickle_records", "Record"),
    ],
)
def test_names_near_the_known_ones(refused, module, attribute):
    stacked = b"\x80\x04" + text(module) + text(attribute) + b"\x93)R."
    assert f"asks for {module}.{attribute}" in refused(stacked)
    assert f"asks for {module}.{attribute}" in refused(
        b"\x80\x02" + name(module, attribute) + b")R."
    )


def test_unusual_opcodes(refused, monkeypatch):
    # An extension that is cached is handed out without asking for its name.
    copyreg.add_extension("os", "system", 250)
    try:
        pickle.loads(b"\x80\x02\x82\xfa.")
        for body in (
            b"\x82\xfa(X\x04\x00\x00\x00truetR.",
            b"\x83\xfa\x00.",
            b"\x84\xfa\x00\x00\x00.",
        ):
            assert "the pickle uses EXT" in refused(b"\x80\x02" + body)
    finally:
        copyreg.remove_extension("os", "system", 250)
    assert "the pickle uses INST" in refused(b"(S'true'\nios\nsystem\n.")
    assert "the pickle uses OBJ" in refused(b"(cpandas\nDataFrame\nS'true'\no.")
    assert "the pickle asks for os.system" in refused(b"(cos\nsystem\nS'true'\no.")
    assert "the pickle uses PERSID" in refused(b"Pos.system\n.")
    assert "the pickle uses NEWOBJ_EX" in refused(
        b"\x80\x04" + name("pandas", "DataFrame") + b")}\x92."
    )


def test_a_memo_of_all_memory(refused):
    assert "memo index 2147483647" in refused(b"\x80\x02]r\xff\xff\xff\x7f.")
    assert "memo index 4000000000" in refused(b"]p4000000000\n.")


FRAME_CLASS = name("pandas", "DataFrame")


@pytest.mark.parametrize(
    "body",
    [
        build(FRAME_CLASS, mapping(_mgr=NONE)),
        build(FRAME_CLASS, several(NONE, mapping(__init__=NONE))),
        build(new(FRAME_CLASS), several(NONE, mapping(args=NONE))),
        build(new(FRAME_CLASS), mapping(__class__=NONE)),
        build(new(FRAME_CLASS), text("x")),
        build(new(FRAME_CLASS), mapping(_mgr=FRAME_CLASS)),
        build(
            new(FRAME_CLASS),
            mapping(_mgr=call(name("pandas.core.internals.managers", "BlockManager"), NONE, NONE)),
        ),
        new(FRAME_CLASS) + b")R",
        call(call(FRAME_CLASS)),
        new(FRAME_CLASS) + text("x") + text("y") + b"s",
        new(FRAME_CLASS) + text("x") + b"a",
        FRAME_CLASS + b"(" + text("args") + NONE + b"u",
        call(text("x")),
        new(text("x")),
        FRAME_CLASS,
        b"]q\x000h\x00",
        NONE,
    ],
)
def test_odd_uses_of_the_stand_ins(refused, body):
    before = {kind: dict(vars(kind)) for kind in {Record, *KNOWN.values()}}
    refused(b"\x80\x02" + body + b".")
    assert {kind: dict(vars(kind)) for kind in before} == before


def test_stand_ins_cannot_be_called_or_filled():
    for kind in {Record, *KNOWN.values()}:
        methods = ("append", "extend", "add", "__setitem__", "__getattr__", "__dict__")
        assert not callable(kind())
        assert not any(hasattr(kind(), method) for method in methods)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (simple(many(b"]q\x00h\x00a", text("x"))), "a cell holds a list"),
        (simple(many(text("x"), new(FRAME_CLASS))), "a cell holds a Frame"),
        (simple(many(text("x"), name("numpy", "ndarray"))), "a cell holds the class ArrayType"),
        (simple(many(text("x"))), "not as long as its shape says"),
        (
            simple(many(text("x")), 1) + b"0" + simple(many(text("x"), text("y")), 3),
            "not as long as its shape says",
        ),
        (simple(text("xy")), "not as long as its shape says"),
        (simple(old_text(b"1234567"), kind=dtype("i4", "<")), "not as long as its shape says"),
        (simple(old_text(b"12345678"), kind=dtype("M8", "<")), "the type 'M8'"),
        (simple(old_text(b"12345678"), kind=dtype("V4", "<", several(text("a")))), "the type 'V4'"),
        (simple(old_text(b"12345678"), kind=dtype("i4, O", "<")), "the type 'i4, O'"),
        (
            frame([text("text")], [(array([2, 1], many(text("x"), text("y"))), places(0, 1))], 1),
            "shape of its place",
        ),
        (
            frame([text("text")], [(array([1, 1], many(text("x"))), places(0, 1))], 2),
            "shape of its place",
        ),
        (
            frame([text("a"), text("b")], [(array([1, 1], many(text("x"))), places(0, 1))], 1),
            "incomplete",
        ),
        (
            frame(
                [text("a"), text("a")],
                [(array([2, 1], many(text("x"), text("y"))), places(0, 2))],
                1,
            ),
            "same name",
        ),
        (
            frame(
                [text("a")], [(array([1, 1], many(text("x"))), call(name("builtins", "slice")))], 1
            ),
            "place of a block",
        ),
        (
            frame([text("a")], [(array([1, 1], many(text("x"))), NONE)], 1),
            "nothing where an array should be",
        ),
        (frame([text("a")], [(NONE, places(0, 1))], 1), "nothing where an array should be"),
    ],
)
def test_frames_that_do_not_add_up(refused, body, message):
    assert message in refused(b"\x80\x02" + body + b".")


@pytest.mark.parametrize(
    "column",
    [
        arrow("string", 2, 0, None, struct.pack("<3i", 0, 9, 2), b"ab"),
        arrow("string", 2, 0, None, struct.pack("<3i", 0, 1, 3), b"ab"),
        arrow("string", 2, 0, None, struct.pack("<3i", -1, 1, 2), b"ab"),
        arrow("string", 2, 0, None, struct.pack("<2i", 0, 1), b"ab"),
        arrow("string", 2, 0, None, struct.pack("<3i", 0, 1, 2), b"a\xff"),
        arrow("string", -1, 0, None, struct.pack("<3i", 0, 1, 2), b"ab"),
        arrow("string", 2**31 - 1, 0, None, struct.pack("<3i", 0, 1, 2), b"ab"),
        arrow("string", 9, 0, b"\x01", struct.pack("<10i", *range(10)), b"abcdefghi"),
        arrow("timestamp", 2, 0, None, b"1234567812345678"),
    ],
)
def test_bad_arrow_columns(refused, column):
    refused(b"\x80\x02" + arrow_frame(column, 2) + b".")


def test_files_that_are_no_pickles(refused, tmp_path):
    whole = FIXTURES[0].read_bytes()
    for content in (
        b"",
        b"text,label\nx,y\n",
        whole[:-20],
        gzip.compress(whole),
        b"\x80\x02" + b"(" * 50_000 + b".",
    ):
        refused(content)
    with pytest.raises(LopsError, match="no such file"):
        read_frame(tmp_path / "none.pkl")


def test_damaged_frames_never_fail_in_another_way(tmp_path):
    draw = random.Random(0)
    path = tmp_path / "df.pkl"
    outcomes = {"read": 0, "refused": 0}
    for _ in range(800):
        content = bytearray(draw.choice(FIXTURES).read_bytes())
        for _ in range(draw.randint(1, 3)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        try:
            found = read_frame(path)
        except LopsError:
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        assert all(
            cell is None or type(cell) in (str, int, float, bool)
            for cells in found.values()
            for cell in cells
        )
    assert min(outcomes.values()) > 30
