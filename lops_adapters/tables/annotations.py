"""Tables with a row per annotation: one row per text, with a column of votes per source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block
from lops_adapters.formats.cells import content, is_unlabelled
from lops_adapters.formats.lines import unpacked_name
from lops_adapters.formats.readers import Table
from lops_adapters.formats.records import LineBlock, RecordBlock
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.naming import IDS, TEXTS, key_of
from lops_adapters.labels.votes import check_vote, source_name, vote_of

MOST = 50_000_000  # texts times sources
NAMELESS = "(no source)"


@dataclass
class Text:
    """A text: where its first row stands, the cells of that row, and labels by their sources."""

    path: Path
    number: int
    cells: list[Any]
    votes: dict[str, list[Any]] = field(default_factory=dict)


def joined(table: Table, columns: Columns) -> tuple[Table, Columns]:
    """Return a table with one row per text, and its columns, if sources are named and texts repeat.

    Rows are of one text if their ids are the same, or without ids that repeat, if their texts are,
    except for spaces. Ids do not count if most that repeat have several texts; a note names such
    ids. A row holds the first row of its text without label and source, and a column of votes per
    source; of texts, gold and checked labels the first that is not missing. The label of a source
    that labels a text several times is its most frequent one; none in a tie.
    """
    if columns.source is None or columns.text is None:
        return table, columns
    name, notes = _identity(table, columns)
    is_long = name is not None or columns.is_by_file(table)
    labels = () if is_long else table.cells((str(columns.label),))
    if not is_long and not any(isinstance(c, list) and len(c) > 1 for _, _, (c,) in labels):
        return replace(table, notes=(*table.notes, *notes)), columns
    columns = replace(columns, joined=name)
    texts, rows = _texts(table, columns)
    sources = sorted({name for text in texts for name in text.votes})
    if len(sources) < 2:
        raise LopsError(
            f"{typed('source')}: all rows are from the source {sources[0]!r:.80}; leave "
            f"{typed('source')} out"
        )
    if len(texts) * len(sources) > MOST:
        raise LopsError(
            f"found {len(sources):,} sources of {len(texts):,} texts; wanted at most {MOST:,} "
            "texts times sources; leave out sources with few labels"
        )
    notes.append(
        f"{rows:,} rows are labels of {len(texts):,} texts by {len(sources)} sources; one row is "
        "written per text."
    )
    wide, columns = _wide(table, columns, texts, sources)
    return replace(wide, notes=(*table.notes, *notes)), columns


def by_several(table: Table, text: str, source: str) -> bool:
    """Return whether a text has labels by several sources."""
    first: dict[Any, str | None] = {}
    return any(
        first.setdefault(content(cell), source_name(who)) != source_name(who)
        for _, _, (cell, who) in table.cells((text, source))
    )


def _identity(table: Table, columns: Columns) -> tuple[str | None, list[str]]:
    """Return the column of ids or texts that repeat, None: none does; and sentences about ids."""
    text, notes = str(columns.text), list[str]()
    if columns.id is not None:
        texts: dict[str, Any] = {}  # id -> its first text
        repeated, several = set(), dict[str, str]()
        for path, number, cells in table.cells((columns.id, text)):
            name, cell = content(cells[0]), cells[1]
            if name in texts:
                repeated.add(name)
                if cell != texts[name] and len({"", content(cell), content(texts[name])}) > 2:
                    several.setdefault(name, f"{name!r:.80} ({path}, {table.format.unit} {number})")
            if name:
                texts[name] = texts.get(name) or cell
        shown = listed(several.values(), 3)
        if 2 * len(several) > len(repeated):
            notes.append(
                f"{typed('id')} joins no rows, since most ids that repeat have several texts; rows "
                f"with equal texts are joined. Such ids: {shown}."
            )
        elif repeated:
            first = f"Ids with several texts, of which the first is read: {shown}."
            return columns.id, [first] if several else []
    keys = set[str]()
    for _, _, (cell,) in table.cells((text,)):
        key = key_of(TEXTS, cell)
        if key in keys:
            return text, notes
        if key:
            keys.add(key)
    return None, notes


def _texts(table: Table, columns: Columns) -> tuple[list[Text], int]:
    texts: dict[Any, Text] = {}
    names, count = table.columns, 0
    # Digests take less memory than texts.
    name_of = content if columns.counted.kind == IDS else partial(key_of, TEXTS)
    first = [name for name in (columns.gold, columns.checked_column) if name is not None]
    if columns.joined is not None:
        first += table.parts_of(str(columns.text))
    by_file = names_of(table.paths) if columns.is_by_file(table) else None
    for block in table.blocks():
        labels, *others = columns.cells(block, [str(columns.label), *first])
        if by_file is not None:
            sources: list[Any] = [by_file.get(block.path, block.path.name)] * len(block)
        else:
            (sources,) = columns.cells(block, [str(columns.source)])
        (cells_of_key,) = [()] if columns.joined is None else block.cells([columns.joined])
        keys = list(map(name_of, cells_of_key)) or [""] * len(block)
        ordered = table.format.ordered
        records = block.records(names) if ordered else zip(*block.cells(names), strict=True)
        for row, cells in enumerate(records):
            known = keys[row] or count + row  # without one, a row is a text of its own
            text = texts.setdefault(known, Text(block.path, block.numbers[row], list(cells)))
            for name, column in zip(first, others, strict=True):
                index = names.index(name)
                if is_unlabelled(text.cells[index]):
                    text.cells[index] = column[row]
            for source, label in _votes(labels[row], sources[row], block, row):
                check_vote(label, partial(block.place, row))
                text.votes.setdefault(source, []).append(label)
        count += len(block)
    return list(texts.values()), count


def names_of(paths: Sequence[Path]) -> dict[Path, str]:
    """Return short names of files that differ: without suffix, or of their folders.

    >>> list(names_of([Path("anna.csv"), Path("ben.csv.gz")]).values())
    ['anna', 'ben']
    >>> list(names_of([Path("anna/labels.csv"), Path("ben/labels.csv")]).values())
    ['anna', 'ben']
    """
    stems = [unpacked_name(path).stem for path in paths]
    folders = [path.absolute().parent.name for path in paths]
    full = [str(path) for path in paths]
    names = next(one for one in (stems, folders, full) if len(set(one)) == len(paths))
    return dict(zip(paths, names, strict=True))


def _votes(label: Any, source: Any, block: Block, row: int) -> Iterator[tuple[str, Any]]:
    """Yield (source, label) of a row; lists hold several."""
    if not isinstance(label, list) and not isinstance(source, list):
        yield source_name(source) or NAMELESS, label
        return
    labels, sources = ([one] if not isinstance(one, list) else one for one in (label, source))
    if label is None or len(labels) != len(sources):
        if label is None:
            return
        raise LopsError(
            f"{block.place(row)}: found {len(labels)} labels and {len(sources)} sources; wanted "
            "the source of every label"
        )
    for one, name in zip(labels, sources, strict=True):
        yield source_name(name) or NAMELESS, one


def _wide(
    table: Table, columns: Columns, texts: Sequence[Text], sources: Sequence[str]
) -> tuple[Table, Columns]:
    # One column may be both.
    others = {columns.group, columns.gold, columns.checked_column, columns.id}
    names = {*table.parts_of(str(columns.label)), str(columns.source)} - others
    gone = {table.columns.index(name) for name in names if name in table.columns}
    rest = [index for index in range(len(table.columns)) if index not in gone]
    kept = [table.columns[index] for index in rest]
    votes = tuple(f"{columns.source} {name}" if name in kept else name for name in sources)
    held, kind = (*kept, *votes), LineBlock if table.format.unit == "line" else RecordBlock
    blocks: list[RecordBlock] = []
    for text in texts:
        if not blocks or blocks[-1].path != text.path:
            blocks.append(kind(text.path, [], held, []))
        block = blocks[-1]
        block.numbers.append(text.number)  # type: ignore[attr-defined]
        cells = [vote_of(text.votes.get(name, ())) for name in sources]
        block.rows.append([*(text.cells[index] for index in rest), *cells])
    types = table.format.with_columns(table.start, rest, str(columns.label), votes)
    start = replace(table.start, columns=held, types=types)
    wide = replace(columns, label=None, source=None, votes=votes)
    return replace(table, start=start, held=tuple(blocks)), wide
