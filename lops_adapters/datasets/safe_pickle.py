"""Read pickled pandas frames without pandas and without running code from the file.

A pickle is a program. Here it is interpreted opcode by opcode (``pickle_machine``), and every
global it may name is replaced by a ``Record`` (``pickle_records``), a class that only keeps its
arguments and state. Every other global is refused. ``pickled_frames`` then checks every piece of
the records and turns them into lists. Time and memory are in proportion to the size of the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.datasets.pickle_machine import RefusedPickleError, interpret
from lops_adapters.datasets.pickled_frames import UnreadableError, columns_of

WAY_OUT = "if you trust the file, open it with pandas and save it as CSV or Parquet"
_LONGEST = 200  # characters of a foreign error in a message


def read_frame(path: str | Path) -> dict[str, list[Any]]:
    """Read the columns of a pickled pandas DataFrame without running any of the file.

    Frames written by pandas 0.25 to 3 can be read.

    Args:
        path: a file of ``DataFrame.to_pickle``, not compressed, any pickle protocol.

    Returns:
        Column name to its cells, in the order of the rows: str, int, float (NaN: missing), bool or
        None (missing).

    Raises:
        LopsError: a global that such frames do not need, anything but a frame of plain columns, a
            frame far larger than its file, or a damaged file. The message names the global or the
            piece, the file, and the way out.

    """
    path = Path(path)
    try:
        content = path.read_bytes()
        return columns_of(interpret(content), len(content))
    except FileNotFoundError:
        raise LopsError(f"{path}: no such file") from None
    except OSError as error:
        raise LopsError(f"{path}: cannot be read ({error.strerror or error})") from None
    except RefusedPickleError as error:
        raise LopsError(f"{path}: the pickle {error}; nothing was run; {WAY_OUT}") from None
    except UnreadableError as error:
        raise LopsError(f"{path}: {error}, so it is not read; {WAY_OUT}") from None
    except Exception as error:  # a malformed pickle can raise anything
        found = f"{type(error).__name__}: {error}"
        raise LopsError(
            f"{path}: cannot be read as a pickled table ({found:.{_LONGEST}}); "
            f"fetch it again, or {WAY_OUT}"
        ) from None
