"""``lops select``, and ``select`` in Python, as most tests run them: without an encoder."""

from functools import partial

import lops_adapters
from lops_adapters.cli import select as command

OPTIONS = ["--text", "text", "--label", "weak", "--quiet", "--encoder", "none"]
select = partial(lops_adapters.select, encoder=None)


def run(*arguments):
    """Run the command on a table of :mod:`tests.noisy`."""
    return command.main([*map(str, arguments), *OPTIONS])
