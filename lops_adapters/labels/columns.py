"""The columns of a table, or arguments, that a selection needs."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block
from lops_adapters.formats.cells import single
from lops_adapters.formats.readers import Table
from lops_adapters.labels.lookup import require
from lops_adapters.labels.missing import is_named, named
from lops_adapters.labels.naming import IDS, ROWS, TEXTS, Counted

NPY = ".npy"
FILE = "file"  # as the source, unless a column has this name: labels of a file are of one source


def is_file(name: str | None) -> bool:
    """Return whether ``embeddings`` names an .npy file, not a column."""
    return name is not None and name.lower().endswith(NPY)


@dataclass(frozen=True)
class Columns:
    """Names of columns, or of arguments that hold as much in memory; None: not given.

    Attributes:
        text: None only with embeddings.
        label: None only with soft labels or votes.
        abstain: labels that are no class; None: by default.
        embeddings: a column of lists, or an .npy file.
        checked_column: a column of labels by a person; an empty cell: not checked.
        source: a column with the source of every label; :data:`FILE`: the name of its file.
        group: a column of groups, whose rows do not score each other.
        joined: the column of ids or texts by which rows were joined to one per text.
        in_memory: these are arguments of :func:`lops_adapters.select`.
    """

    text: str | None = None
    label: str | None = None
    gold: str | None = None
    id: str | None = None
    abstain: Any = None
    embeddings: str | None = None
    soft_labels: Sequence[str] = ()
    checked_column: str | None = None
    votes: Sequence[str] = ()
    source: str | None = None
    classes: Sequence[Hashable] | None = None
    group: str | None = None
    joined: str | None = None
    in_memory: bool = False

    @property
    def has_votes(self) -> bool:
        """Whether labels of several sources are joined."""
        return bool(self.votes) or self.source is not None

    @property
    def counted(self) -> Counted:
        """What files that name rows of the table count."""
        if self.joined is None:
            return Counted(ROWS, self.text or "")
        return Counted(IDS if self.joined == self.id else TEXTS, self.joined)

    def is_by_file(self, table: Table) -> bool:
        """Return whether the source of a label is the name of its file."""
        return self.source == FILE and FILE not in table.columns

    @property
    def own_label(self) -> str | None:
        """The column that holds the labels that are scored; None: a new column gets them."""
        return None if self.has_votes else self.label

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read."""
        vectors = None if is_file(self.embeddings) else self.embeddings
        names = (
            *(self.text, self.label, self.gold, self.id, vectors, *self.soft_labels),
            *(self.checked_column, *self.votes, self.source, self.group),
        )
        return tuple(dict.fromkeys(name for name in names if name is not None))

    def cells(self, block: Block, names: Sequence[str]) -> list[list[Any]]:
        """Return cells of columns: None for missing labels, a label for a list of one label.

        Texts and ids stay as they are.
        """
        labels = {self.label, self.gold, self.checked_column, *self.votes}
        columns = block.cells(names)
        for i, name in enumerate(names):
            if name in (self.text, self.id):
                continue
            if missing := block.missing(name):
                columns[i] = [
                    None if row in missing else cell for row, cell in enumerate(columns[i])
                ]
            if name in labels and not {list, dict}.isdisjoint(map(type, columns[i])):
                columns[i] = list(map(single, columns[i]))
        return columns

    def is_named(self, label: Hashable) -> bool:
        """Return whether a label is named as no class."""
        return is_named(label, named(self.abstain) or frozenset())

    @property
    def about(self) -> str:
        """What a table without labels lacks, and what to do, for a message."""
        if self.soft_labels:
            return f"largest soft label: all are ties or zero; check {typed('soft_labels')}"
        if self.has_votes:
            return "vote; wanted a class name where a source votes"
        if self.in_memory:
            return "label; wanted labels of at least two classes"
        return f"label in column {self.label!r}; check {typed('label')}"

    @property
    def inside(self) -> str:
        """Where the labels stand, for a message."""
        names = (self.label,) if self.label is not None else (*self.votes, *self.soft_labels)
        return "" if self.in_memory else f" in {listed(map(repr, names), 5)}"

    @property
    def is_plain(self) -> bool:
        """Whether texts with labels are scored, not vectors or soft labels."""
        return self.text is not None and not self.soft_labels and self.embeddings is None

    def check(self, table: Table) -> None:
        """Raise a LopsError if a column is missing or given for two purposes, or not given."""
        self._check_given()
        for option in ("text", "label", "gold", "id", "source", "group"):
            name = getattr(self, option)
            if name is not None and not (option == "source" and self.is_by_file(table)):
                taken = [self.label, self.gold] if option == "text" else [self.text]
                for part in table.parts_of(name):
                    require(table, part, option, {other for other in taken if other})
        for name in self.soft_labels:
            require(table, name, "soft_labels")
        if self.checked_column is not None:
            require(table, self.checked_column, "checked_column")
            if self.checked_column in (self.text, self.label):
                raise LopsError(
                    f"{typed('checked_column')} is {self.checked_column!r}, a column with another "
                    "purpose; wanted one that holds labels by a person, and nothing in the other "
                    "rows"
                )
        if self.embeddings is not None and self.embeddings not in table.columns:
            if not is_file(self.embeddings):
                require(table, self.embeddings, "embeddings")
            if not Path(self.embeddings).is_file():
                raise LopsError(
                    f"{typed('embeddings')} {self.embeddings}: no such file; wanted an .npy file "
                    "or a column"
                )
        first: dict[str, str] = {}
        for option in ("label", "text", "gold", "source"):
            name = getattr(self, option)
            for part in () if name is None else table.parts_of(name):
                other = first.setdefault(part, option)
                if other != option:
                    raise LopsError(
                        f"{typed(other)} and {typed(option)} are both {part!r}; give different "
                        "columns"
                    )

    def _check_given(self) -> None:
        if self.text is None and self.embeddings is None:
            raise LopsError(
                f"{typed('text')} is missing; wanted a column of texts, or {typed('embeddings')}"
            )
        label, votes, soft = names = typed("label"), typed("labels"), typed("soft_labels")
        of_options = zip(names, (self.label, self.votes, self.soft_labels), strict=True)
        named = [option for option, columns in of_options if columns]
        if len(named) != 1:
            stated = " and ".join(named) or f"neither {label}, {votes} nor {soft}"
            raise LopsError(f"found {stated}; give one of the three")
        if self.source is not None and self.label is None:
            raise LopsError(
                f"{typed('source')} names the source of each {label}, or of {soft}; give one of "
                "them"
            )
        if self.source == FILE and self.text is None:
            raise LopsError(
                f"{typed('source')} file joins the rows of each text; give {typed('text')}, too"
            )
        if self.classes is not None and self.soft_labels:
            raise LopsError(f"{typed('classes')} is for labels, and {soft} are given; leave it out")


def vote_columns(table: Table, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that ``labels`` names, such as ``rule1,rule2`` or ``rule*``."""
    columns: list[str] = []
    for part in asked:
        for name in _parted(part, table.columns):
            matching = [column for column in table.columns if fnmatchcase(column, name)]
            if name in table.columns or not matching:
                require(table, name, "labels")
                matching = [name]
            columns += matching
    return tuple(dict.fromkeys(columns))


def _parted(text: str, columns: Sequence[str]) -> Iterator[str]:
    """Yield names with commas between them; a column may have some in its name.

    >>> list(_parted("What, in short?,b,c*", ["What, in short?", "b"]))
    ['What, in short?', 'b', 'c*']
    """
    while text:
        known = [name for name in columns if name and f"{text},".startswith(f"{name},")]
        name = max(known, key=len) if known else text.partition(",")[0]
        yield name
        text = text[len(name) + 1 :]
