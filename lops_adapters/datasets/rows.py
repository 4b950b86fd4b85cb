"""What every reader returns, and how it becomes a ``Dataset``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.datasets.class_words import (
    LABELS,
    Names,
    Seeds,
    choose_names,
    load_names,
    load_seeds,
)
from lops_adapters.datasets.corpus import Corpus, Dataset, GoldLabels
from lops_adapters.formats.cells import is_missing


@dataclass
class Rows:
    """Documents as read: lists of length n, and what the layout says about the classes.

    None: the layout does not say. ``messages``: the texts are raw messages with headers.
    ``headers``: as in ``Dataset``.
    """

    texts: list[str]
    ids: list[str] | None = None
    labels: list[str] | None = None
    classes: list[str] | None = None
    seeds: Seeds | None = None
    names: Names | None = None
    messages: bool = False
    headers: str = "keep"


@dataclass(frozen=True)
class CorpusColumns:
    """The column names asked for (None: the usual names), and whether progress bars are off."""

    text: str | None = None
    label: str | None = None
    id: str | None = None
    quiet: bool = False

    def refuse(self, layout: str) -> None:
        """Raise a LopsError if a column was named although ``layout`` has no named columns."""
        roles = ("text", "label", "id")
        named = [f"{role}_column" for role in roles if getattr(self, role) is not None]
        if named:
            raise LopsError(
                f"{layout} has no named columns, so {listed(named)} cannot be used; leave it out"
            )

    def choose(self, header: Sequence[str], where: str) -> CorpusColumns:
        """Return the columns to read of a ``header``; ``label`` and ``id`` are None if missing."""
        usual = {"text": ("text", "sentence"), "label": ("label",), "id": ("id",)}
        chosen = {"text": self.text, "label": self.label, "id": self.id}
        for role, names in usual.items():
            if chosen[role] is None:
                chosen[role] = next((name for name in names if name in header), None)
        shown = listed(map(repr, header))
        if chosen["text"] is None:
            raise LopsError(
                f"{where}: no column 'text' (or 'sentence'); its columns are {shown}. "
                "Name the text column with text_column (--text-column)"
            )
        for role, name in chosen.items():
            if name is None:
                continue
            if name not in header:
                option = "" if role == "id" else f" (--{role}-column)"
                raise LopsError(
                    f"{where}: no column {name!r}; its columns are {shown}. "
                    f"Name the right one with {role}_column{option}"
                )
            if list(header).count(name) > 1:
                raise LopsError(
                    f"{where}: {list(header).count(name)} columns are called {name!r}; "
                    "rename all but one"
                )
        return CorpusColumns(chosen["text"], chosen["label"], chosen["id"], self.quiet)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn a system error about a path into a LopsError."""
    try:
        yield
    except UnicodeDecodeError as error:  # in Parquet
        raise LopsError(f"{path}: a text that is not UTF-8 ({error}); write it again") from None
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else path
        raise LopsError(
            f"{name}: cannot be read ({error.strerror or error}); give a readable file or folder"
        ) from None


def name_of(value: object, where: str) -> str:
    """Return a label or an id as a string: strings unchanged, whole numbers as digits.

    Raises a LopsError if the value is missing, empty, or neither a string nor a whole number.

    >>> name_of("sports", "row 1"), name_of(3, "row 1"), name_of(3.0, "row 1")
    ('sports', '3', '3')
    """
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    fault = "it is missing" if is_missing(value) or value == "" else f"found {value!r}"
    raise LopsError(
        f"{where}: {fault}; wanted a name or a whole number in every row. "
        "Fill it in, drop the row, or drop the column"
    )


def assemble(
    rows: Rows,
    name: str,
    seeds: Seeds | str | Path | None = None,
    names: Names | str | Path | None = None,
) -> Dataset:
    """Make a validated data set of the rows of a reader.

    Seed words and names replace the ones of the rows; names may be ``labels``. The classes are from
    the layout, otherwise the keys of the seed words, otherwise the gold labels, otherwise the keys
    of the names. Missing ids are row numbers from 0.
    """
    chosen = load_seeds(seeds) if seeds is not None else rows.seeds
    if rows.classes is not None:
        classes = list(rows.classes)
    elif chosen:
        classes = list(chosen)
    elif rows.labels is not None:
        classes = sorted(set(rows.labels))
    else:
        named = rows.names or (None if names == LABELS else names)
        classes = list(load_names(named or {}))
    ids = rows.ids if rows.ids is not None else [str(number) for number in range(len(rows.texts))]
    corpus = Corpus(
        name,
        tuple(ids),
        tuple(rows.texts),
        tuple(classes),
        dict(chosen or {}),  # type: ignore[arg-type]
        choose_names(names, rows.names, classes),
    )
    gold = None if rows.labels is None else GoldLabels(tuple(rows.labels))
    return Dataset(corpus, gold, rows.headers)
