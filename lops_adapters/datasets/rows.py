"""What every reader returns, and how it becomes a ``Dataset``."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import Corpus, Dataset, GoldLabels, is_missing, listed

SEED_FILES = ("seeds.json", "seedwords.json")

Seeds: TypeAlias = Mapping[str, Sequence[str]]

logger = logging.getLogger(__name__)


@dataclass
class Rows:
    """Documents as read: lists of length n, and what the layout says about the classes.

    None: the layout does not say.
    """

    texts: list[str]
    ids: list[str] | None = None
    labels: list[str] | None = None
    classes: list[str] | None = None
    seeds: Seeds | None = None


@dataclass(frozen=True)
class Columns:
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

    def choose(self, found: Sequence[str], where: str) -> Columns:
        """Choose the columns to read.

        Args:
            found: the names of the columns in the file.
            where: the file, for messages.

        Returns:
            Columns whose ``text`` is a name; ``label`` and ``id`` are None if there is none.

        Raises:
            LopsError: a named column is missing, all default names of the text column are missing,
                or a chosen name appears twice.

        """
        usual = {"text": ("text", "sentence"), "label": ("label",), "id": ("id",)}
        chosen = {"text": self.text, "label": self.label, "id": self.id}
        for role, names in usual.items():
            if chosen[role] is None:
                chosen[role] = next((name for name in names if name in found), None)
        columns = listed(map(repr, found))
        if chosen["text"] is None:
            raise LopsError(
                f"{where}: no column 'text' (or 'sentence'); its columns are {columns}. "
                "Name the text column with text_column"
            )
        for role, name in chosen.items():
            if name is None:
                continue
            if name not in found:
                raise LopsError(
                    f"{where}: no column {name!r}; its columns are {columns}. "
                    f"Name the right one with {role}_column"
                )
            if list(found).count(name) > 1:
                raise LopsError(
                    f"{where}: {list(found).count(name)} columns are called {name!r}; "
                    "rename all but one"
                )
        return Columns(chosen["text"], chosen["label"], chosen["id"], self.quiet)


def name_of(value: object, where: str) -> str:
    """Return a label or an id as a string: strings unchanged, whole numbers as digits.

    Raises:
        LopsError: the value is missing, empty, or neither a string nor a whole number.

    >>> name_of("sports", "row 1"), name_of(3, "row 1"), name_of(3.0, "row 1")
    ('sports', '3', '3')
    """
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    found = "it is missing" if is_missing(value) or value == "" else f"found {value!r}"
    raise LopsError(
        f"{where}: {found}; wanted a name or a whole number in every row. "
        "Fill it in, drop the row, or drop the column"
    )


def assemble(rows: Rows, name: str, seeds: Seeds | str | Path | None = None) -> Dataset:
    """Make a validated data set of the rows.

    Args:
        rows: the result of a reader.
        name: the name of the corpus.
        seeds: seed words that replace those of ``rows``.

    Returns:
        The data set. Its classes are those of the layout, otherwise those with seed words,
        otherwise the gold labels. Missing ids are row numbers from 0.

    Raises:
        LopsError: what ``Corpus``, ``GoldLabels`` and ``Dataset`` refuse, or a seed file that
            cannot be read.

    """
    chosen = load_seeds(seeds) if seeds is not None else rows.seeds
    if rows.classes is not None:
        classes = list(rows.classes)
    elif chosen:
        classes = list(chosen)
    else:
        classes = sorted(set(rows.labels or ()))
    ids = rows.ids if rows.ids is not None else [str(number) for number in range(len(rows.texts))]
    corpus = Corpus(name, tuple(ids), tuple(rows.texts), tuple(classes), dict(chosen or {}))  # type: ignore[arg-type]
    return Dataset(corpus, GoldLabels(tuple(rows.labels)) if rows.labels is not None else None)


def load_seeds(source: Seeds | str | Path) -> Seeds:
    """Return seed words from a mapping or from a JSON file ``{class: [seed word, ...]}``.

    Raises:
        LopsError: the file is missing, not JSON, names a class twice, or holds something else.

    """
    if isinstance(source, Mapping):
        return source
    path = Path(source)
    wanted = 'wanted {"class": ["seed word", ...], ...}'
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_pairs)
    except FileNotFoundError:
        raise LopsError(f"{path}: no such file of seed words; {wanted}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise LopsError(f"{path}: cannot be read as seed words ({error}); {wanted}") from None
    if not isinstance(content, dict) or not all(map(_is_words, content.values())):
        raise LopsError(f"{path}: these are no seed words; {wanted}")
    return dict(content)


def _is_words(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(word, str) for word in found)


def find_seeds(folder: Path) -> Seeds | None:
    """Read ``seeds.json``, otherwise ``seedwords.json``, of a folder; None if neither exists."""
    present = [folder / name for name in SEED_FILES if (folder / name).is_file()]
    if not present:
        return None
    logger.info("seed words taken from %s", present[0])
    return load_seeds(present[0])


class _RepeatedKeyError(ValueError):
    """A JSON object names a class twice; json would silently keep the last."""


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedKeyError(
            f"{sorted(name for name in content if names.count(name) > 1)} appear twice"
        )
    return content
