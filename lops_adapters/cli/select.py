"""``lops select``: a table of texts with noisy labels in, the rows to trust out."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import storage
from lops_adapters.cli import duplicates, outputs, standard_input, streaming, threads
from lops_adapters.cli import options as shared
from lops_adapters.cli.select_files import Judged, Output, written
from lops_adapters.cli.select_options import CHOICES, ENGINES, parser
from lops_adapters.console import percent
from lops_adapters.core import LopsError
from lops_adapters.tables import files, readers, results, survey
from lops_adapters.tables.fit import Given
from lops_adapters.tables.fit import survey as first_pass
from lops_adapters.tables.rows import Wanted, read_rows
from lops_adapters.tables.vectors import is_file
from lops_adapters.tables.writers import rehearse
from lops_adapters.texts.choices import check_members, method_for
from lops_adapters.texts.near_duplicates import near_duplicates
from lops_adapters.texts.select import select

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage


def main(arguments: Sequence[str] | None = None) -> int:
    """Select rows of a table, write them and print a summary."""
    options = parser().parse_args(arguments)
    shared.set_up()
    with standard_input.given(options.files) as paths, threads.limited() as said:
        _checked(options, paths, said)
    return 0


def _checked(options: argparse.Namespace, paths: tuple[Path, ...], said: list[str]) -> None:
    """Check the options and the table, then select."""
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
        raise LopsError(f"--address is {options.address} without --engine ray; leave it out")
    if options.vectors is not None and options.engine != "ray":
        raise LopsError(f"--vectors is {options.vectors} without --engine ray; leave it out")
    if options.weights and method != "committee":
        raise LopsError(
            f"--weights needs the committee, and the method is {method}; leave out --tau and "
            "--confidence, or --weights"
        )
    words = shared.read_words(options.words)
    check_members(method, options.encoder, words)
    table = shared.opened(options, paths)
    wanted = Wanted(
        options.text,
        options.label,
        options.gold,
        options.id,
        options.abstain,
        options.embeddings,
        options.soft_labels or (),
    )
    wanted.check(table)
    _check_columns(table)
    with storage.claimed(*_outputs(options, paths)):
        if options.engine == "ray":
            _spread(options, table, wanted, words, method)
        elif method != "committee" or not _stream(options, table, wanted, words, said):
            _run(options, table, wanted, words, said)


def _stream(
    options: argparse.Namespace,
    table: readers.Table,
    wanted: Wanted,
    words: dict[str, list[str]] | None,
    said: list[str],
) -> bool:
    """Select block by block if the table has more rows than ``--probe-rows``; return whether."""
    if options.by_suspicion or not wanted.is_plain:  # need all rows at once
        return False
    if not survey.may_exceed(table, options.probe_rows):
        return False
    folder, keep_out = _targets(options, table)
    before = files.checksums(table.paths)
    named = standard_input.keyed(options.files, before)
    given = _given(options, table, wanted, _table(options, table.paths, before), words, said)
    found = first_pass(table, given)
    if not found.exceeds():
        return False
    for kind in _formats(options, table, folder, keep_out):
        rehearse(table, kind, results.NEW, results.types_like(options.label))
    places = streaming.Places(folder, keep_out, options.format or table.format)
    with outputs.writing(keep_out or folder or Path()):
        fitted, totals, page = streaming.run(table, found, given, places, named)
    print("\n".join([fitted.summary(totals), "", *fitted.why(totals), *_noise(page)]))
    print("\n".join(written(*places, totals.relabelled, totals.abstained)))
    return True


def _spread(
    options: argparse.Namespace,
    table: readers.Table,
    wanted: Wanted,
    words: dict[str, list[str]] | None,
    method: str,
) -> None:
    """Select on Ray."""
    command = import_module(ENGINES[options.engine])
    command.check(options, wanted, method)
    folder, _ = _targets(options, table)
    assert folder is not None  # since there is no --keep-out
    vectors = command.vectors_in(options, folder)
    given, suffix = _given(options, table, wanted, {}, words), options.format or table.format
    with outputs.writing(folder):
        fitted, totals, page = command.run(
            table,
            given,
            folder,
            suffix,
            vectors=vectors,
            address=options.address,
            quiet=options.quiet,
        )
    print("\n".join([fitted.summary(totals), "", *fitted.why(totals), *_noise(page)]))
    print("\n".join(command.written(folder, suffix, totals, vectors)))


def _given(
    options: argparse.Namespace,
    table: readers.Table,
    wanted: Wanted,
    corrections: dict[str, str],
    words: dict[str, list[str]] | None = None,
    said: Sequence[str] = (),
) -> Given:
    """Return what is asked for, for tables that are read block by block."""
    named = standard_input.named(options.files, table.paths)
    return Given(
        wanted,
        {**{name: getattr(options, name) for name in CHOICES}, "words": words},
        options.probe_rows,
        results.RELABEL if options.relabel is None else options.relabel,
        options.escape_formulas,
        options.weights,
        {
            "title": f"{table.paths[0].name}: kept by the committee method",
            "source": _source(named, wanted),
            "table": corrections,
        },
        lambda used: _settings(options, used),
        said,
    )


def _run(
    options: argparse.Namespace,
    table: readers.Table,
    wanted: Wanted,
    words: dict[str, list[str]] | None,
    said: list[str],
) -> None:
    paths = table.paths
    folder, keep_out = _targets(options, table)
    before = files.checksums(paths)
    rows = read_rows(table, wanted)
    for kind in _formats(options, table, folder, keep_out):
        rehearse(table, kind, results.NEW, results.types_like(options.label, rows.values.values()))
    chosen = {name: getattr(options, name) for name in CHOICES} | {"embeddings": rows.vectors}
    selection = select(rows.texts, rows.labels, words=words, abstain=(), place=rows.place, **chosen)
    judged = Judged(
        table,
        options.label,
        rows,
        selection,
        results.RELABEL if options.relabel is None else options.relabel,
        options.weights,
        options.by_suspicion,
        near_duplicates(rows.texts) if folder is not None and options.text else (),
    )
    selection.said.rows += [*rows.notes, *duplicates.sentences(judged), *said]
    page = selection.page(
        rows.gold,
        title=f"{paths[0].name}: kept by the {selection.settings['method']} method",
        source=_source(standard_input.named(options.files, paths), wanted),
        ids=rows.ids,
        numbers=(np.flatnonzero(rows.labelled) + 1).tolist(),
        near=judged.near,
        table={} if options.label is None else _table(options, paths, before),
    )
    page = replace(page, n_abstained=int((~rows.labelled).sum()))
    settings = _settings(options, selection.settings)
    vectors = [Path(options.embeddings)] if is_file(options.embeddings) else []
    sums = standard_input.keyed(options.files, before) | files.checksums(vectors)
    dataset = outputs.dataset(rows, sums)
    config = results.describe(
        "select", settings, options.seed, dataset, selection.settings["device"]
    )
    writing = Output(judged, lambda: files.checksums(paths) == before, options.escape_formulas)
    with outputs.writing(keep_out or folder or Path()):
        writing.write(folder, keep_out, options.format, page, config)
    print(selection.summary())
    print("\n".join(["", *selection.why, *_noise(page)]))
    suffix = options.format or table.format
    counts = int(writing.relabelled.sum()), writing.abstained, writing.duplicates
    print("\n".join(written(folder, keep_out, suffix, *counts)))


def _table(
    options: argparse.Namespace, paths: Sequence[Path], checksums: dict[str, str]
) -> dict[str, str]:
    """Return what the page needs for corrections: column, checksum, and the command."""
    more = [] if options.delimiter is None else ["--delimiter", options.delimiter]
    more += [] if options.encoding == "utf-8" else ["--encoding", options.encoding]
    more += [] if options.sheet is None else ["--sheet", options.sheet]
    first = files.bare(paths[0])
    output = f"{first.stem}-corrected{'.csv' if files.is_sheet(first) else first.suffix}"
    names = ["TABLE"] if standard_input.is_given(options.files) else map(str, paths)
    words = ["lops", "apply", "corrections.csv", *names, *more, "--output", output]
    return {
        "column": options.label,
        "sha256": files.fingerprint(checksums),
        "command": shlex.join(words),
    }


def _source(named: str, wanted: Wanted) -> str:
    """Return the names of the files and of the columns."""
    labels = f"labels: {wanted.label}" if wanted.label else f"labels: {', '.join(wanted.soft)}"
    given = [f"texts: {wanted.text}"] if wanted.text else []
    given += [f"vectors: {wanted.embeddings}"] if wanted.embeddings else []
    return f"{named}; {', '.join([*given, labels])}"


def _outputs(options: argparse.Namespace, paths: Sequence[Path]) -> tuple[Path | None, Path | None]:
    """Return the folder and the file to write."""
    folder, keep_out = options.output, options.keep_out
    if folder is None and keep_out is None:
        folder = Path(f"{files.bare(paths[0]).stem}-lops")
    if folder is not None and keep_out is not None:
        inside = folder.resolve() in (keep_out.resolve(), *keep_out.resolve().parents)
        if inside:
            raise LopsError(
                f"--keep-out is {keep_out}, inside the folder of --output, which is replaced as a "
                "whole; give a file elsewhere"
            )
    return folder, keep_out


def _targets(options: argparse.Namespace, table: readers.Table) -> tuple[Path | None, Path | None]:
    paths = table.paths
    folder, keep_out = _outputs(options, paths)
    if keep_out is not None:
        if files.format_of(keep_out, "--keep-out") == "parquet":
            readers.import_pyarrow(keep_out)
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
        readers.import_pyarrow(folder / "kept.parquet")
    return outputs.check_folder(folder, "select", options.force, paths), keep_out


def _formats(
    options: argparse.Namespace, table: readers.Table, folder: Path | None, keep_out: Path | None
) -> set[str]:
    """Return the formats of the files to write."""
    found = set() if folder is None else {options.format or table.format}
    return found if keep_out is None else {*found, files.format_of(keep_out, "--keep-out")}


def _check_columns(table: readers.Table) -> None:
    taken = [name for name in results.NEW if name in table.columns]
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
        "sheet",
        "escape_formulas",
        "relabel",
        "embeddings",
        "soft_labels",
        "weights",
        "by_suspicion",
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
