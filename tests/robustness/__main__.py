"""The suites by hand: `python -m tests.robustness --cases 20000`, `... --kills 50`."""

import sys

from .fuzz import main

if __name__ == "__main__":
    sys.exit(main())
