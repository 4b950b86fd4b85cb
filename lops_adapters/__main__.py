"""``python -m lops_adapters``: the command ``lops``, where its script is not on the path."""

import sys

from lops_adapters.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
