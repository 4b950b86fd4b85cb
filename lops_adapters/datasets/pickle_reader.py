"""Read a pickled pandas frame from standard input and write its columns to standard output as JSON.

``safe_pickle`` runs this file as a script, in a process of its own with limits on memory and time.
It needs only the standard library. Every global that the pickle names is replaced by a ``StandIn``,
which only keeps its arguments and its state; a global that no frame needs is refused. So nothing of
the pickle can run. What a damaged or hostile file can do is crash this process or reach its limits.
"""

import json
import math
import os
import pickle
import struct
import sys
from contextlib import suppress
from itertools import pairwise
from typing import IO, Any

try:
    import resource
except ImportError:  # Windows: only the time is limited, by the caller
    resource = None  # type: ignore[assignment]

# The globals of pandas 0.25 to 3, numpy, pyarrow, and Python 2 and 3, by package: their modules
# differ between versions.
_PYTHON = "slice bytearray bytes object"
_GLOBALS = {
    "pandas": "DataFrame BlockManager _unpickle_block new_block make_block _new_Index Index "
    "Int64Index RangeIndex StringDtype ArrowDtype CategoricalDtype Categorical StringArray "
    "StringArrayNumpySemantics __pyx_unpickle_NDArrayBacked ArrowStringArray "
    "ArrowStringArrayNumpySemantics ArrowExtensionArray NA",
    "numpy": "_reconstruct _frombuffer ndarray dtype scalar",
    "pyarrow": "chunked_array _restore_array type_for_alias py_buffer",
    "_codecs": "encode",
    **dict.fromkeys(("builtins", "__builtin__"), _PYTHON),
    **dict.fromkeys(("copyreg", "copy_reg"), "_reconstructor"),
}
# numpy's types in struct's letters, and Arrow's in numpy's.
_LETTERS = {"b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "f2": "e", "f4": "f", "f8": "d"}
_LETTERS |= {"u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
_ARROW = {f"{kind}{8 * n}": f"{kind[0]}{n}" for kind in ("int", "uint") for n in (1, 2, 4, 8)}
_ARROW |= {"float": "f4", "double": "f8"}
_OFFSETS = {"string": "i4", "utf8": "i4", "large_string": "i8", "large_utf8": "i8"}
_LARGEST_INT = 1024  # bits
_WANTED = "wanted text, integers, floats or booleans"


class RefusedPickleError(Exception):
    """The pickle is not a frame of plain columns."""


class StandIn:
    """A stand-in for an object of a global: keeps its arguments and state, and does nothing."""

    __slots__ = ("args", "state")

    def __new__(cls, *args: Any) -> Any:
        """Keep the arguments; protocols 0 and 1 make an object of its class, object, and None."""
        if cls.__name__ == "_reconstructor":
            return args[0]()
        record: Any = super().__new__(cls)
        record.args, record.state = args, None
        return record

    def __setstate__(self, state: Any) -> None:
        self.state = state


STAND_INS: dict[tuple[str, str], type[StandIn]] = {
    (package, name): type(name, (StandIn,), {"__slots__": ()})
    for package, names in _GLOBALS.items()
    for name in names.split()
}


class _Unpickler(pickle.Unpickler):
    """Python's unpickler, which knows the stand-ins only."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in of a global."""
        stand_in = STAND_INS.get((module.partition(".")[0], name))
        if stand_in is None:
            raise RefusedPickleError(
                f"it asks for {module:.60}.{name:.60}, which a table of texts and labels "
                "does not need"
            )
        return stand_in


def read_columns(file: IO[bytes], size: int) -> dict[str, list[Any]]:
    """Return the columns of a pickled frame of ``size`` bytes; a cell is str, int, float, bool or
    None.

    Raises a RefusedPickleError if it is no frame of plain columns, or one far larger than its file;
    and any exception for a damaged pickle.
    """
    # A string of Python 2 does not tell bytes from text: with surrogates, bytes can be recovered.
    frame = _Unpickler(file, encoding="utf-8", errors="surrogateescape").load()
    _require(_kind(frame) == "DataFrame", f"it holds {_described(frame)}, not a pandas DataFrame")
    manager = frame.state.get("_mgr", frame.state.get("_data"))
    if len(manager.args) == 2:  # since pandas 1.3
        blocks, axes = manager.args
        pieces = [block.args[:2] for block in blocks]
    else:
        old = manager.state[3]["0.14.1"]
        axes = old["axes"]
        pieces = [(block["values"], block["mgr_locs"]) for block in old["blocks"]]
    names = [str(name) for name in _index(axes[0])]
    columns: dict[int, list[Any]] = {}
    n_cells = 0
    for values, item in pieces:
        is_slice = _kind(item) == "slice"
        positions = range(len(names))[slice(*item.args)] if is_slice else _row(item)
        _require(columns.keys().isdisjoint(positions), "two blocks have the same place")
        table = _table(values, len(positions))
        columns.update(zip(positions, table, strict=True))
        n_cells += sum(map(len, table))
        _require(n_cells <= size, "the frame is far larger than its file")
    _require(sorted(columns) == list(range(len(names))), "columns are missing")
    _require(len(set(names)) == len(names), "two columns have the same name")
    _require(len(set(map(len, columns.values()))) < 2, "its columns differ in length")
    return {name: columns[position] for position, name in enumerate(names)}


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise RefusedPickleError(message)


def _kind(value: Any) -> str:
    """Return the name of a record's global; empty for anything else."""
    return type(value).__name__ if isinstance(value, StandIn) else ""


def _described(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return "nothing" if value is None else f"a {type(value).__name__}"


def _index(index: Any) -> list[Any]:
    """Return the entries of an index, which is made of its class and a dictionary."""
    parts = index.args[1]
    if "data" in parts:
        return _row(parts["data"])
    return list(range(parts["start"], parts["stop"], parts["step"]))


def _row(values: Any) -> list[Any]:
    return _table(values, 1)[0]


def _table(values: Any, n_columns: int) -> list[list[Any]]:
    if _kind(values).startswith("Arrow"):
        stored = values.state.get("_pa_array", values.state.get("_data"))
        chunks = stored.args[0] if _kind(stored) == "chunked_array" else [stored]
        return [[cell for chunk in chunks for cell in _arrow_cells(*chunk.args[0][:5])]]
    if _kind(values).startswith(("String", "Categorical", "__pyx")):
        return [_extension_column(values)]
    if _kind(values) == "_frombuffer":
        data, dtype, shape, order = values.args
    else:
        _require(_kind(values) == "_reconstruct", f"{_described(values)} is not an array")
        _, shape, dtype, fortran, data = values.state
        order = "F" if fortran else "C"
    code, ends = _type(dtype)
    _require(shape[:-1] in ((), (n_columns,)), "a block does not have the shape of its place")
    flat = _cells(code, ends, math.prod(shape), data)
    if order == "F" and code != "O":
        return [flat[column::n_columns] for column in range(n_columns)]
    return _parts(flat, shape[-1], n_columns)


def _parts(whole: Any, length: int, n: int) -> list[Any]:
    return [whole[part * length : (part + 1) * length] for part in range(n)]


def _extension_column(values: Any) -> list[Any]:
    """Return a column of strings or categories: a dtype and an array, in an order that varies."""
    pieces = list(values.state.values() if isinstance(values.state, dict) else values.state)
    kinds = [_kind(piece) for piece in pieces]
    (index,) = (i for i, kind in enumerate(kinds) if kind in ("_reconstruct", "_frombuffer"))
    column = _row(pieces[index])
    if "CategoricalDtype" not in kinds:
        return column
    dtype = pieces[kinds.index("CategoricalDtype")]
    categories = [*_index(dtype.state["categories"]), None]  # None: of the code -1
    return [categories[code] for code in column]


def _type(dtype: Any) -> tuple[str, str]:
    """Return numpy's code of a dtype, O for objects, and its byte order, < or >."""
    name = dtype.args[0]
    if name in ("O", "O4", "O8"):
        return "O", "<"
    code = name.lstrip("<>|=")
    is_known = code in _LETTERS or (code[:1] == "U" and code[1:].isdecimal())
    _require(is_known, f"an array has the type {name[:60]!r}; {_WANTED}")
    return code, ">" if ">" in (name[0], dtype.state[1]) else "<"


def _cells(code: str, order: str, n: int, data: Any) -> list[Any]:
    """Return the n cells of an array."""
    if code == "O":
        _require(len(data) == n, "an array is not as long as its shape says")
        return [_cell(cell) for cell in data]
    raw = _bytes(data)
    width = int(code[1:]) * (4 if code[0] == "U" else 1)
    _require(len(raw) == n * width, "an array is not as long as its shape says")
    if code[0] != "U":
        return list(struct.unpack(f"{order}{n}{_LETTERS[code]}", raw))
    encoding = "utf-32-le" if order == "<" else "utf-32-be"
    return [part.decode(encoding).rstrip("\0") for part in _parts(raw, width, n)]


def _cell(cell: Any) -> Any:
    if cell is None or cell is STAND_INS["pandas", "NA"]:
        return None
    if _kind(cell) == "scalar":
        return _cells(*_type(cell.args[0]), 1, cell.args[1])[0]
    _require(type(cell) in (str, int, float, bool), f"a cell holds {_described(cell)}; {_WANTED}")
    _require(
        type(cell) is not int or cell.bit_length() <= _LARGEST_INT, "a cell holds a huge integer"
    )
    return cell


def _bytes(data: Any) -> bytes:
    if isinstance(data, (bytes, bytearray)):
        return bytes(data)
    if isinstance(data, str):  # bytes of Python 2
        return data.encode("utf-8", "surrogateescape")
    if _kind(data) == "encode":  # bytes as text, which is latin-1
        return str(data.args[0]).encode("latin-1")
    is_bytes = _kind(data) in ("bytes", "bytearray", "py_buffer")
    _require(is_bytes, f"{_described(data)} stands where bytes should be")
    return _bytes(data.args[0]) if data.args else b""


def _arrow_cells(dtype: Any, length: int, _: Any, offset: int, buffers: Any) -> list[Any]:
    """Decode an Arrow array; the buffers are validity, numbers or offsets, characters."""
    (alias,) = dtype.args
    is_text = alias in _OFFSETS
    code = (_OFFSETS if is_text else _ARROW).get(alias)
    if code is None or length < 0 or offset < 0:
        raise RefusedPickleError(f"an Arrow column has the type {alias[:60]!r}; {_WANTED}")
    validity, numbers, *characters = (b"" if part is None else _bytes(part) for part in buffers)
    form = f"<{length + is_text if length else 0}{_LETTERS[code]}"
    cells: list[Any] = list(struct.unpack_from(form, numbers, offset * int(code[1:])))
    if is_text:
        text = characters[0]
        fits = cells == sorted(cells) and all(0 <= end <= len(text) for end in cells)
        _require(fits, "an Arrow column has odd offsets")
        cells = [text[low:high].decode("utf-8") for low, high in pairwise(cells)]
    if validity:
        bits = (validity[row // 8] >> row % 8 & 1 for row in range(offset, offset + length))
        cells = [cell if bit else None for cell, bit in zip(cells, bits, strict=True)]
    return cells


def limits(size: int) -> tuple[int, int]:
    """Return the bytes of memory and the seconds of processor time for a file of ``size`` bytes."""
    return 2**29 + 32 * size, 2 + size // 2**21


def main() -> None:
    """Write {"columns": {name: cells}} or {"error": message}."""
    size = os.fstat(sys.stdin.fileno()).st_size
    if resource is not None:
        memory, seconds = limits(size)
        kinds = {resource.RLIMIT_AS: memory, resource.RLIMIT_CPU: seconds, resource.RLIMIT_CORE: 0}
        for kind, most in kinds.items():
            with suppress(ValueError, OSError):  # macOS; or a limit of the system that is lower
                resource.setrlimit(kind, (most, most))
    try:
        answer = json.dumps({"columns": read_columns(sys.stdin.buffer, size)})
        _require(len(answer) <= 2**24 + 32 * size, "the frame is far larger than its file")
    except RefusedPickleError as error:
        answer = json.dumps({"error": str(error)})
    except MemoryError:
        sys.exit(1)
    except Exception as error:  # a damaged pickle can raise anything
        answer = json.dumps({"error": f"it is damaged: {type(error).__name__}: {error}"})
    sys.stdout.write(answer)


if __name__ == "__main__":
    main()
