"""Stand-ins for the few globals that a pickled pandas frame names; each only records."""

from __future__ import annotations

from typing import Any


class Record:
    """A harmless stand-in that records its arguments and its state and does nothing else."""

    __slots__ = ("args", "state")
    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any) -> Record:
        """Keep the arguments."""
        record = super().__new__(cls)
        record.args = args
        record.state = None
        return record

    def __init__(self, *args: Any) -> None:
        pass


class Frame(Record):
    """pandas DataFrame."""

    __slots__ = ()


class Manager(Record):
    """pandas BlockManager."""

    __slots__ = ()


class Block(Record):
    """A block of columns: values, their places among the columns, the number of dimensions."""

    __slots__ = ()


class Index(Record):
    """pandas Index, or the class of one."""

    __slots__ = ()


class RangeIndex(Index):
    """pandas RangeIndex, or the class of one."""

    __slots__ = ()


class NewIndex(Record):
    """An index made from its class and a dictionary."""

    __slots__ = ()


class Array(Record):
    """numpy array, its contents in the state."""

    __slots__ = ()


class BufferArray(Record):
    """numpy array made from a buffer, dtype, shape and order."""

    __slots__ = ()


class ArrayType(Record):
    """The class numpy.ndarray."""

    __slots__ = ()


class Dtype(Record):
    """numpy dtype."""

    __slots__ = ()


class Scalar(Record):
    """numpy scalar: dtype and bytes."""

    __slots__ = ()


class Slice(Record):
    """A slice: start, stop, step."""

    __slots__ = ()


class Encoded(Record):
    """Bytes, written as text and an encoding."""

    __slots__ = ()


class Bytes(Record):
    """bytes or bytearray, of other bytes."""

    __slots__ = ()


class TextType(Record):
    """pandas StringDtype or ArrowDtype, or pyarrow's name of a type."""

    __slots__ = ()


class TextArray(Record):
    """pandas extension array of strings that holds a numpy array."""

    __slots__ = ()


class ArrowArray(Record):
    """pandas extension array that holds an Arrow array."""

    __slots__ = ()


class ArrowChunks(Record):
    """pyarrow ChunkedArray: a list of arrays."""

    __slots__ = ()


class ArrowData(Record):
    """pyarrow Array: type, length, nulls, offset, buffers."""

    __slots__ = ()


class Missing(Record):
    """pandas.NA; the class itself represents the value."""

    __slots__ = ()


class Reconstructor(Record):
    """How protocols 0 and 1 make an object of a class."""

    __slots__ = ()


class ObjectType(Record):
    """The class object."""

    __slots__ = ()


# All names that pandas 0.2x to 3, numpy, pyarrow and Python 2 and 3 write for each.
_KINDS: dict[type[Record], str] = {
    Frame: "pandas.DataFrame pandas.core.frame.DataFrame",
    Manager: "pandas.core.internals.managers.BlockManager pandas.core.internals.BlockManager",
    Block: (
        "pandas._libs.internals._unpickle_block pandas.core.internals.blocks.new_block "
        "pandas.core.internals.blocks.make_block"
    ),
    Index: (
        "pandas.Index pandas.core.indexes.base.Index pandas.indexes.base.Index "
        "pandas.core.index.Index pandas.core.indexes.numeric.Int64Index "
        "pandas.indexes.numeric.Int64Index pandas.core.index.Int64Index"
    ),
    RangeIndex: (
        "pandas.RangeIndex pandas.core.indexes.range.RangeIndex pandas.indexes.range.RangeIndex"
    ),
    NewIndex: (
        "pandas.core.indexes.base._new_Index pandas.indexes.base._new_Index "
        "pandas.core.index._new_Index"
    ),
    Array: "numpy.core.multiarray._reconstruct numpy._core.multiarray._reconstruct",
    BufferArray: "numpy.core.numeric._frombuffer numpy._core.numeric._frombuffer",
    ArrayType: "numpy.ndarray",
    Dtype: "numpy.dtype",
    Scalar: "numpy.core.multiarray.scalar numpy._core.multiarray.scalar",
    Slice: "builtins.slice __builtin__.slice",
    Encoded: "_codecs.encode",
    Bytes: (
        "builtins.bytearray __builtin__.bytearray builtins.bytes __builtin__.bytes "
        "pyarrow.lib.py_buffer"
    ),
    TextType: (
        "pandas.StringDtype pandas.core.arrays.string_.StringDtype pyarrow.lib.type_for_alias "
        "pandas.ArrowDtype pandas.core.dtypes.dtypes.ArrowDtype"
    ),
    TextArray: (
        "pandas.arrays.StringArray pandas.core.arrays.string_.StringArray "
        "pandas._libs.arrays.__pyx_unpickle_NDArrayBacked "
        "pandas.core.arrays.string_.StringArrayNumpySemantics"
    ),
    ArrowArray: (
        "pandas.arrays.ArrowStringArray pandas.core.arrays.string_arrow.ArrowStringArray "
        "pandas.core.arrays.string_arrow.ArrowStringArrayNumpySemantics "
        "pandas.arrays.ArrowExtensionArray pandas.core.arrays.arrow.array.ArrowExtensionArray"
    ),
    ArrowChunks: "pyarrow.lib.chunked_array",
    ArrowData: "pyarrow.lib._restore_array",
    Missing: "pandas.NA pandas._libs.missing.NA",
    Reconstructor: "copy_reg._reconstructor copyreg._reconstructor",
    ObjectType: "__builtin__.object builtins.object",
}
KNOWN = {
    tuple(name.rsplit(".", 1)): kind for kind, names in _KINDS.items() for name in names.split()
}
