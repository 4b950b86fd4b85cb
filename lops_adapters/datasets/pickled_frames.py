"""Turn the records of a pickled frame into plain columns.

Every piece is checked; nothing in it is called.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lops_adapters.datasets import pickle_records as kinds

_NUMBER = re.compile(r"[<>|=]?([biuf][1248]|U\d{1,6})")
_ARROW_INTS = re.compile(r"u?int(?:8|16|32|64)")
_ARROW_OFFSETS = {"string": "<i4", "utf8": "<i4", "large_string": "<i8", "large_utf8": "<i8"}
# Cells and bytes that a frame may have per byte of its file, and beyond that.
_COPIES = 4
_SPARE = 2**20
_DIMENSIONS, _LARGEST_SIDE = 2, 2**40
_LARGEST_INT = 1024  # bits
_SHOWN = 60  # characters of a name in a message


class UnreadableError(Exception):
    """The pickle holds something other than a frame of plain columns.

    The message is the beginning of a sentence.
    """


def columns_of(found: Any, size: int) -> dict[str, list[Any]]:
    """Turn a recorded frame into columns.

    Args:
        found: the result of ``pickle_machine.interpret``.
        size: of the file in bytes. It limits the columns, since a piece can be used many times.

    Returns:
        Columns as of ``safe_pickle.read_frame``.

    Raises:
        UnreadableError: not a frame, a piece of it is not plain, or it is far larger than its file.

    """
    return _Reader(_COPIES * size + _SPARE).columns(found)


class _Reader:
    """Turns records into lists of at most ``left`` cells and bytes in all."""

    def __init__(self, left: int) -> None:
        self._left = left

    def _spend(self, cells: int) -> None:
        self._left -= cells
        if self._left < 0:
            raise UnreadableError("the frame is far larger than its file, since it repeats pieces")

    def columns(self, found: Any) -> dict[str, list[Any]]:
        """Return the columns of a recorded frame."""
        if not isinstance(found, kinds.Frame) or not isinstance(found.state, dict):
            raise UnreadableError(f"the pickle holds {_described(found)}, not a pandas DataFrame")
        manager = found.state.get("_mgr", found.state.get("_data"))
        if not isinstance(manager, kinds.Manager):
            raise UnreadableError(
                f"the frame holds {_described(manager)} where its blocks should be"
            )
        axes, blocks = _pieces(manager)
        if not isinstance(axes, (list, tuple)) or len(axes) != 2:
            raise UnreadableError("the frame does not have two axes")
        names = self._index_names(axes[0])
        n_rows = self._index_length(axes[1])
        columns: dict[int, list[Any]] = {}
        for values, places in blocks:
            spots = self._places(places, len(names))
            table = self._table(values, len(spots))
            if len(table) != len(spots) or any(len(column) != n_rows for column in table):
                raise UnreadableError("a block does not have the shape of its place in the frame")
            columns.update(zip(spots, table, strict=True))
        if sorted(columns) != list(range(len(names))) or len(set(names)) != len(names):
            raise UnreadableError("the columns are incomplete, or two have the same name")
        return {name: columns[place] for place, name in enumerate(names)}

    def _places(self, places: Any, n_columns: int) -> list[int]:
        if isinstance(places, kinds.Slice) and all(
            isinstance(end, int) or end is None for end in places.args
        ):
            if not 1 <= len(places.args) <= 3:
                raise UnreadableError("the place of a block is not plain")
            spots = list(range(n_columns)[slice(*places.args)])
            self._spend(len(spots))
            return spots
        spots = self._row(places)
        if not all(isinstance(spot, int) for spot in spots):
            raise UnreadableError("the place of a block is not plain")
        return spots

    def _index_names(self, index: Any) -> list[str]:
        return [
            name if isinstance(name, str) else str(name) for name in self._row(_index_data(index))
        ]

    def _index_length(self, index: Any) -> int:
        if isinstance(index, kinds.NewIndex) and index.args[:1] == (kinds.RangeIndex,):
            parts = [_index_parts(index).get(name) for name in ("start", "stop", "step")]
            if not all(isinstance(part, int) for part in parts):
                raise UnreadableError("the index of the rows is not plain")
            return len(range(*parts))  # type: ignore[arg-type]
        return len(self._row(_index_data(index)))

    def _row(self, values: Any) -> list[Any]:
        table = self._table(values, 1)
        if len(table) != 1:
            raise UnreadableError("an index of the frame is not one-dimensional")
        return table[0]

    def _table(self, values: Any, n_columns: int) -> list[list[Any]]:
        """Turn the values of a block, (columns, rows) or one column, into a list of columns."""
        if isinstance(values, kinds.TextArray):
            # The array is next to the dtype; their order and container differ between versions.
            state = values.state.values() if isinstance(values.state, dict) else values.state
            array_kinds = (kinds.Array, kinds.BufferArray)
            arrays = [piece for piece in state or () if isinstance(piece, array_kinds)]
            if len(arrays) != 1:
                raise UnreadableError("a column of strings is not plain")
            return self._table(arrays[0], n_columns)
        if isinstance(values, kinds.ArrowArray):
            return [self._arrow_column(values)]
        shape, flat = self._array(values)
        if len(shape) == 1:
            return [flat]
        if len(shape) != 2:
            raise UnreadableError("a block has no dimensions")
        if shape[0] != n_columns:  # before as many lists are made, since empty ones cost no byte
            raise UnreadableError("a block does not have the shape of its place in the frame")
        return [flat[row * shape[1] : (row + 1) * shape[1]] for row in range(shape[0])]

    def _array(self, values: Any) -> tuple[tuple[int, ...], list[Any]]:
        """Return the shape of a recorded numpy array and its cells in C order."""
        if isinstance(values, kinds.BufferArray) and len(values.args) == 4:
            data, dtype, shape, order = values.args
        elif (
            isinstance(values, kinds.Array)
            and isinstance(values.state, tuple)
            and len(values.state) == 5
        ):
            _, shape, dtype, fortran, data = values.state
            order = "F" if fortran else "C"
        else:
            raise UnreadableError(f"the frame holds {_described(values)} where an array should be")
        if not isinstance(shape, tuple) or not all(
            isinstance(side, int) and 0 <= side <= _LARGEST_SIDE
            for side in shape[: _DIMENSIONS + 1]
        ):
            raise UnreadableError("an array has an odd shape")
        if len(shape) > _DIMENSIONS:
            raise UnreadableError(f"a block has {len(shape)} dimensions")
        code = _dtype(dtype)
        if code is None:
            if not isinstance(data, list) or len(data) != math.prod(shape):
                raise UnreadableError("an array of objects is not as long as its shape says")
            self._spend(len(data))
            return shape, [self._cell(cell) for cell in data]
        raw = self._bytes(data)
        if len(raw) != math.prod(shape) * code.itemsize:
            raise UnreadableError("an array of numbers is not as long as its shape says")
        self._spend(math.prod(shape))
        array = np.frombuffer(raw, code).reshape(shape, order="F" if order == "F" else "C")
        return shape, array.ravel("C").tolist()

    def _cell(self, cell: Any) -> Any:
        if cell is None or cell is kinds.Missing:
            return None
        # The exact type, not isinstance: no others are made, and no others are accepted.
        if type(cell) is int and cell.bit_length() > _LARGEST_INT:
            raise UnreadableError(f"a cell holds an integer of {cell.bit_length()} bits")
        if type(cell) in (str, int, float, bool):
            return cell
        if isinstance(cell, kinds.Scalar) and len(cell.args) == 2:
            code = _dtype(cell.args[0])
            raw = self._bytes(cell.args[1])
            if code is not None and len(raw) == code.itemsize:
                return np.frombuffer(raw, code).tolist()[0]
        raise UnreadableError(
            f"a cell holds {_described(cell)}; wanted text, integers, floats or booleans"
        )

    def _bytes(self, data: Any) -> bytes:
        if isinstance(data, (bytes, bytearray)):
            self._spend(len(data))
            return bytes(data)
        if isinstance(data, str):  # bytes of Python 2, see pickle_machine
            self._spend(len(data))
            return data.encode("utf-8", "surrogateescape")
        if (
            isinstance(data, kinds.Encoded)
            and data.args[1:] == ("latin1",)
            and isinstance(data.args[0], str)
        ):
            self._spend(len(data.args[0]))
            return data.args[0].encode("latin-1")
        if isinstance(data, kinds.Bytes) and not data.args:
            return b""
        if (
            isinstance(data, kinds.Bytes)
            and len(data.args) == 1
            and not isinstance(data.args[0], str)
        ):
            return self._bytes(data.args[0])
        raise UnreadableError(f"the frame holds {_described(data)} where bytes should be")

    def _arrow_column(self, values: kinds.Record) -> list[Any]:
        state = values.state if isinstance(values.state, dict) else {}
        stored = state.get("_pa_array", state.get("_data"))
        if (
            isinstance(stored, kinds.ArrowChunks)
            and stored.args
            and isinstance(stored.args[0], list)
        ):
            chunks: Sequence[Any] = stored.args[0]
        else:
            chunks = [stored]
        return [cell for chunk in chunks for cell in self._arrow_cells(chunk)]

    def _arrow_cells(self, chunk: Any) -> list[Any]:
        """Decode one Arrow array.

        It is (type, length, nulls, offset, [validity, offsets or numbers, characters], ...).
        """
        data = (
            chunk.args[0] if isinstance(chunk, kinds.ArrowData) and len(chunk.args) == 1 else None
        )
        if not isinstance(data, tuple) or len(data) < 5 or not isinstance(data[0], kinds.TextType):
            raise UnreadableError(f"an Arrow column holds {_described(chunk)}")
        kind, length, _, offset, buffers = data[:5]
        alias = kind.args[0] if len(kind.args) == 1 and isinstance(kind.args[0], str) else "?"
        if not (
            isinstance(length, int) and isinstance(offset, int) and length >= 0 and offset >= 0
        ):
            raise UnreadableError("an Arrow column has an odd length")
        self._spend(length)
        raw = [self._bytes(buffer) if buffer is not None else b"" for buffer in buffers]
        if alias in _ARROW_OFFSETS and len(raw) == 3:
            count = offset + length + 1 if length else 0
            ends = np.frombuffer(raw[1], _ARROW_OFFSETS[alias], count=count)[offset:].tolist()
            descending = any(low < 0 or low > high for low, high in pairwise(ends))
            if descending or max(ends, default=0) > len(raw[2]):
                raise UnreadableError("an Arrow column has odd offsets")
            cells: list[Any] = [raw[2][low:high].decode("utf-8") for low, high in pairwise(ends)]
        elif _ARROW_INTS.fullmatch(alias) and len(raw) == 2:
            cells = np.frombuffer(raw[1], np.dtype(alias), count=offset + length)[offset:].tolist()
        else:
            raise UnreadableError(
                f"an Arrow column has the type {alias[:_SHOWN]!r}; wanted strings or integers"
            )
        if raw[0]:
            self._spend(8 * len(raw[0]))
            bits = np.unpackbits(np.frombuffer(raw[0], np.uint8), bitorder="little")
            valid = bits[offset : offset + length].tolist()
            cells = [cell if filled else None for cell, filled in zip(cells, valid, strict=True)]
        return cells


def _pieces(manager: kinds.Record) -> tuple[Any, list[tuple[Any, Any]]]:
    """Take axes and (values, places) from a manager.

    They are arguments since pandas 1.3, and a state tuple before.
    """
    if len(manager.args) == 2:
        blocks, axes = manager.args
        if not isinstance(blocks, (list, tuple)) or not all(
            isinstance(block, kinds.Block) and len(block.args) >= 2 for block in blocks
        ):
            raise UnreadableError("the frame's blocks are not plain")
        return axes, [(block.args[0], block.args[1]) for block in blocks]
    state = manager.state
    extra = state[3] if isinstance(state, tuple) and len(state) == 4 else None
    old = extra.get("0.14.1") if isinstance(extra, dict) else None
    if not isinstance(old, dict) or not isinstance(old.get("blocks"), (list, tuple)):
        raise UnreadableError("the frame's blocks are in a form that is not known")
    if not all(
        isinstance(block, dict) and {"values", "mgr_locs"} <= set(block) for block in old["blocks"]
    ):
        raise UnreadableError("the frame's blocks are not plain")
    return old.get("axes"), [(block["values"], block["mgr_locs"]) for block in old["blocks"]]


def _index_data(index: Any) -> Any:
    if not isinstance(index, kinds.NewIndex) or index.args[:1] != (kinds.Index,):
        raise UnreadableError(f"the frame has {_described(index)} as an index; wanted a plain one")
    return _index_parts(index).get("data")


def _index_parts(index: kinds.Record) -> dict[Any, Any]:
    if len(index.args) != 2 or not isinstance(index.args[1], dict):
        raise UnreadableError("an index of the frame is not plain")
    return index.args[1]


def _dtype(dtype: Any) -> np.dtype[Any] | None:
    """Return a recorded dtype of numbers or fixed-width strings; None for objects."""
    name = dtype.args[0] if isinstance(dtype, kinds.Dtype) and dtype.args else None
    state = dtype.state if isinstance(dtype, kinds.Dtype) else None
    plain = state is None or (
        isinstance(state, tuple) and len(state) >= 5 and state[2:5] == (None, None, None)
    )
    if isinstance(name, str) and plain:
        if name in ("O", "O8", "O4"):
            return None
        order = state[1] if state is not None and state[1] in ("<", ">") else ""
        if _NUMBER.fullmatch(name):
            return np.dtype(order + name.lstrip("<>|="))
    shown = repr(name)[:_SHOWN] if isinstance(name, str) else _described(name)
    raise UnreadableError(
        f"an array of the frame has the type {shown}; wanted text, integers, floats or booleans"
    )


def _described(value: Any) -> str:
    if isinstance(value, type) and issubclass(value, kinds.Record):
        return f"the class {value.__name__}"
    return "nothing" if value is None else f"a {type(value).__name__}"
