"""Reads the votes of several label sources, and matches answers that nearly name a class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.selection.source_table import Source
from lops_adapters.selection.sources import Votes
from lops_adapters.texts.abstentions import abstaining, named
from lops_adapters.texts.reading import read_labels

if TYPE_CHECKING:
    from lops_adapters.selection.assessment import Fitted, FittedCommittee
    from lops_adapters.texts.result import TextSelection

SHOWN = 5  # of a list, in a message


class SourceReport(NamedTuple):
    """What is estimated of a label source; compare sources by ``accuracy`` and its range.

    Attributes:
        name: of its column.
        votes: number of its votes.
        coverage: share of the texts that it votes on.
        accuracy: estimated share of right votes, in [0, 1]; NaN without votes.
        low, high: of a range of about 95 %.
        error: its most frequent error: the class it votes for, the true class, the share of its
            votes; None: none.
        alone: texts that no other source votes on: without it they have no label.
        changed: texts whose label changes without it, those included.

    """

    name: str
    votes: int
    coverage: float
    accuracy: float
    low: float
    high: float
    error: tuple[Hashable, Hashable, float] | None
    alone: int
    changed: int


def is_votes(labels: Any) -> bool:
    """Return whether labels are votes: a row of several labels per text."""
    if hasattr(labels, "columns"):
        return True
    if getattr(labels, "ndim", 1) == 2:
        return True
    if not isinstance(labels, Sequence) or not all(isinstance(row, list | tuple) for row in labels):
        return False
    return any(len(row) > 1 for row in labels)


def read_votes(
    labels: Any, source: Any = None, abstain: Any = None, classes: Sequence[Hashable] | None = None
) -> tuple[Votes, list[str]]:
    """Return the votes, and sentences about them.

    Args:
        labels: (n, m) labels, a frame with a column per source, or a list of rows; with ``source``,
            n labels.
        source: n names of the sources that gave the labels.
        abstain: values that are no vote, as for :func:`lops_adapters.select`.
        classes: names that votes are matched to, see :func:`matched`; default: all votes.

    Raises:
        LopsError: rows of several lengths, no votes, one class only, votes of several types, equal
            sources, and a vote for another class than ``classes``.

    >>> votes, _ = read_votes([["a", None], ["b", "a"], ["b", "b"]])
    >>> votes.sources, votes.classes, votes.codes.tolist()
    (['source 1', 'source 2'], ['a', 'b'], [[0, -1], [1, 0], [1, 1]])
    """
    names, rows = _rows(labels) if source is None else _of_sources(labels, source)
    n, m = len(rows), len(names)
    flat = [label for row in rows for label in row]
    said: list[str] = []
    if classes is not None:
        flat, said = matched(flat, classes, named(abstain) or frozenset())
    if all(abstaining(flat, named(abstain))):
        raise LopsError(f"none of the {m} sources votes; wanted a class name where one does")
    plain, voted = read_labels(flat, abstain)
    known = sorted({plain[i] for i in np.flatnonzero(voted).tolist()})
    place = {label: code for code, label in enumerate(known)}
    codes = np.full((n, m), -1, dtype=np.int32)
    codes.flat[voted] = [place[plain[i]] for i in np.flatnonzero(voted).tolist()]
    if m > 1 and (codes == codes[:, :1]).all():
        raise LopsError(f"all {m} sources give the same votes; give one of them as label")
    silent = [names[i] for i in np.flatnonzero((codes < 0).all(axis=0)).tolist()]
    if silent:
        said.append(f"Sources without a vote: {_listed(silent)}.")
    return Votes(names, known, codes), said


def _rows(labels: Any) -> tuple[list[str], list[Sequence[Any]]]:
    """Return the names of the sources and a row of votes per text."""
    if hasattr(labels, "columns"):
        names = [str(name) for name in labels.columns]
        columns = [list(labels[name]) for name in labels.columns]
        return names, list(zip(*columns, strict=True))
    rows = [row.tolist() if hasattr(row, "tolist") else list(row) for row in labels]
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or not min(lengths):
        raise LopsError(
            f"rows of votes have {_listed(map(str, sorted(lengths)))} entries; wanted the same "
            "number in each, one per source, None for an abstention"
        )
    return [f"source {i + 1}" for i in range(len(rows[0]))], rows


def _of_sources(labels: Any, source: Any) -> tuple[list[str], list[Sequence[Any]]]:
    """Return sources with one vote per text: that of the source that gave its label."""
    given, names = list(labels), ["" if one is None else str(one) for one in source]
    if len(given) != len(names):
        raise LopsError(
            f"found {len(given)} labels and {len(names)} sources; wanted the source of every label"
        )
    every = sorted(set(names))
    if len(every) < 2:
        raise LopsError(f"all labels are from the source {every[0]!r}; leave source out")
    place = {name: i for i, name in enumerate(every)}
    rows: list[Sequence[Any]] = []
    for label, name in zip(given, names, strict=True):
        row: list[Any] = [None] * len(every)
        row[place[name]] = label
        rows.append(row)
    return every, rows


def matched(
    answers: Sequence[Any], classes: Sequence[Hashable], abstain: frozenset[Hashable] = frozenset()
) -> tuple[list[Any], list[str]]:
    """Return answers as classes that they name, and a sentence about those that differ from them.

    An answer names a class if it is equal to it but for case, spaces, punctuation and a plural s;
    or if it holds its name as words, and the name of no other class.

    Args:
        answers: of language models, for instance; None: no answer.
        classes: wanted.
        abstain: answers that name none.

    Raises:
        LopsError: an answer that names no class, or several.

    >>> matched(["Sports.", "it is art", None], ["sport", "art"])
    (['sport', 'art', None], ["Read as classes: 'Sports.' as sport (1), 'it is art' as art (1)."])
    """
    wanted = {_folded(str(label)): label for label in classes}
    if len(wanted) < len(classes):
        raise LopsError(
            f"classes {_listed(map(repr, classes))} differ by case, spaces or punctuation only; "
            "wanted distinct names"
        )
    counts: Counter[Any] = Counter()
    missing = abstaining(list(answers), abstain).tolist()
    meant: dict[Any, Hashable] = {label: label for label in classes}
    for answer, gone in zip(answers, missing, strict=True):
        if not gone:
            if answer not in meant:
                meant[answer] = _named_class(str(answer), wanted)
            counts[answer] += 1
    others = [answer for answer in counts if answer not in set(classes)]
    unknown = [answer for answer in others if meant[answer] is None]
    if unknown:
        raise LopsError(
            f"{len(unknown)} different votes name none, or several, of the classes, such as "
            f"{_listed(repr(one)[:60] for one in unknown)}; add classes, correct these votes, or "
            "name them as abstentions (abstain)"
        )
    found = [None if gone else meant[a] for a, gone in zip(answers, missing, strict=True)]
    if not others:
        return found, []
    others.sort(key=lambda answer: (-counts[answer], str(answer)))
    shown = [f"{one!r} as {meant[one]} ({counts[one]:,})" for one in others]
    return found, [f"Read as classes: {_listed(shown)}."]


def _named_class(answer: str, wanted: dict[str, Hashable]) -> Hashable | None:
    folded = _folded(answer)
    if folded in wanted:
        return wanted[folded]
    words = f" {folded} "
    held = [label for name, label in wanted.items() if name and f" {name} " in words]
    return held[0] if len(held) == 1 else None


def _folded(name: str) -> str:
    """Return a name without case, punctuation and plural.

    >>> _folded("Sci/Tech."), _folded("  SPORTS"), _folded("business")
    ('sci tech', 'sport', 'business')
    """
    words = re.sub(r"[\W_]+", " ", name.casefold()).split()
    return " ".join(w[:-1] if w.endswith("s") and not w.endswith("ss") else w for w in words)


@dataclass
class Poll:
    """The votes of a selection, and what becomes known of their sources.

    Args:
        votes: for n texts.

    """

    votes: Votes
    _first: list[Any] = field(default_factory=list)
    _estimates: list[Source] = field(default_factory=list)
    _committees: list[FittedCommittee] = field(default_factory=list)

    def options(self, fitted: Fitted | None, suggests: bool) -> dict[str, Any]:
        """Return options of the committee; ``suggests``: it scores texts without a vote, too."""
        options: dict[str, Any] = {"assessed": self._estimates.extend}
        if suggests:

            def receive(committee: FittedCommittee) -> None:
                self._committees.append(committee)
                if fitted is not None:
                    fitted(committee)

            options["fitted"] = receive
        return options

    def joined(self, names: Sequence[Any], rows: np.ndarray, labels: Sequence[Any]) -> list[Any]:
        """Return n labels: those of members and votes at (m,) positions, None elsewhere."""
        self._first = list(names)
        every = [None] * len(names)
        for row, label in zip(rows.tolist(), labels, strict=True):
            every[row] = label
        return every

    def report(self, selection: TextSelection) -> None:
        """Tell a selection what is known of the sources, and suggest labels without a vote."""
        classes, codes = list(selection.per_class), self.votes.codes
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
            for name, count, one in zip(
                self.votes.sources, (codes >= 0).sum(axis=0), self._estimates, strict=True
            )
        ]
        changed = sum(a != b for a, b in zip(self._first, selection.labels, strict=True))
        rows = len(codes) - len(selection.abstained)
        selection.said.rows += [
            f"Sources: {len(self.votes.sources)}. Members and votes together change the label of "
            f"{changed:,} of {rows:,} rows, compared with the weighted majority."
        ]
        if len(selection.abstained):
            suggested = ""
            if self._committees:
                selection.suggest_without_label(self._committees[0])
                suggested = ", with a suggestion"
            selection.said.rows.append(
                f"Without a vote: {len(selection.abstained):,} rows, neither kept nor "
                f"rejected{suggested}."
            )


def joined_labels(
    labels: Any, source: Any, abstain: Any, classes: Sequence[Hashable] | None
) -> tuple[Any, Any, Poll | None, list[str]]:
    """Return one label per text, what is no label, the votes, and sentences about labels.

    Args:
        labels, source, abstain, classes: as for :func:`read_votes`; labels may be single ones.

    Returns:
        Labels and values that are none, as given, if neither votes nor classes are; the votes are
        None if each text has one label.

    """
    if source is not None or is_votes(labels):
        votes, said = read_votes(labels, source, abstain, classes)
        return votes.first_labels(), None, Poll(votes), said
    if classes is not None:
        found, said = matched(list(labels), classes, named(abstain) or frozenset())
        return found, None, None, said
    return labels, abstain, None, []


def _listed(parts: Any) -> str:
    """Return the first parts, and how many more there are."""
    every = list(parts)
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more
