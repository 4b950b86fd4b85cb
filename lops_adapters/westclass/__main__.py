"""``python -m lops_adapters.westclass``."""

import sys

from lops_adapters import console
from lops_adapters.runs.command import command
from lops_adapters.westclass.framework import WESTCLASS

main = command(WESTCLASS)

if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
