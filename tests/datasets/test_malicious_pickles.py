"""Harmful and odd pickles: each is refused and nothing of it is run."""

import copyreg
import gzip
import io
import os
import pickle
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import safe_pickle
from lops_adapters.datasets.pickle_reader import STAND_INS, StandIn, read_columns
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


def refused(content):
    """Read a pickle, in this process, that must be refused without anything run; the message."""
    global _events  # noqa: PLW0603
    _events = []
    try:
        with pytest.raises(Exception) as caught:  # noqa: PT011 (of any kind, if it is damaged)
            read_columns(io.BytesIO(content), len(content))
        ran = list(_events)
    finally:
        _events = None
    assert ran == []
    assert not isinstance(caught.value, MemoryError)
    return str(caught.value)


@pytest.fixture
def error(tmp_path):
    """Read a file that must be refused; the message."""

    def read(content):
        path = tmp_path / "df.pkl"
        path.write_bytes(content)
        with pytest.raises(LopsError) as caught:
            read_frame(path)
        message = str(caught.value)
        assert message.startswith(f"{path} is not read as a pickled table: ")
        assert message.endswith("open it with pandas and save it as CSV or Parquet")
        assert len(message) < 500
        return message

    return read


class Runs:
    def __init__(self, function, *args):
        self.parts = (function, args)

    def __reduce__(self):
        return self.parts


@pytest.mark.parametrize("protocol", range(6))
def test_a_function_in_a_reduce(protocol, tmp_path, error):
    mark = tmp_path / "ran"
    content = pickle.dumps(Runs(os.system, f"touch {mark}"), protocol=protocol)
    asked = f"it asks for {os.system.__module__}.system, which a table of texts and labels does not"
    assert asked in refused(content)
    assert asked in error(content)
    assert not mark.exists()


@pytest.mark.parametrize("function", [eval, exec, getattr, setattr, __import__, open, type, print])
def test_builtins(function):
    assert re.search(
        rf"asks for (builtins|_?io)\.{function.__name__},",
        refused(pickle.dumps(Runs(function, "1"), protocol=4)),
    )


def test_a_function_within_cells():
    run = Runs(os.system, "true")
    for nested in ([run], np.array([run, "x"], dtype=object)):
        assert "asks for" in refused(pickle.dumps(nested, protocol=4))
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
        ("numpy", "load"),
        ("numpy.testing._private.utils", "runstring"),
        ("pandas", "read_pickle"),
        ("pandas_like", "DataFrame"),
        ("builtins", "slice.__class__"),
        ("lops_adapters.datasets.pickle_reader", "StandIn"),
    ],
)
def test_names_near_the_known_ones(module, attribute):
    stacked = b"\x80\x04" + text(module) + text(attribute) + b"\x93)R."
    assert f"asks for {module}.{attribute}" in refused(stacked)
    plain = b"\x80\x02" + name(module, attribute) + b")R."
    assert f"asks for {module}.{attribute}" in refused(plain)


def test_extensions_are_not_known_to_the_reader(error):
    # An extension that is cached is handed out without asking for its name.
    copyreg.add_extension("os", "system", 250)
    try:
        pickle.loads(b"\x80\x02\x82\xfa.")
        for body in (b"\x82\xfa(X\x04\x00\x00\x00truetR", b"\x83\xfa\x00", b"\x84\xfa\x00\x00\x00"):
            assert "unregistered extension code 250" in error(b"\x80\x02" + body + b".")
    finally:
        copyreg.remove_extension("os", "system", 250)


def test_unusual_opcodes():
    for body in (b"(S'true'\nios\nsystem\n.", b"(cos\nsystem\nS'true'\no."):
        assert "asks for os.system" in refused(body)
    assert "persistent" in refused(b"Pos.system\n.")
    refused(b"\x80\x04" + name("pandas", "DataFrame") + b")}\x92.")
    refused(b"\x80\x05\x97.")


@pytest.mark.parametrize("body", [b"]r\xff\xff\xff\x7f", b"]p4000000000\n", b"\x82" * 9])
def test_a_memo_of_all_memory(error, body):
    error(b"\x80\x02" + body + b".")


def test_a_long_text_that_is_repeated(error):
    cells = many(text("x" * 100_000) + b"q\x00", *[b"h\x00"] * 999)
    assert "far larger than its file" in error(b"\x80\x02" + simple(cells, 1000) + b".")


def test_a_reader_that_takes_too_long(error, monkeypatch):
    monkeypatch.setattr(safe_pickle, "_WAIT", 0.001)
    assert "takes more than 2 seconds" in error(FIXTURES[0].read_bytes())


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
        call(name("copyreg", "_reconstructor"), text("x"), name("builtins", "object"), NONE),
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
def test_odd_uses_of_the_stand_ins(body):
    before = {kind: dict(vars(kind)) for kind in {StandIn, *STAND_INS.values()}}
    refused(b"\x80\x02" + body + b".")
    assert {kind: dict(vars(kind)) for kind in before} == before


TWO = many(text("x"), text("y"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (simple(many(b"]q\x00h\x00a", text("x"))), "a cell holds a list"),
        (simple(many(text("x"), new(FRAME_CLASS))), "a cell holds a DataFrame"),
        (simple(many(text("x"), name("numpy", "ndarray"))), "a cell holds the class ndarray"),
        (simple(many(text("x"), b"\x8a\x82" + b"\x7f" * 130)), "a cell holds a huge integer"),
        (simple(many(text("x"))), "not as long as its shape says"),
        (simple(text("xyz")), "not as long as its shape says"),
        (simple(old_text(b"1234567"), kind=dtype("i4", "<")), "not as long as its shape says"),
        (simple(old_text(b"12345678"), kind=dtype("M8", "<")), "the type 'M8'"),
        (simple(old_text(b"12345678"), kind=dtype("V4", "<", several(text("a")))), "the type 'V4'"),
        (simple(old_text(b"12345678"), kind=dtype("i4, O", "<")), "the type 'i4, O'"),
        (frame([text("a")], [(array([2, 1], TWO), places(0, 1))], 1), "the shape of its place"),
        (
            frame(
                [text("a"), text("b")],
                [
                    (array([1, 1], many(text("x"))), places(0, 1)),
                    (array([1, 2], TWO), places(1, 2)),
                ],
                1,
            ),
            "differ in length",
        ),
        (
            frame([text("a"), text("b")], [(array([1, 1], many(text("x"))), places(0, 1))], 1),
            "columns are missing",
        ),
        (frame([text("a"), text("a")], [(array([2, 1], TWO), places(0, 2))], 1), "the same name"),
        (frame([text("a")], [(array([1, 2], TWO), places(0, 1))] * 2, 2), "the same place"),
        (frame([text("a")], [(array([1, 1], TWO), call(name("builtins", "slice")))], 1), "slice"),
        (frame([text("a")], [(array([1, 2], TWO), NONE)], 1), "nothing is not an array"),
        (frame([text("a")], [(NONE, places(0, 1))], 1), "nothing is not an array"),
    ],
)
def test_frames_that_do_not_add_up(body, message):
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
        arrow("string", 2, -1, None, struct.pack("<3i", 0, 1, 2), b"ab"),
        arrow("string", 2**31 - 1, 0, None, struct.pack("<3i", 0, 1, 2), b"ab"),
        arrow("string", 9, 0, b"\x01", struct.pack("<10i", *range(10)), b"abcdefghi"),
        arrow("timestamp", 2, 0, None, b"1234567812345678"),
    ],
)
def test_bad_arrow_columns(column):
    refused(b"\x80\x02" + arrow_frame(column, 2) + b".")


def test_files_that_are_no_pickles(error, tmp_path):
    whole = FIXTURES[0].read_bytes()
    for content in (
        b"",
        b"text,label\nx,y\n",
        whole[:-20],
        gzip.compress(whole),
        b"\x80\x02" + b"(" * 50_000 + b".",
    ):
        assert "it is damaged" in error(content)
    with pytest.raises(LopsError, match="No such file"):
        read_frame(tmp_path / "none.pkl")
    with pytest.raises(LopsError, match=r"cannot be read \(Is a directory\)"):
        read_frame(tmp_path)
