"""The command with small presets, as a program: ``command.py [option ...]``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lops_adapters import console
from lops_adapters.lotclass.__main__ import main
from tests.framework_tools import plain_arithmetic
from tests.lotclass.toys import small_presets

if __name__ == "__main__":
    with plain_arithmetic(), small_presets():
        sys.exit(console.guarded(main)(sys.argv[1:]))
