"""Read pickled pandas frames without pandas and without running code from the file.

A pickle is a program. Here every global it may name is a ``Record`` (see ``pickle_records``), a
class that only keeps its arguments and state, and every other global is refused before it is looked
up, so no code but this package's runs. What the records say is then turned into lists by
``pickled_frames``, which checks every piece.
"""

from __future__ import annotations

import pickle
import pickletools
from pathlib import Path
from typing import Any, BinaryIO

from lops_adapters.core import LopsError
from lops_adapters.datasets.pickle_records import KNOWN, Record
from lops_adapters.datasets.pickled_frames import UnreadableError, columns_of

WAY_OUT = "if you trust the file, open it with pandas yourself and save it as CSV or Parquet"


# What fetches objects other than through find_class, or builds them in ways no frame needs.
_REFUSED_OPCODES = {
    "PERSID",
    "BINPERSID",
    "EXT1",
    "EXT2",
    "EXT4",
    "INST",
    "OBJ",
    "NEWOBJ_EX",
    "NEXT_BUFFER",
}
_PUTS = {"PUT", "BINPUT", "LONG_BINPUT"}


class _FrameUnpickler(pickle.Unpickler):
    """An unpickler that knows the stand-ins and nothing else."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        # Python 2 wrote bytes and text alike; what is not UTF-8 can be turned back into bytes
        # unharmed.
        super().__init__(file, encoding="utf-8", errors="surrogateescape")
        self._path = path

    def find_class(self, module: str, name: str) -> type[Record]:
        """Return the stand-in for a global that a frame needs."""
        kind = KNOWN.get((module, name))
        if kind is None:
            raise LopsError(
                f"{self._path}: the pickle asks for {module}.{name}, which a table of texts and labels does not need; nothing of "
                f"it was run; {WAY_OUT}"
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
        LopsError: a global other than those of such frames, anything but a frame of plain columns,
            or a damaged file. The message names the global or the piece, the file, and the way out.

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
    except (
        Exception
    ) as error:  # a malformed pickle can fail in any way; none of them may escape as something else
        raise LopsError(
            f"{path}: cannot be read as a pickled table ({type(error).__name__}: {error}); fetch it again, or {WAY_OUT}"
        ) from None


def _check_opcodes(file: BinaryIO, path: Path) -> None:
    for number, (opcode, argument, position) in enumerate(pickletools.genops(file)):
        if opcode.name in _REFUSED_OPCODES:
            raise LopsError(
                f"{path}: the pickle uses {opcode.name} at byte {position}, which a table does not need; nothing of it was run; {WAY_OUT}"
            )
        # The memo is an array as long as its largest index: one opcode could ask for all the memory
        # there is.
        if opcode.name in _PUTS and isinstance(argument, int) and argument > number:
            raise LopsError(
                f"{path}: the pickle is malformed (memo index {argument} at byte {position}); {WAY_OUT}"
            )
