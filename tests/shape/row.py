"""What a row of a table passes: functions, files, and our frames above the mathematics.

    python -m tests.shape.row

One run of ``lops select`` on the table of ``lops demo``, in this process. The gates stand in
CONTRIBUTING.md; ``test_row.py`` holds them.
"""

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import lops_adapters
from lops_adapters.cli.main import main as lops

PACKAGE = str(Path(lops_adapters.__file__).parent)
MATHEMATICS = "softmax"  # the first one, of the linear member


class Passed(NamedTuple):
    """The functions of the package that were called, their files, and frames above softmax."""

    functions: int
    files: int
    frames: int


def measure(arguments: list[str]) -> Passed:
    """Run a command and return what it passed."""
    codes: set[CodeType] = set()
    frames: list[int] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        if code.co_name[0] != "<":  # neither a module nor a comprehension
            codes.add(code)
        if not frames and code.co_name == MATHEMATICS:
            above, count = frame.f_back, 0
            while above is not None:
                count += above.f_code.co_filename.startswith(PACKAGE)
                above = above.f_back
            frames.append(count)

    sys.setprofile(profile)
    try:
        lops(arguments)
    finally:
        sys.setprofile(None)
    return Passed(len(codes), len({code.co_filename for code in codes}), frames[0])


def main() -> None:
    """Print the three numbers."""
    silent = contextlib.redirect_stdout(io.StringIO())
    with tempfile.TemporaryDirectory() as folder, silent:
        lops(["demo", "--output", f"{folder}/first"])
        select = ["select", f"{folder}/first/labels.csv", "--text", "text", "--label", "weak"]
        passed = measure([*select, "--output", f"{folder}/out"])
    sys.stdout.write("functions {}, files {}, frames {}\n".format(*passed))


if __name__ == "__main__":
    main()
