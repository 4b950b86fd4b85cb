"""``python -m lops_adapters.self_training``."""

import sys

from lops_adapters import console
from lops_adapters.runs.command import command
from lops_adapters.self_training.framework import SELF_TRAINING

main = command(SELF_TRAINING)

if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
