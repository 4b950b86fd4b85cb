"""``python -m lops_adapters.lotclass``."""

import sys

from lops_adapters import console
from lops_adapters.lotclass.framework import LOTCLASS
from lops_adapters.runs.command import command

main = command(LOTCLASS)

if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
