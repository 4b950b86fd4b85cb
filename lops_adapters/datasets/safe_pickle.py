"""Read pickled pandas frames without pandas and without running code from the file.

A pickle is a program. Here every global it may name is replaced by a ``Record`` (see
``pickle_records``), a class that only keeps its arguments and state. Every other global is refused
before it is imported, so only this package's code runs. ``pickled_frames`` then checks every piece
of the records and turns them into lists.
"""

from __future__ import annotations

import pickle
import pickletools
from pathlib import Path
from typing import Any, BinaryIO

from lops_adapters.core import LopsError
from lops_adapters.datasets.pickle_records import KNOWN, Record
from lops_adapters.datasets.pickled_frames import UnreadableError, columns_of

WAY_OUT = "if you trust the file, open it with pandas and save it as CSV or Parquet"

# Opcodes that fetch objects without find_class, or build them in ways that no frame needs.
_REFUSED_OPCODES = {
    *("PERSID", "BINPERSID", "EXT1", "EXT2", "EXT4"),
    *("INST", "OBJ", "NEWOBJ_EX", "NEXT_BUFFER"),
}
_PUTS = {"PUT", "BINPUT", "LONG_BINPUT"}


class _FrameUnpickler(pickle.Unpickler):
    """An unpickler that knows the stand-ins and nothing else."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        # Python 2 does not tell bytes from text; with surrogateescape, bytes can be recovered.
        super().__init__(file, encoding="utf-8", errors="surrogateescape")
        self._path = path

    def find_class(self, module: str, name: str) -> type[Record]:
        """Return the stand-in for a global that a frame needs."""
        kind = KNOWN.get((module, name))
        if kind is None:
            raise LopsError(
                f"{self._path}: the pickle asks for {module}.{name}, which a table of texts and "
                f"labels does not need; nothing was run; {WAY_OUT}"
            )
        return kind


def read_frame(path: str | Path) -> dict[str, list[Any]]:
    """Read the columns of a pickled pandas DataFrame without running any of the file.

    Frames written by pandas 0.25 to 3 can be read.

    Args:
        path: a file of ``DataFrame.to_pickle``, not compressed, any pickle protocol.

    Returns:
        Column name to its cells, in the order of the rows: str, int, float (NaN: missing), bool or
        None (missing).

    Raises:
        LopsError: a global that such frames do not need, anything but a frame of plain columns, or
            a damaged file. The message names the global or the piece, the file, and the way out.

    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            _check_opcodes(file, path)
            file.seek(0)
            found = _FrameUnpickler(file, path).load()
        return columns_of(found)
    except FileNotFoundError:
        raise LopsError(f"{path}: no such file") from None
    except LopsError:
        raise
    except UnreadableError as error:
        raise LopsError(f"{path}: {error}, so it is not read; {WAY_OUT}") from None
    except Exception as error:  # a malformed pickle can raise anything
        raise LopsError(
            f"{path}: cannot be read as a pickled table ({type(error).__name__}: {error}); "
            f"fetch it again, or {WAY_OUT}"
        ) from None


def _check_opcodes(file: BinaryIO, path: Path) -> None:
    for number, (opcode, argument, position) in enumerate(pickletools.genops(file)):
        if opcode.name in _REFUSED_OPCODES:
            raise LopsError(
                f"{path}: the pickle uses {opcode.name} at byte {position}, which a table does not "
                f"need; nothing was run; {WAY_OUT}"
            )
        # The memo is an array as long as its largest index: one opcode could exhaust the memory.
        if opcode.name in _PUTS and isinstance(argument, int) and argument > number:
            raise LopsError(
                f"{path}: the pickle is malformed (memo index {argument} at byte {position}); "
                f"{WAY_OUT}"
            )
