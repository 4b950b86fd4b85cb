"""The opcodes of pickle protocol 2 that frames use, to write pickles by hand."""

import struct

NONE, FALSE, TRUE = b"N", b"\x89", b"\x88"


def text(value):
    raw = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(raw)) + raw


def old_text(value):
    """Give a str of Python 2, which is bytes."""
    return b"T" + struct.pack("<I", len(value)) + value


def number(value):
    return b"J" + struct.pack("<i", value)


def several(*items):
    return b"(" + b"".join(items) + b"t"


def many(*items):
    return b"](" + b"".join(items) + b"e"


def mapping(**items):
    return b"}(" + b"".join(text(key) + value for key, value in items.items()) + b"u"


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def call(function, *args):
    return function + several(*args) + b"R"


def new(kind, *args):
    return kind + several(*args) + b"\x81"


def build(thing, state):
    return thing + state + b"b"


def dtype(code="O8", order="|", fields=NONE):
    made = call(name("numpy", "dtype"), text(code), number(0), number(1))
    return build(
        made,
        several(number(3), text(order), NONE, fields, NONE, number(-1), number(-1), number(63)),
    )


def array(shape, data, kind=None, fortran=FALSE):
    made = call(
        name("numpy.core.multiarray", "_reconstruct"),
        name("numpy", "ndarray"),
        several(number(0)),
        old_text(b"b"),
    )
    return build(
        made, several(number(1), several(*map(number, shape)), kind or dtype(), fortran, data)
    )


def index(data, base="pandas.core.indexes.base"):
    return call(name(base, "_new_Index"), name(base, "Index"), mapping(data=data, name=NONE))


def rows(stop, base="pandas.core.indexes"):
    parts = mapping(name=NONE, start=number(0), stop=stop, step=number(1))
    return call(name(f"{base}.base", "_new_Index"), name(f"{base}.range", "RangeIndex"), parts)


def frame(
    columns, blocks, n_rows, internals="pandas.core.internals.managers", base="pandas.core.indexes"
):
    """Write a frame as pandas 0.25 did: blocks are (values, places)."""
    names = index(array([len(columns)], many(*columns)), f"{base}.base")
    axes = many(names, rows(number(n_rows), base))
    entries = many(*(mapping(values=values, mgr_locs=places) for values, places in blocks))
    extra = b"}" + text("0.14.1") + mapping(axes=axes, blocks=entries) + b"s"
    state = several(
        axes, many(*(values for values, _ in blocks)), many(*(names for _ in blocks)), extra
    )
    manager = build(new(name(internals, "BlockManager")), state)
    return build(
        new(name("pandas.core.frame", "DataFrame")),
        mapping(_data=manager, _typ=text("dataframe"), _metadata=b"]"),
    )


def places(start, stop):
    return call(name("__builtin__", "slice"), number(start), number(stop), number(1))


def simple(cells, n_rows=2, kind=None):
    """Write a frame with the one column "text"."""
    return frame([text("text")], [(array([1, n_rows], cells, kind), places(0, 1))], n_rows)


def encoded(raw):
    return call(name("_codecs", "encode"), text(raw.decode("latin-1")), text("latin1"))


def arrow(alias, length, offset, *buffers):
    """Write a pandas 3 block of one Arrow column."""
    made = call(
        name("pyarrow.lib", "_restore_array"),
        several(
            call(name("pyarrow.lib", "type_for_alias"), text(alias)),
            number(length),
            number(0),
            number(offset),
            many(
                *(
                    call(name("pyarrow.lib", "py_buffer"), encoded(raw))
                    if raw is not None
                    else NONE
                    for raw in buffers
                )
            ),
            b"]",
            NONE,
        ),
    )
    return build(new(name("pandas.arrays", "ArrowStringArray")), mapping(_pa_array=made))


def arrow_frame(column, n_rows):
    return frame([text("text")], [(column, places(0, 1))], n_rows)
