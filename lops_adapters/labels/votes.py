"""The votes of label sources: a column of labels per source, or a column that names the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.cells import cell_text, content, is_unlabelled, whole
from lops_adapters.labels.classes import Classes
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.missing import code_or_label


class Votes(NamedTuple):
    """Votes of m named sources for n samples: (n, m) int codes among k classes; -1: no vote."""

    sources: Sequence[str]
    classes: Sequence[Hashable]
    codes: np.ndarray

    def at(self, rows: np.ndarray) -> Votes:
        """Return the votes for (r,) int positions of samples."""
        return self._replace(codes=self.codes[rows])

    @property
    def used(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes that have a vote, (k',) int, and the codes among these, (n, m)."""
        used = np.unique(self.codes[self.codes >= 0])
        return used, self.among([self.classes[code] for code in used.tolist()])

    def among(self, classes: Sequence[Hashable]) -> np.ndarray:
        """Return the codes among other classes; votes for classes that are not there are gone."""
        code_of = {label: code for code, label in enumerate(classes)}
        new = np.array([*(code_of.get(label, -1) for label in self.classes), -1])
        return np.asarray(new[self.codes])


def majority(cells: Sequence[Sequence[Any]], is_named: Callable[[Any], bool]) -> list[Any]:
    """Return the most frequent vote of each row; None without one. Ties: the first source's.

    It only groups rows until the votes are weighed. A vote of -1 counts if there is no other.
    ``cells`` hold a vote per row of every source; ``is_named`` says whether one is named as none.
    """
    known: set[Any] = set().union(*cells)
    gone = {vote for vote in known if is_unlabelled(vote) or is_named(vote)}
    minus = {vote for vote in known - gone if code_or_label(vote) == -1}
    labels: list[Any] = []
    for row in zip(*cells, strict=True):
        votes = [cell for cell in row if cell not in gone]
        votes = [cell for cell in votes if cell not in minus] or votes
        labels.append(max(votes, key=votes.count) if votes else None)
    return labels


class VoteReader:
    """Reads blocks as votes; can be pickled.

    ``cells`` are of the column that names the sources, if there is one; LopsError: one source only.
    """

    def __init__(self, columns: Columns, classes: Classes, cells: Sequence[Any] = ()) -> None:
        self._classes = classes
        self.sources = tuple(columns.votes or sorted(set(map(source_name, cells))))
        if len(self.sources) < 2 and not columns.votes:
            name = typed("source")
            raise LopsError(
                f"{name}: all labels are from the source {self.sources[0]!r:.80}; leave {name} out"
            )
        self.columns: tuple[str, ...] = tuple(columns.votes)
        self._place: dict[str, int] | None = None
        if not columns.votes:
            self.columns = str(columns.label), str(columns.source)
            self._place = {name: i for i, name in enumerate(self.sources)}

    def votes(self, cells: Sequence[Sequence[Any]]) -> Votes:
        """Return the votes of rows, given the cells of every column that is read."""
        if self._place is None:
            codes = np.stack([self._classes.codes(column) for column in cells], axis=1)
        else:
            labels, sources = cells
            codes = np.full((len(labels), len(self.sources)), -1, dtype=np.int64)
            places = np.array([self._place.get(source_name(name), -1) for name in sources])
            rows = np.flatnonzero(places >= 0)
            codes[rows, places[rows]] = self._classes.codes(labels)[rows]
        return Votes(self.sources, self._classes.names, codes.astype(np.int32))


def source_name(cell: Any) -> str:
    """Return the name of a source; missing ones are one source without a name."""
    return "" if is_unlabelled(cell) else cell_text(cell)


def is_votes(labels: Any) -> bool:
    """Return whether labels in memory are votes: a row of several labels per text."""
    if isinstance(labels, Mapping):
        return all(
            hasattr(column, "__len__") and not isinstance(column, str | bytes | Set | Mapping)
            for column in labels.values()
        )
    if hasattr(labels, "columns") or getattr(labels, "ndim", 1) == 2:
        return True
    rows = _lists(labels) or (labels if isinstance(labels, Sequence) else ())
    return all(isinstance(row, list | tuple) for row in rows) and any(len(row) > 1 for row in rows)


def _lists(column: Any) -> list[list[Any]]:
    """Return the lists in a column of a frame or an array; none, if its cells are others.

    Shorter ones are filled up, a missing one is empty.
    """
    if getattr(column, "ndim", 2) != 1 or not hasattr(column, "tolist"):
        return []
    cells = [cell.tolist() if hasattr(cell, "tolist") else cell for cell in column.tolist()]
    rows = [[] if is_unlabelled(cell) else cell for cell in cells if not isinstance(cell, str)]
    if len(rows) < len(cells) or not all(isinstance(row, list | tuple) for row in rows):
        return []
    width = max(map(len, rows), default=0)
    return [[*row, *[None] * (width - len(row))] for row in rows]


def vote_cells(labels: Any) -> dict[str, list[Any]]:
    """Return votes in memory as columns: name of a source -> a vote per text.

    They are (n, m) labels, a frame or dict with a column per source, or a list of rows; columns or
    rows of several lengths are a LopsError.

    >>> vote_cells([["a", None], ["b", "a"]])
    {'source 1': ['a', 'b'], 'source 2': [None, 'a']}
    """
    if isinstance(labels, Mapping) or hasattr(labels, "columns"):
        names = labels if isinstance(labels, Mapping) else labels.columns
        names = list(getattr(labels, "column_names", names))  # the columns of pyarrow are arrays
        columns = {str(name): list(labels[name]) for name in names}
        counts = sorted({len(column) for column in columns.values()})
        if len(counts) != 1:
            raise LopsError(
                f"columns of votes have {listed(counts, 5)} entries; wanted one per text in each, "
                "None for an abstention"
            )
        lists = _lists(labels[names[0]]) if len(names) == 1 else []
        return vote_cells(lists) if lists else columns
    labels = _lists(labels) or labels
    rows = [row.tolist() if hasattr(row, "tolist") else list(row) for row in labels]
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or not min(lengths):
        raise LopsError(
            f"rows of votes have {listed(map(str, sorted(lengths)), 5)} entries; wanted the same "
            "number in each, one per source, None for an abstention"
        )
    return {f"source {i + 1}": list(votes) for i, votes in enumerate(zip(*rows, strict=True))}


def votes_by_text(
    texts: Sequence[Any], labels: Sequence[Any], source: Sequence[Any]
) -> tuple[list[Any], dict[str, list[Any]]]:
    """Return each text once, and its votes by source, for :func:`lops_adapters.select`.

    Args:
        texts: n texts, a row per annotation, so that they repeat.
        labels: n labels; None: none.
        source: n names, of the annotator or rule that gave each label.

    Returns:
        The m texts that differ in more than spaces, in the order of their first rows, and source
        -> m votes: the most frequent label of the source for the text; None in a tie, or without
        one.

    Raises:
        LopsError: n differs, or a label is a list or an object.

    >>> votes_by_text(["x", "x", "y"], ["a", "b", "a"], ["Ann", "Bob", "Ann"])
    (['x', 'y'], {'Ann': ['a', 'a'], 'Bob': ['b', None]})
    """
    counts = [len(texts), len(labels), len(source)]
    if len(set(counts)) > 1:
        raise LopsError(
            f"found {counts[0]} texts, {counts[1]} labels and {counts[2]} sources; wanted one of "
            "each per annotation"
        )
    gathered: dict[str, dict[Any, list[Any]]] = {}
    once: dict[Any, Any] = {}
    names = list(map(source_name, source))
    for row, (text, label, name) in enumerate(zip(texts, labels, names, strict=True)):
        check_vote(label, partial("position {}".format, row))
        key = content(text) if isinstance(text, str) else text
        gathered.setdefault(name, {}).setdefault(key, []).append(label)
        once.setdefault(key, text)
    return list(once.values()), {
        name: [vote_of(gathered[name].get(key, ())) for key in once] for name in sorted(gathered)
    }


def check_vote(label: Any, place: Callable[[], str]) -> None:
    """Raise a LopsError about a label that is a list or an object, with its place."""
    if isinstance(label, list | dict):
        raise LopsError(
            f"{place()}: the label is {label!r:.60}, which holds several classes or none; wanted "
            "one class name per row"
        )


def vote_of(labels: Sequence[Any]) -> Any:
    """Return the most frequent of a source's labels of a text; None in a tie, or without one.

    >>> vote_of(["a", "b", "a"]), vote_of(["3.0", "3", "4"]), vote_of(["a", "b"])
    ('a', '3', None)
    """
    voted = [label for label in labels if not is_unlabelled(label)]
    if len(voted) < 2:
        return voted[0] if voted else None
    voted.sort(key=lambda label: len(str(label)))  # 3 before 3.0, which is the same code
    spelt = {whole(str(label)): label for label in reversed(voted)}
    counts = Counter(whole(str(label)) for label in voted).most_common(2)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return None
    return spelt[counts[0][0]]


def texts_of_several(texts: Sequence[Any], votes: Votes) -> int:
    """Return the number of texts with labels by several sources, in rows of their own."""
    rows, sources = np.nonzero(votes.codes >= 0)
    pairs = {
        (texts[row], source) for row, source in zip(rows.tolist(), sources.tolist(), strict=True)
    }
    return sum(count > 1 for count in Counter(text for text, _ in pairs).values())


def check_sources(votes: Votes) -> list[str]:
    """Return a sentence about sources without a vote; LopsError: all sources vote alike."""
    names, codes = votes.sources, votes.codes
    if len(names) > 1 and (codes == codes[:, :1]).all():
        raise LopsError(f"all {len(names)} sources give the same votes; give one of them as label")
    silent = [names[i] for i in np.flatnonzero((codes < 0).all(axis=0)).tolist()]
    return [f"Sources without a vote: {listed(silent, 5)}."] if silent else []
