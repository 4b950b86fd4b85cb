"""What the rows that a person has checked say of the noise."""

from lops_adapters.console import percent
from lops_adapters.selection.checking import Rate

_NARROW = 0.1  # range of the share of wrong labels, from which on more checks say little


def sentences(rate: Rate | None, n: int) -> list[str]:
    """Return what checked rows say of the noise of n rows, and what more of them would bring."""
    if rate is None:
        return []
    rows = "1 row" if rate.checked == 1 else f"{rate.checked:,} rows"
    text = (
        f"Checked: {rows}. Wrong labels: {percent(rate.value)} of all rows "
        f"({percent(rate.low)} to {percent(rate.high)}, 95 % interval)"
    )
    return [f"{text}{what_more_brings(rate, n)}."]


def what_more_brings(rate: Rate, n: int) -> str:
    """Return what checking more of n rows would bring, to append to a sentence; or nothing.

    >>> what_more_brings(Rate(0.1, 0.05, 0.25, 50), 1000)
    '; checking 150 more would halve the range'
    """
    if rate.high - rate.low <= _NARROW:
        return "; this range is narrow enough to stop"
    if 4 * rate.checked <= n:
        return f"; checking {3 * rate.checked:,} more would halve the range"
    return ""
