"""Reads the votes of several label sources, and reports what is known of each source."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import is_unlabelled
from lops_adapters.report.contents import SourceReport
from lops_adapters.selection.folds import FOLDS
from lops_adapters.selection.sources import Votes
from lops_adapters.texts.abstentions import abstaining, named
from lops_adapters.texts.near_classes import matched
from lops_adapters.texts.reading import check_names, flat_list, plain_value, read_labels

if TYPE_CHECKING:
    from lops_adapters.selection.assessment import FittedCommittee
    from lops_adapters.selection.source_table import Source
    from lops_adapters.texts.result import TextSelection


def is_votes(labels: Any) -> bool:
    """Return whether labels are votes: a row of several labels per text."""
    if isinstance(labels, Mapping):
        return all(isinstance(column, list | tuple | np.ndarray) for column in labels.values())
    if isinstance(labels, Votes) or hasattr(labels, "columns"):
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
        labels: (n, m) labels, a frame or dict with a column per source, or a list of rows; with
            ``source``, n labels.
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
    votes, said = (
        (labels, []) if isinstance(labels, Votes) else _read(labels, source, abstain, classes)
    )
    names, codes = votes.sources, votes.codes
    if len(names) > 1 and (codes == codes[:, :1]).all():
        raise LopsError(f"all {len(names)} sources give the same votes; give one of them as label")
    silent = [names[i] for i in np.flatnonzero((codes < 0).all(axis=0)).tolist()]
    if silent:
        said.append(f"Sources without a vote: {listed(silent, 5)}.")
    return votes, said


def _read(
    labels: Any, source: Any, abstain: Any, classes: Sequence[Hashable] | None
) -> tuple[Votes, list[str]]:
    """Return the votes, and a sentence about votes that nearly name a class."""
    names, rows = _rows(labels) if source is None else _of_sources(labels, source)
    n, m = len(rows), len(names)
    flat, said = [plain_value(label) for row in rows for label in row], list[str]()
    check_names(flat)
    if classes is not None:
        flat, said = matched(flat, classes, named(abstain) or frozenset(), m)
    if all(abstaining(flat, named(abstain))):
        raise LopsError(f"none of the {m} sources votes; wanted a class name where one does")
    plain, voted = read_labels(flat, abstain)
    known = sorted({plain[i] for i in np.flatnonzero(voted).tolist()})
    place = {label: code for code, label in enumerate(known)}
    codes = np.full((n, m), -1, dtype=np.int32)
    codes.flat[voted] = [place[plain[i]] for i in np.flatnonzero(voted).tolist()]
    return Votes(names, known, codes), said


def _rows(labels: Any) -> tuple[list[str], list[Sequence[Any]]]:
    """Return the names of the sources and a row of votes per text."""
    if isinstance(labels, Mapping) or hasattr(labels, "columns"):
        names = labels if isinstance(labels, Mapping) else labels.columns
        names = list(getattr(labels, "column_names", names))  # the columns of pyarrow are arrays
        columns = [list(labels[name]) for name in names]
        counts = sorted({len(column) for column in columns})
        if len(counts) != 1:
            raise LopsError(
                f"columns of votes have {listed(counts, 5)} entries; wanted one per text in each, "
                "None for an abstention"
            )
        return list(map(str, names)), list(zip(*columns, strict=True))
    rows = [row.tolist() if hasattr(row, "tolist") else list(row) for row in labels]
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or not min(lengths):
        raise LopsError(
            f"rows of votes have {listed(map(str, sorted(lengths)), 5)} entries; wanted the same "
            "number in each, one per source, None for an abstention"
        )
    return [f"source {i + 1}" for i in range(len(rows[0]))], rows


def _of_sources(labels: Any, source: Any) -> tuple[list[str], list[Sequence[Any]]]:
    """Return sources with one vote per text: that of the source that gave its label."""
    values = flat_list(labels, "labels", "class names, one per source")
    listed_names = flat_list(source, "source", "names, one per label")
    names = ["" if is_unlabelled(one) else str(one) for one in listed_names]
    if len(values) != len(names):
        raise LopsError(
            f"found {len(values)} labels and {len(names)} sources; wanted the source of every label"
        )
    every = sorted(set(names))
    if len(every) < 2:
        raise LopsError(f"all labels are from the source {every[0]!r}; leave source out")
    place = {name: i for i, name in enumerate(every)}
    rows: list[Sequence[Any]] = []
    for label, name in zip(values, names, strict=True):
        row: list[Any] = [None] * len(every)
        row[place[name]] = label
        rows.append(row)
    return every, rows


def report_sources(
    selection: TextSelection,
    votes: Votes,
    estimates: Sequence[Source],
    committees: Sequence[FittedCommittee],
    groups: np.ndarray | None,
) -> None:
    """Tell a selection what is known of its sources, and suggest labels of texts without a vote.

    Args:
        selection: of votes.
        votes: for its n texts.
        estimates: one per source.
        committees: the fitted committee, if it also scores texts without a vote.
        groups: int codes of the groups of these texts, -1: none that has votes; None: no groups.

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
    without, pairs = (
        len(selection.abstained),
        zip(votes.first_labels(), selection.labels, strict=True),
    )
    notes = [
        f"Sources: {len(votes.sources)}. Members and votes together change the label of "
        f"{sum(a != b for a, b in pairs):,} of {len(codes) - without:,} rows, compared with the "
        "weighted majority."
    ]
    if without:
        suggested = ", with a suggestion" if committees else ""
        notes.append(f"Without a vote: {without:,} rows, neither kept nor rejected{suggested}.")
    for committee in committees:
        selection.suggest_without_label(committee, groups)
    selection.said.notes += [*notes, *_about_few(votes)]


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


def joined_labels(
    labels: Any, source: Any, abstain: Any, classes: Sequence[Hashable] | None
) -> tuple[Any, Any, Votes | None, list[str]]:
    """Return one label per text, what is no label, the votes, and sentences about labels.

    Args:
        labels, source, abstain, classes: as for :func:`read_votes`; labels may be single ones.

    Returns:
        Labels and values that are no label, as given, if neither votes nor classes are; the votes
        are None if each text has one label.

    """
    if classes is not None:
        classes = flat_list(classes, "classes", "class names")
    if source is not None or is_votes(labels):
        votes, said = read_votes(labels, source, abstain, classes)
        return votes.first_labels(), None, votes, said
    if classes is not None:
        check_names(labels)
        matched_labels, said = matched(list(labels), classes, named(abstain) or frozenset())
        return matched_labels, None, None, said
    return labels, abstain, None, []
