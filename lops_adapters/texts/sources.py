"""What a selection says of the label sources whose votes it joined."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lops_adapters.console import listed
from lops_adapters.labels.votes import Votes
from lops_adapters.report.contents import SourceReport
from lops_adapters.selection.committee.folds import FOLDS

if TYPE_CHECKING:
    from lops_adapters.selection.votes.source_table import Source
    from lops_adapters.texts.result import TextSelection


def report_sources(
    selection: TextSelection, votes: Votes, changed: int, estimates: Sequence[Source]
) -> None:
    """Tell a selection of votes what is known of its sources, with an estimate for each.

    ``changed``: texts whose label is not the weighted majority.
    """
    classes, codes = list(selection.per_class), votes.codes
    selection.votes = votes
    selection.sources = [
        SourceReport(
            name,
            int(count),
            int(count) / len(codes),
            one.accuracy,
            one.low,
            one.high,
            (classes[one.voted], classes[one.true], one.share) if one.share > 0 else None,
            one.alone,
            one.changed,
        )
        for name, count, one in zip(votes.sources, (codes >= 0).sum(axis=0), estimates, strict=True)
    ]
    known = len(codes) - len(selection.abstained)
    selection.said.notes += [
        f"Sources: {len(votes.sources)}. Members and votes together change the label of "
        f"{changed:,} of {known:,} rows, compared with the weighted majority.",
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
