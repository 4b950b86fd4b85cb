"""What a selection says of the label sources whose votes it joined."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lops_adapters.console import listed
from lops_adapters.labels.votes import Votes
from lops_adapters.report.contents import SourceReport
from lops_adapters.selection.committee.folds import FOLDS

if TYPE_CHECKING:
    from lops_adapters.selection.votes.source_table import Source


def source_reports(
    votes: Votes, estimates: Sequence[Source], classes: Sequence[Hashable]
) -> list[SourceReport]:
    """Return what is known of each source; the estimates have codes of the classes."""
    n, counts = len(votes.codes), (votes.codes >= 0).sum(axis=0).tolist()
    return [
        SourceReport(
            name,
            count,
            count / n,
            one.accuracy,
            one.low,
            one.high,
            (classes[one.voted], classes[one.true], one.share) if one.share > 0 else None,
            one.alone,
            one.changed,
        )
        for name, count, one in zip(votes.sources, counts, estimates, strict=True)
    ]


def about_sources(votes: Votes, changed: int, joined: str) -> list[str]:
    """Return sentences about votes.

    ``changed``: texts whose label is not the one by votes alone; ``joined``: by which rule.
    """
    known = int((votes.codes >= 0).any(axis=1).sum())
    return [
        f"Sources: {len(votes.sources)}. {joined} Members change the label of {changed:,} of "
        f"{known:,} rows.",
        *_about_few(votes),
    ]


def _about_few(votes: Votes) -> list[str]:
    """Return a sentence about classes with fewer votes than folds, and the names that they nearly
    are.

    >>> _about_few(Votes(["one"], ["money", "Moneyy"], np.array([[0], [0], [0], [1]])))
    ["Fewer than 3 votes: 'Moneyy' (1, nearly 'money'). Other votes for a row overrule them."]
    """
    counts = np.bincount(votes.codes[votes.codes >= 0], minlength=len(votes.classes)).tolist()
    of_class = dict(zip(map(str, votes.classes), counts, strict=True))
    usual = {name.casefold(): name for name, count in of_class.items() if count >= FOLDS}
    few = []
    for name, count in of_class.items():
        if 0 < count < FOLDS:
            near = difflib.get_close_matches(name.casefold(), usual, n=1, cutoff=0.8)
            few.append(f"{name!r} ({count}{f', nearly {usual[near[0]]!r}' if near else ''})")
    if not few:
        return []
    return [f"Fewer than {FOLDS} votes: {listed(few, 5)}. Other votes for a row overrule them."]
