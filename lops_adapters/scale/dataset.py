"""A selection among the rows of a Ray dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lops_adapters import extras
from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC
from lops_adapters.probes.base import check_counts
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.linear import check_analyzer
from lops_adapters.scale.engine import Part, Steps, held
from lops_adapters.selection.methods import check
from lops_adapters.tables.columns import Wanted
from lops_adapters.tables.fit import Job
from lops_adapters.tables.formats.base import BLOCK_ROWS
from lops_adapters.tables.formats.parquet import BatchBlock
from lops_adapters.tables.survey import PROBE_ROWS
from lops_adapters.texts.choices import member_options
from lops_adapters.texts.totals import Totals

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

ADDED = ("lops_confidence", "lops_selected", "lops_suggested")


@dataclass(frozen=True)
class DatasetSelection:
    """A selection among the rows of a dataset.

    Attributes:
        dataset: a Ray dataset, the rows with ``lops_confidence``, ``lops_selected`` and
            ``lops_suggested``; all are null for a row without a label.
        totals: counts of all rows.
        why: sentences: the members, what is kept.
        page: what a report shows; see
            :func:`lops_adapters.report.selection_page.write_selection_page`.
        summary: a table of rows and kept rows per class, as text.

    """

    dataset: Any
    totals: Totals
    why: list[str]
    page: SelectionPage
    summary: str


def select_dataset(
    dataset: Any,
    *,
    text: str,
    label: str,
    gold: str | None = None,
    abstain: Sequence[str] | None = None,
    per_class: bool | None = None,
    sure: float | None = None,
    encoder: str | EmbeddingProbe | None = STATIC,
    words: Mapping[str, Sequence[str]] | None = None,
    analyzer: str = "auto",
    probe_rows: int = PROBE_ROWS,
    seed: int = 0,
    quiet: bool = True,
) -> DatasetSelection:
    """Select the rows of a Ray dataset whose labels to trust, by the committee.

    The rows are read once, into Ray's object store, which spills to disk. No process holds all of
    them.

    Args:
        dataset: a Ray dataset of a program that is connected to its cluster.
        text, label: columns of texts and noisy labels.
        gold: column of true labels, only to measure the result.
        abstain: labels that are no class, as texts; default: -1 among integer codes from 0.
        per_class, sure, encoder, words, analyzer, seed: as for :func:`lops_adapters.select`.
        probe_rows: rows of the sample that the committee is fitted to.
        quiet: no line per step.

    Raises:
        LopsError: a missing column, a text or label that cannot be scored, fewer than two classes,
            an encoder that cannot be loaded, and a cluster that is lost.

    """
    options = member_options("committee", encoder, words, sure)
    check("committee", per_class=per_class, options=options)
    check_analyzer(analyzer)
    check_counts(seed)
    if probe_rows < 1:
        raise LopsError(f"probe_rows is {probe_rows}; wanted at least 1")
    chosen: dict[str, Any] = {
        "sure": sure,
        "per_class": per_class,
        "words": words,
        "analyzer": analyzer,
    }
    chosen |= {"seed": seed, "encoder": encoder}
    page = {"source": f"a Ray dataset; texts: {text}, labels: {label}"}
    job = Job(Wanted(text, label, gold, None, abstain), chosen, "committee", probe_rows, page=page)
    blocks = _blocks(dataset, [name for name in (text, label, gold) if name is not None])
    steps = Steps(extras.load("ray", "select_dataset"), job, quiet, several=True)
    fitted, scoring, parts = steps.fitted(blocks)
    totals, tables = Totals.of(len(scoring.classes.names)), dict[int, Any]()

    def add(number: int, scored: tuple[Totals, Any]) -> None:
        nonlocal totals
        own, tables[number] = scored
        totals = totals + own

    steps.score(_score, parts, scoring, done=add, kept=True)
    rows = extras.load("ray.data", "select_dataset").from_arrow_refs(
        [tables[number] for number in range(len(parts))]
    )
    return DatasetSelection(
        rows, totals, fitted.why(totals), fitted.page(totals), fitted.summary(totals)
    )


def _blocks(dataset: Any, names: Sequence[str]) -> list[_Rows]:
    """Return the dataset's blocks, in its order.

    Raises:
        LopsError: a missing column, or one that is written here.

    """
    columns = list(dataset.columns() or ())
    for name in names:
        if name not in columns:
            known = listed(map(repr, columns))
            raise LopsError(f"the dataset has no column {name!r}; its columns are {known}")
    for name in ADDED:
        if name in columns:
            raise LopsError(f"the dataset already has a column {name!r}; drop it first")
    options = dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        references = dataset.materialize().to_arrow_refs()
    finally:
        options.preserve_order = before
    return [_Rows(reference, number) for number, reference in enumerate(references)]


class _Rows:
    """A block of a dataset, read like a part of a table, where the work is done."""

    unit = "row"

    def __init__(self, reference: Any, number: int) -> None:
        self._reference = reference
        self.paths = (Path(f"block {number} of the dataset"),)

    @property
    def table(self) -> Any:
        """A pyarrow table."""
        return extras.load("ray", "select_dataset").get(self._reference)

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[BatchBlock]:
        """Yield the rows in order."""
        rows, number = self.table, 0
        if columns is not None:
            rows = rows.select(list(columns))
        for batch in rows.to_batches(max_chunksize=BLOCK_ROWS):
            if len(batch):
                numbers = range(number + 1, number + 1 + len(batch))
                yield BatchBlock(self.paths[0], numbers, batch)
                number += len(batch)


def _score(part: Part, boxed: Sequence[Any]) -> tuple[Totals, Any]:
    """Return the totals of a block, and its rows with the added columns."""
    pa, scoring, start = extras.load("pyarrow", "select_dataset"), held(boxed), part.start
    totals = Totals.of(len(scoring.classes.names))
    added: dict[str, list[Any]] = {name: [] for name in ADDED}
    for block in part.rows.blocks():
        scored = scoring.score(block, start, part.rows.unit, totals)
        start += len(block)
        new = scoring.added(scored, slice(None))
        for name, values in added.items():
            values.extend([None] * len(block))
            for row, value in zip(scored.rows.tolist(), new[name], strict=True):
                values[row - len(block)] = value
    rows = part.rows.table
    types = (pa.float64(), pa.bool_(), rows.schema.field(str(scoring.wanted.label)).type)
    for (name, values), kind in zip(added.items(), types, strict=True):
        rows = rows.append_column(name, pa.array(values, type=kind))
    return totals, rows
