"""The arms of a run: their names, and how a list of them is read."""

from collections.abc import Sequence
from difflib import get_close_matches

from lops_adapters.console import typed
from lops_adapters.core import LopsError

STANDARD, LOPS = "standard", "lops"  # no selection; the setting ``method``


def read_arms(text: str, known: Sequence[str]) -> list[str]:
    """Return the arms of a comma-separated list, in the order of the known ones.

    >>> read_arms("lops,standard", ("standard", "lops"))
    ['standard', 'lops']
    """
    asked = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        near = get_close_matches(unknown[0], known, n=1) if unknown else []
        hint = f"; {unknown[0]!r} is unknown" if unknown else ""
        hint += f" (did you mean {near[0]}?)" if near else ""
        raise LopsError(
            f"{typed('arms')} are {text!r}{hint}; wanted some of {', '.join(known)}, "
            "comma-separated"
        )
    return [name for name in known if name in asked]
