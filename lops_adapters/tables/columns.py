"""The columns of a table that a selection needs; the likeliest one for a wrong name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import listed
from lops_adapters.tables.readers import Table

NPY = ".npy"


def is_file(name: str | None) -> bool:
    """Return whether ``--embeddings`` names an .npy file, not a column."""
    return name is not None and name.lower().endswith(NPY)


@dataclass(frozen=True)
class Wanted:
    """Names of columns; None: not given.

    Attributes:
        text: None only with embeddings.
        label: None only with soft labels.
        gold, id: optional.
        abstain: labels that are no class; None: by default.
        embeddings: a column of lists, or an .npy file.
        soft: columns of soft labels.
        checked: a column of labels by a person; an empty cell: not checked.

    """

    text: str | None
    label: str | None
    gold: str | None = None
    id: str | None = None
    abstain: Sequence[str] | None = None
    embeddings: str | None = None
    soft: Sequence[str] = ()
    checked: str | None = None

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        vectors = None if is_file(self.embeddings) else self.embeddings
        names = (self.text, self.label, self.gold, self.id, vectors, *self.soft, self.checked)
        return list(dict.fromkeys(name for name in names if name is not None))

    @property
    def is_plain(self) -> bool:
        """Whether texts with one label each are scored."""
        return self.text is not None and self.label is not None and self.embeddings is None

    def check(self, table: Table) -> None:
        """Raise a LopsError if a column is missing or given for two purposes, or not given."""
        if self.text is None and self.embeddings is None:
            raise LopsError("--text is missing; wanted a column of texts, or --embeddings")
        if (self.label is None) == (not self.soft):
            found = "neither --label nor" if self.label is None else "--label and"
            raise LopsError(f"found {found} --soft-labels; give one of the two")
        for option in ("text", "label", "gold", "id"):
            name = getattr(self, option)
            if name is not None:
                taken = [self.label, self.gold] if option == "text" else [self.text]
                require(table, name, f"--{option}", {other for other in taken if other})
        for name in self.soft:
            require(table, name, "--soft-labels")
        if self.checked is not None:
            require(table, self.checked, "--checked-column")
            if self.checked in (self.text, self.label):
                raise LopsError(
                    f"--checked-column is {self.checked!r}, a column with another purpose; wanted "
                    "one that holds labels by a person, and nothing in the other rows"
                )
        if self.embeddings is not None and self.embeddings not in table.columns:
            if not is_file(self.embeddings):
                require(table, self.embeddings, "--embeddings")
            if not Path(self.embeddings).is_file():
                raise LopsError(
                    f"--embeddings {self.embeddings}: no such file; wanted an .npy file or a column"
                )
        if self.label is not None and self.label in (self.text, self.gold):
            other = "--text" if self.label == self.text else "--gold"
            raise LopsError(f"--label and {other} are both {self.label!r}; give different columns")


def require(table: Table, name: str, option: str, taken: Collection[str] = ()) -> None:
    """Raise a LopsError with the existing columns, and the likeliest, if a column is missing.

    Args:
        table: with the columns.
        name: of the column.
        option: that names the column, such as ``--text``.
        taken: columns with another purpose, which are not suggested.

    """
    if name in table.columns:
        return
    hint = _about_delimiter(table, name)
    if not hint:
        meant = _meant(name, option, [column for column in table.columns if column not in taken])
        hint = f" Did you mean {option} {meant!r}?" if meant else ""
        if len(table.columns) == 1 and table.format in ("csv", "tsv"):
            hint += " Check --delimiter."
    known = listed(map(repr, table.columns))
    raise LopsError(f"{table.paths[0]} has no column {name!r}; its columns are {known}.{hint}")


def _meant(name: str, option: str, columns: Sequence[str]) -> str | None:
    """Return the column that a wrong name means: nearly the same, the usual one, or similar."""
    lower = {column.lower(): column for column in reversed(columns)}
    near = get_close_matches(name.lower(), lower, n=1, cutoff=0.8)
    near += [option.strip("-")] if option.strip("-") in lower else []
    near += get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    return lower[near[0]] if near else None


def _about_delimiter(table: Table, name: str) -> str:
    """Return a hint if another delimiter finds the column, or several columns, in the header."""
    if table.format not in ("csv", "tsv"):
        return ""
    header = table.delimiter.join(table.columns)
    for other, named in ((",", "','"), (";", "';'"), ("\t", "tab"), ("|", "'|'")):
        names = [part.strip('"') for part in header.split(other)]
        if (
            other != table.delimiter
            and len(names) > 1
            and (len(table.columns) == 1 or name in names)
        ):
            return f" The header looks separated by {named}; give --delimiter {named}"
    return ""
