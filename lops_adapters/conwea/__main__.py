"""``python -m lops_adapters.conwea``."""

import sys

from lops_adapters import console
from lops_adapters.conwea.framework import CONWEA
from lops_adapters.runs.command import command

main = command(CONWEA)

if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
