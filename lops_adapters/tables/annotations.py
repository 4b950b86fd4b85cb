"""Tables with a row per annotation: one row per text, with a column of votes per source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.formats.base import Block
from lops_adapters.formats.cells import cell_text, is_unlabelled
from lops_adapters.formats.readers import Table
from lops_adapters.formats.records import LineBlock, RecordBlock
from lops_adapters.labels.columns import Columns
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

    Rows are of one text if their ids and texts are the same, or without a column of ids that
    repeat, if the texts are. A row holds the first row of its text without label and source, and a
    column of votes per source; of gold and checked labels the first that is not missing. The label
    of a source that labels a text several times is its most frequent one; none in a tie.

    Raises a LopsError about unequal lists of labels and sources, one source only, or too many for
    the memory.
    """
    if columns.source is None or columns.text is None:
        return table, columns
    keys = [name for name in (columns.id, columns.text) if name is not None]
    key = next((name for name in keys if _repeats(table, name, columns.text)), None)
    labels = () if key is not None else table.cells((str(columns.label),))
    if key is None and not any(isinstance(c, list) and len(c) > 1 for _, _, (c,) in labels):
        return table, columns
    texts, rows = _texts(table, columns, key)
    sources = sorted({name for text in texts for name in text.votes})
    if len(sources) < 2:
        raise LopsError(
            f"--source: all rows are from the source {sources[0]!r:.80}; leave --source out"
        )
    if len(texts) * len(sources) > MOST:
        raise LopsError(
            f"found {len(sources):,} sources of {len(texts):,} texts; wanted at most {MOST:,} "
            "texts times sources; leave out sources with few labels"
        )
    return _wide(table, columns, texts, sources, rows)


def by_several(table: Table, text: str, source: str) -> bool:
    """Return whether a text has labels by several sources."""
    first: dict[Any, str | None] = {}
    return any(
        first.setdefault(cell_text(cell), source_name(who)) != source_name(who)
        for _, _, (cell, who) in table.cells((text, source))
    )


def _repeats(table: Table, name: str, of: str) -> bool:
    """Return whether a column names the same text in several rows, and nowhere different ones."""
    rows = [cells for _, _, cells in table.cells((name, of)) if not is_unlabelled(cells[0])]
    text_of = {cell_text(key): value for key, value in rows}
    return len(text_of) < len(rows) and all(text_of[cell_text(key)] == text for key, text in rows)


def _texts(table: Table, columns: Columns, key: str | None) -> tuple[list[Text], int]:
    """Return the texts in the order of the table, with their votes, and the number of rows."""
    texts: dict[Any, Text] = {}
    names, count = table.columns, 0
    first = [name for name in (columns.gold, columns.checked_column) if name is not None]
    for block in table.blocks():
        read = [str(columns.label), str(columns.source), *first]
        labels, sources, *others = columns.cells(block, read)
        keys = range(count, count + len(block)) if key is None else block.cells([key])[0]
        ordered = table.format.ordered
        records = block.records(names) if ordered else zip(*block.cells(names), strict=True)
        for row, cells in enumerate(records):
            is_single = key is None or is_unlabelled(keys[row])
            known = count + row if is_single else cell_text(keys[row])
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
    table: Table, columns: Columns, texts: Sequence[Text], sources: Sequence[str], rows: int
) -> tuple[Table, Columns]:
    """Return the table of texts, and its columns."""
    others = {
        columns.group,
        columns.gold,
        columns.checked_column,
        columns.id,
    }  # one column may be both
    names = {*table.parts_of(str(columns.label)), str(columns.source)} - others
    gone = {table.columns.index(name) for name in names}
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
    note = (
        f"{rows:,} rows are labels of {len(texts):,} texts by {len(sources)} sources; one row is "
        "written per text."
    )
    wide = replace(columns, label=None, source=None, votes=votes)
    return replace(table, start=start, held=tuple(blocks), notes=(*table.notes, note)), wide
