"""A selection among the rows of a Ray dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lops_adapters import extras
from lops_adapters.core import LopsError
from lops_adapters.datasets.corpus import listed
from lops_adapters.probes.base import check_counts
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.linear import check_analyzer
from lops_adapters.scale import parts
from lops_adapters.scale.engine import Engine
from lops_adapters.scale.parts import Counted, Placed, Ready
from lops_adapters.selection.draw import Limits
from lops_adapters.tables.blocks import judge_block
from lops_adapters.tables.fit import Given
from lops_adapters.tables.readers import BLOCK_ROWS, Block
from lops_adapters.tables.results import RELABEL
from lops_adapters.tables.rows import Wanted
from lops_adapters.tables.survey import PROBE_ROWS, Survey
from lops_adapters.texts.choices import AUTO, NONE, check_members, method_for
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
    sure: float | None = None,
    stratified: bool = False,
    encoder: str | EmbeddingProbe | None = None,
    words: Mapping[str, Sequence[str]] | None = None,
    vectors: str | Path | None = None,
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
        sure, stratified, encoder, words, analyzer, seed: as for :func:`lops_adapters.select`; no
            encoder is chosen automatically.
        vectors: with an encoder: folder for the vectors of the texts, which later runs use; all
            machines see it.
        probe_rows: rows of the sample that the committee is fitted to.
        quiet: no line per stage.

    Raises:
        LopsError: a missing column, a text or label that cannot be judged, fewer than two classes,
            an encoder that cannot be loaded or has no folder, and a cluster that is lost.

    """
    method_for(None, None, "auto", None, stratified=stratified, sure=sure)
    check_analyzer(analyzer)
    check_counts(seed)
    if probe_rows < 1:
        raise LopsError(f"probe_rows is {probe_rows}; wanted at least 1")
    _check_encoder(encoder, words, vectors)
    wanted = Wanted(text, label, gold, None, abstain)
    blocks = _blocks(dataset, [name for name in (text, label, gold) if name is not None])
    probe = EmbeddingProbe(encoder) if isinstance(encoder, str) else encoder
    chosen = {"sure": sure, "stratified": stratified, "words": words, "analyzer": analyzer}
    chosen |= {"seed": seed}
    page = {"source": f"a Ray dataset; texts: {text}, labels: {label}"}
    given = Given(wanted, chosen, probe_rows, RELABEL, False, False, page, dict)
    ray = extras.load("ray", "select_dataset")
    engine = Engine(ray, given, quiet)
    classes, starts = engine.count(blocks, _count)
    placed = [Placed(*p) for p in zip(blocks, range(len(blocks)), starts, strict=True)]
    sample = engine.draw(placed, classes, _draw)
    encoding, held = None, None
    if probe is not None:
        encoding = engine.encoding(probe, Path(str(vectors)))
        placed, held = engine.encode(placed, classes, sample, encoding, _resolved)
    fitted, ready = engine.fit(sample, classes, encoding, held)
    totals, done = Totals.of(len(classes.names)), {}

    def add(place: int, found: tuple[dict[str, Any], Any]) -> None:
        nonlocal totals
        stored, done[place] = found
        totals = totals + Totals.from_json(stored)

    engine.judge(_judge, placed, ready, done=add, kept=True)
    rows = extras.load("ray.data", "select_dataset").from_arrow_refs(
        [done[place] for place in range(len(placed))]
    )
    return DatasetSelection(
        rows, totals, fitted.why(totals), fitted.page(totals), fitted.summary(totals)
    )


def _check_encoder(encoder: Any, words: Any, vectors: str | Path | None) -> None:
    """Raise a LopsError about an encoder without a folder, or words without an encoder."""
    check_members("committee", encoder, words)
    if encoder in (AUTO, *NONE[1:]):
        raise LopsError(f"encoder is {encoder!r}; wanted the name of one, or None")
    if (encoder is None) != (vectors is None):
        raise LopsError(
            f"encoder is {encoder!r:.80} and vectors are {str(vectors)!r}; wanted both, where "
            "vectors is a folder that all machines see, or neither"
        )


def _blocks(dataset: Any, names: Sequence[str]) -> list[Any]:
    """Return references to the dataset's blocks, in its order.

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
        return list(dataset.materialize().to_arrow_refs())
    finally:
        options.preserve_order = before


class _Rows:
    """A block of a dataset, read like a part of a table."""

    unit = "row"

    def __init__(self, rows: Any, number: int | None = None) -> None:
        self.rows, self.columns = rows, tuple(rows.column_names)
        self.paths = (Path("dataset" if number is None else f"block {number} of the dataset"),)

    def cells(self, names: Sequence[str]) -> Iterator[tuple[Path, int, tuple[Any, ...]]]:
        """Yield (name, row number from 1, cells of the named columns)."""
        number = 0
        for block in self.blocks():
            columns = (block.batch.column(name).to_pylist() for name in names)
            for cells in zip(*columns, strict=True):
                number += 1
                yield self.paths[0], number, cells

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in order."""
        for batch in self.rows.to_batches(max_chunksize=BLOCK_ROWS):
            if len(batch):
                yield Block(batch=batch)


def _resolved(placed: Placed) -> _Rows:
    """Return the block of a reference; runs where the work is done."""
    return _Rows(extras.load("ray", "select_dataset").get(placed.part), placed.number)


def _count(rows: Any, wanted: Wanted) -> Counted:
    return parts.count(_Rows(rows), wanted)


def _draw(placed: Placed, wanted: Wanted, most: int, seed: int, limits: Limits) -> Survey:
    return parts.draw(placed._replace(part=_resolved(placed)), wanted, most, seed, limits)


def _judge(placed: Placed, ready: Ready) -> tuple[dict[str, Any], Any]:
    """Return the totals of a block, and its rows with the added columns."""
    pa = extras.load("pyarrow", "select_dataset")
    part, start, judging = _resolved(placed), placed.start, ready.of(placed)
    totals = Totals.of(len(judging.classes.names))
    added: dict[str, list[Any]] = {name: [] for name in ADDED}
    for block in part.blocks():
        at, _, verdict, _ = judge_block(part, judging, block, start, totals)
        start += len(block)
        found = judging.added(verdict)
        for name, values in added.items():
            values.extend([None] * len(block))
            for row, value in zip(at.tolist(), found[name], strict=True):
                values[row - len(block)] = value
    rows = part.rows
    types = (pa.float64(), pa.bool_(), rows.schema.field(str(judging.wanted.label)).type)
    for (name, values), kind in zip(added.items(), types, strict=True):
        rows = rows.append_column(name, pa.array(values, type=kind))
    return totals.to_json(), rows
