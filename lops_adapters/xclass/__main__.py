"""``python -m lops_adapters.xclass``."""

import sys

from lops_adapters import console
from lops_adapters.runs.command import command
from lops_adapters.xclass.framework import XCLASS

main = command(XCLASS)

if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
