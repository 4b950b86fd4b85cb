"""``lops select``: a table of texts with noisy labels in, the rows to trust out."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import storage
from lops_adapters.cli import files, outputs, streaming, tables
from lops_adapters.cli import options as shared
from lops_adapters.cli.rows import Wanted, read_rows
from lops_adapters.cli.select_files import GIVEN, RELABEL, Judged, Output, types_like, written
from lops_adapters.cli.select_options import CHOICES, parser
from lops_adapters.cli.survey import may_exceed
from lops_adapters.cli.writers import rehearse
from lops_adapters.console import percent
from lops_adapters.core import LopsError
from lops_adapters.texts.choices import check_views, method_for
from lops_adapters.texts.result import COLUMNS
from lops_adapters.texts.select import select

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage
    from lops_adapters.texts.totals import Totals


def main(arguments: Sequence[str] | None = None) -> int:
    """Select rows of a table, write them and print a summary."""
    options = parser().parse_args(arguments)
    shared.set_up()
    paths = files.find(options.files)
    method, _ = method_for(
        options.confidence,
        options.rule,
        options.tau,
        options.every,
        stratified=options.stratified,
        sure=options.sure,
    )
    if options.relabel is not None and not 0 < options.relabel <= 1:
        raise LopsError(
            f"--relabel is {options.relabel:g}; wanted a probability above 0 and at most 1"
        )
    if options.probe_rows < 1:
        raise LopsError(f"--probe-rows is {options.probe_rows}; wanted at least 1")
    if options.address is not None and options.engine != "ray":
        raise LopsError(f"--address is {options.address} without --engine ray; leave one out")
    words = shared.read_words(options.words)
    check_views(method, options.encoder, words)
    table = tables.open_table(
        paths, delimiter=options.delimiter, encoding=options.encoding, quiet=options.quiet
    )
    wanted = Wanted(options.text, options.label, options.gold, options.id, options.abstain)
    wanted.check(table)
    _check_columns(table)
    with storage.claimed(*_outputs(options, paths)):
        if options.engine == "ray":
            _spread(options, table, wanted, method)
        elif method != "committee" or not _stream(options, table, wanted, words):
            _run(options, table, wanted, words)
    return 0


def _stream(
    options: argparse.Namespace,
    table: tables.Table,
    wanted: Wanted,
    words: dict[str, list[str]] | None,
) -> bool:
    """Select block by block if the table has more rows than ``--probe-rows``; return whether."""
    if not may_exceed(table, options.probe_rows):
        return False
    folder, keep_out = _targets(options, table)
    before = outputs.checksums(table.paths)
    given = _given(options, table, wanted, words, _table(options, table.paths, before))
    found = streaming.survey(table, given)
    if not found.exceeds():
        return False
    for kind in _formats(options, table, folder, keep_out):
        rehearse(table, kind, (*COLUMNS, GIVEN), types_like(options.label))
    classes = streaming.numbered(found.labels, given)
    sample = found.sample(classes)
    del found  # its rows take memory
    fitted, judging = streaming.fit(sample, classes, given)
    suffix = options.format or table.format
    with outputs.writing(keep_out or folder or Path()):
        totals, page = streaming.write(fitted, judging, table, folder, keep_out, suffix, before)
    _print(fitted, totals, page)
    print("\n".join(written(folder, keep_out, suffix, totals.relabelled, totals.abstained)))
    return True


def _spread(options: argparse.Namespace, table: tables.Table, wanted: Wanted, method: str) -> None:
    """Select on Ray."""
    from lops_adapters.scale import command

    command.check(method, options.encoder, options.probe, options.words, options.keep_out)
    folder, _ = _targets(options, table)
    assert folder is not None
    given = _given(options, table, wanted, None, {})
    suffix = options.format or table.format
    with outputs.writing(folder):
        fitted, totals, page = command.run(
            table, given, folder, suffix, address=options.address, quiet=options.quiet
        )
    _print(fitted, totals, page)
    print("\n".join(command.written(folder, suffix, totals)))


def _print(fitted: streaming.Fit, totals: Totals, page: SelectionPage) -> None:
    print(fitted.summary(totals))
    print("\n".join(["", *fitted.why(totals), *_noise(page)]))


def _given(
    options: argparse.Namespace,
    table: tables.Table,
    wanted: Wanted,
    words: dict[str, list[str]] | None,
    corrections: dict[str, str],
) -> streaming.Given:
    """Return what is asked for, for tables that are read block by block."""
    return streaming.Given(
        wanted,
        {**{name: getattr(options, name) for name in CHOICES}, "words": words},
        options.probe_rows,
        RELABEL if options.relabel is None else options.relabel,
        options.escape_formulas,
        {
            "title": f"{table.paths[0].name}: kept by the committee method",
            "source": _source(table.paths, wanted),
            "table": corrections,
        },
        lambda used: _settings(options, used),
    )


def _run(
    options: argparse.Namespace,
    table: tables.Table,
    wanted: Wanted,
    words: dict[str, list[str]] | None,
) -> None:
    paths = table.paths
    folder, keep_out = _targets(options, table)
    before = outputs.checksums(paths)
    rows = read_rows(table, wanted)
    for kind in _formats(options, table, folder, keep_out):
        rehearse(table, kind, (*COLUMNS, GIVEN), types_like(options.label))
    chosen = {name: getattr(options, name) for name in CHOICES}
    selection = select(rows.texts, rows.labels, words=words, abstain=(), place=rows.place, **chosen)
    selection.why[-1:-1] = rows.notes
    page = selection.page(
        rows.gold,
        title=f"{paths[0].name}: kept by the {selection.settings['method']} method",
        source=_source(paths, wanted),
        ids=rows.ids,
        numbers=(np.flatnonzero(rows.labelled) + 1).tolist(),
        table=_table(options, paths, before),
    )
    page = replace(page, n_abstained=int((~rows.labelled).sum()))
    settings = _settings(options, selection.settings)
    dataset = outputs.dataset(rows, before)
    config = outputs.describe(
        "select", settings, options.seed, dataset, selection.settings["device"]
    )
    relabel = RELABEL if options.relabel is None else options.relabel
    writing = Output(
        Judged(table, options.label, rows, selection, relabel),
        lambda: outputs.checksums(paths) == before,
        options.escape_formulas,
    )
    with outputs.writing(keep_out or folder or Path()):
        writing.write(folder, keep_out, options.format, page, config)
    print(selection.summary())
    print("\n".join(["", *selection.why, *_noise(page)]))
    suffix = options.format or table.format
    relabelled = int(writing.relabelled.sum())
    print("\n".join(written(folder, keep_out, suffix, relabelled, writing.abstained)))


def _table(
    options: argparse.Namespace, paths: Sequence[Path], checksums: dict[str, str]
) -> dict[str, str]:
    """Return what the page needs for corrections: column, checksum, and the command."""
    more = [] if options.delimiter is None else ["--delimiter", options.delimiter]
    more += [] if options.encoding == "utf-8" else ["--encoding", options.encoding]
    output = f"{paths[0].stem}-corrected{paths[0].suffix}"
    words = ["lops", "apply", "corrections.csv", *map(str, paths), *more, "--output", output]
    return {
        "column": options.label,
        "sha256": outputs.fingerprint(checksums),
        "command": shlex.join(words),
    }


def _source(paths: Sequence[Path], wanted: Wanted) -> str:
    """Return the names of the files, at most three of them, and of the columns."""
    named = ", ".join(map(str, paths[:3]))
    named += f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"{named}; texts: {wanted.text}, labels: {wanted.label}"


def _outputs(options: argparse.Namespace, paths: Sequence[Path]) -> tuple[Path | None, Path | None]:
    """Return the folder and the file to write."""
    folder, keep_out = options.output, options.keep_out
    if folder is None and keep_out is None:
        folder = Path(f"{paths[0].stem}-lops")
    if folder is not None and keep_out is not None:
        inside = folder.resolve() in (keep_out.resolve(), *keep_out.resolve().parents)
        if inside:
            raise LopsError(
                f"--keep-out is {keep_out}, inside the folder of --output, which is replaced as a "
                "whole; give a file elsewhere"
            )
    return folder, keep_out


def _targets(options: argparse.Namespace, table: tables.Table) -> tuple[Path | None, Path | None]:
    paths = table.paths
    folder, keep_out = _outputs(options, paths)
    if keep_out is not None:
        if files.format_of(keep_out, "--keep-out") == "parquet":
            tables.import_pyarrow(keep_out)
        outputs.check_file(keep_out, "--keep-out", options.force, paths)
    if folder is None:
        if options.format is not None:
            raise LopsError(
                f"--format is {options.format}, but only {keep_out} is written, in the format of "
                "its suffix; leave out --format, or give --output"
            )
        if options.relabel is not None:
            raise LopsError(
                f"--relabel is {options.relabel:g}, but only kept rows are written; leave it out, "
                "or give --output"
            )
        return None, keep_out
    if options.format == "parquet":
        tables.import_pyarrow(folder / "kept.parquet")
    return outputs.check_folder(folder, "select", options.force, paths), keep_out


def _formats(
    options: argparse.Namespace, table: tables.Table, folder: Path | None, keep_out: Path | None
) -> set[str]:
    """Return the formats of the files to write."""
    found = set() if folder is None else {options.format or table.format}
    return found if keep_out is None else {*found, files.format_of(keep_out)}


def _check_columns(table: tables.Table) -> None:
    taken = [name for name in (*COLUMNS, GIVEN) if name in table.columns]
    if taken:
        raise LopsError(
            f"{table.paths[0]} already has a column {taken[0]!r}, as written by lops select; "
            f"give the original file, or drop the columns {', '.join(taken)}"
        )


def _settings(options: argparse.Namespace, chosen: dict[str, Any]) -> dict[str, Any]:
    names = (
        "text",
        "label",
        "gold",
        "id",
        "abstain",
        "delimiter",
        "encoding",
        "escape_formulas",
        "relabel",
    )
    return {**{name: getattr(options, name) for name in names}, **chosen}


def _noise(page: SelectionPage) -> list[str]:
    """Return the sentence about wrong labels; none without gold labels."""
    if page.noise_before is None:
        return []
    rows = "all rows"
    if page.n_judged < page.n_rows:
        rows = f"the {page.n_judged:,} rows with a gold label"
    before, after = percent(page.noise_before), percent(page.noise_after)
    return [f"Wrong by the gold labels: {before} of {rows}, {after} of the kept ones."]
