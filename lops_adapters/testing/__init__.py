"""What every method, member, format and framework promises, as checks for your tests.

A check raises an AssertionError that says which promise is broken; this package's tests also use
them. docs/extend.md shows how.
"""

from lops_adapters.testing.data import noisy_texts
from lops_adapters.testing.formats import check_format
from lops_adapters.testing.frameworks import check_framework, check_run
from lops_adapters.testing.members import check_member
from lops_adapters.testing.methods import check_method

__all__ = [
    "check_format",
    "check_framework",
    "check_member",
    "check_method",
    "check_run",
    "noisy_texts",
]
