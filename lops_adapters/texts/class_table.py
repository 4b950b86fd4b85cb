"""The table of classes: rows, kept rows, and how many labels are wrong."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from lops_adapters.console import aligned, percent
from lops_adapters.core import ClassReport
from lops_adapters.selection.committee.noise import Rate


class Wrong(NamedTuple):
    """How many labels are wrong: by checked rows, or else an estimate.

    Attributes:
        shares: class -> estimated share of wrong labels, in [0, 1]; None: no estimate.
        rates: the same per class, of classes with checked rows.
        limits: of the estimate, in [0, 1].
        calibrated: whether the limits hold for about 80 % of tables; then they are shown.
    """

    shares: Mapping[Hashable, float] | None = None
    rate: Rate | None = None
    rates: Mapping[Hashable, Rate] = {}
    limits: tuple[float, float] = (0.0, 1.0)
    calibrated: bool = False

    def share(self, per_class: Mapping[Hashable, ClassReport]) -> list[float]:
        """Return the share of wrong labels and its range, in [0, 1]; empty: unknown."""
        if self.rate is not None:
            return [*self.rate[:3]]
        total = self.total(per_class)
        low, high = self.limits
        return [] if total is None else [total, min(low, total), max(high, total)]

    def total(self, per_class: Mapping[Hashable, ClassReport]) -> float | None:
        """Return the estimated share of wrong labels in [0, 1]; None: no estimate."""
        if self.shares is None:
            return None
        wrong = sum(share * per_class[label].count for label, share in self.shares.items())
        return wrong / sum(report.count for report in per_class.values())


def class_table(per_class: Mapping[Hashable, ClassReport], wrong: Wrong, about: str = "") -> str:
    """Return a table of rows, kept rows, their share and wrong labels, and why if it differs.

    ``about`` stands behind the last row.
    """
    rows = cells(per_class, wrong)
    width = max(len(row[-1]) for row in rows)
    if rows[0][-1] == "why":
        rows = [[*numbers, why.ljust(width)] for *numbers, why in rows]
    lines = [line.rstrip() for line in aligned(rows).splitlines()]
    return "\n".join([*lines[:-1], lines[-1] + about])


def cells(per_class: Mapping[Hashable, ClassReport], wrong: Wrong) -> list[list[str]]:
    """Return the heading, a row per class and one of all, as text; arguments as above."""
    head, shares, of_all = _wrong_cells(per_class, wrong)
    rows = [["class", "rows", "kept", "share", *head, "why"]]
    rows += [
        [str(c), f"{r.count:,}", f"{r.kept:,}", percent(r.kept / r.count), *shares[c], r.why]
        for c, r in per_class.items()
        if r.count
    ]
    n, kept = (
        sum(part) for part in zip(*((r.count, r.kept) for r in per_class.values()), strict=True)
    )
    rows.append(["all", f"{n:,}", f"{kept:,}", percent(kept / n), *of_all, ""])
    same = len({why for *_, why in rows[1:-1]}) == 1
    return [numbers for *numbers, _ in rows] if same else rows


def wrong_column(per_class: Mapping[Hashable, ClassReport], wrong: Wrong) -> list[str]:
    """Return a heading, and how many labels of each class are wrong; empty if nothing is known."""
    head, shares, _ = _wrong_cells(per_class, wrong)
    return [*head, *(shares.get(c, ["-"])[0] for c in per_class)] if head else []


def _wrong_cells(
    per_class: Mapping[Hashable, ClassReport], wrong: Wrong
) -> tuple[list[str], dict[Hashable, list[str]], list[str]]:
    if wrong.rate is not None:
        cells = {c: [interval(wrong.rates.get(c))] for c in per_class}
        return ["wrong (checked)"], cells, [interval(wrong.rate)]
    total = wrong.total(per_class)
    if wrong.shares is None or total is None:
        return [], {c: [] for c in per_class}, []
    shares = {c: [percent(wrong.shares.get(c))] for c, r in per_class.items() if r.count}
    of_all = percent(total)
    if wrong.calibrated:
        low, high = wrong.limits
        of_all = f"{of_all} ({100 * low:.0f}-{100 * high:.0f})"
    return ["wrong (estimate)"], shares, [of_all]


def interval(rate: Rate | None) -> str:
    """Return a rate with its range, in percent.

    >>> interval(Rate(0.1, 0.04, 0.2, 50)), interval(Rate(0.5, 0.5, 0.5, 8)), interval(None)
    ('10.0 % (4.0-20.0)', '50.0 %', '-')
    """
    if rate is None or rate.low == rate.high:
        return percent(None if rate is None else rate.value)
    return f"{percent(rate.value)} ({100 * rate.low:.1f}-{100 * rate.high:.1f})"
