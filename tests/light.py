"""What a program imports: a measure of a quick start that a busy machine does not change."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

LIGHT = {"lops_adapters", "numpy", "tqdm"}  # what may be imported before any work
_CODE = """
import atexit, json, os, sys
before = set(sys.modules)
def say():
    loaded = set(sys.modules) - before
    named = {{name.partition(".")[0] for name in loaded}} - set(sys.stdlib_module_names)
    named = [name for name in named if not name.startswith("_")]
    print(json.dumps([sorted(named), len(loaded), os.environ.get("KERAS_BACKEND")]))
atexit.register(say)
{code}
"""


class Start(NamedTuple):
    """A program that has ended: its output, packages outside the standard library, the number of
    modules, the Keras backend that it chose (or None).
    """

    out: str
    packages: set[str]
    modules: int
    backend: str | None


def start(code):
    """Run code in a fresh interpreter, which writes nothing on standard error."""
    environment = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    command = [sys.executable, "-c", _CODE.format(code=code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == ""
    *lines, last = done.stdout.splitlines()
    packages, modules, backend = json.loads(last)
    return Start("\n".join(lines), set(packages), modules, backend)
