"""Several processes under ``accelerate launch``: the first writes the run folder.

The others run the same steps in temporary copies of the folder.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from lops_adapters.lotclass.engine import Engine
from lops_adapters.runs.folder import RunFolder


def follows() -> bool:
    """Return whether this process is one of several, but not the first."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 and int(os.environ.get("RANK", "0")) > 0


def follow(command: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Run the command like the first process, silently and in a temporary run folder."""
    with tempfile.TemporaryDirectory(prefix="lops-") as folder, redirect_stdout(io.StringIO()):
        own = {"output": Path(folder) / "run", "resume": False, "quiet": True}
        return command(argparse.Namespace(**{**vars(options), **own}))


def join(run: RunFolder, engine: Engine) -> None:
    """Copy the finished stages of the first process's run to the other processes' folders."""
    path = engine.agree(run.path.resolve())
    if not engine.main:
        shutil.copytree(path / "work", run.work, dirs_exist_ok=True)
    engine.wait()
