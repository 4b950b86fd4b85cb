"""Read pickled pandas frames without pandas and without running code from the file.

A pickle is a program. ``pickle_reader`` interprets it in a process of its own, with limits on
memory and time, and sends back plain columns.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from lops_adapters import shipped
from lops_adapters.core import LopsError
from lops_adapters.datasets import pickle_reader
from lops_adapters.remote import opened

_LONGEST = 200  # characters of a foreign error in a message
_WAIT = 10  # seconds on the clock per second of processor time


def read_frame(path: str | Path) -> dict[str, list[Any]]:
    """Read the columns of a pickled pandas DataFrame without running any of the file.

    A file is written by ``DataFrame.to_pickle``, not compressed, of any pickle protocol and pandas
    0.25 to 3. Returns column name -> its cells, in the order of the rows: str, int, float (NaN:
    missing), bool or None (missing).

    Raises a LopsError about a global that such frames do not need, anything but a frame of plain
    columns, a frame far larger than its file, or a damaged file.
    """
    try:
        with opened(Path(path)) as file:
            size = os.fstat(file.fileno()).st_size
            memory, seconds = pickle_reader.limits(size)
            done = subprocess.run(
                # Without site packages, and without the caller's environment and folder.
                [sys.executable, "-I", "-S", "-c", shipped.text("datasets/pickle_reader.py")],
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=seconds * _WAIT,
                check=True,
            )
        answer = json.loads(done.stdout)
    except OSError as error:
        raise LopsError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        limit = f"{seconds} seconds or {memory / 2**30:.1f} GB of memory"
        answer = {"error": f"reading it crashes or takes more than {limit}"}
    if "error" in answer:
        raise LopsError(
            f"{path} is not read as a pickled table: {answer['error']:.{_LONGEST}}; nothing was "
            "run. If you trust the file, open it with pandas and save it as CSV or Parquet"
        )
    columns: dict[str, list[Any]] = answer["columns"]
    return columns
