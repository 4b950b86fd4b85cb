"""``lops apply``: a table with the corrections that people made in its report."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lops_adapters import formats, storage
from lops_adapters.cli import options as shared
from lops_adapters.cli import outputs, standard_input
from lops_adapters.cli.corrections import Changes, changes
from lops_adapters.console import listed, set_up_logging
from lops_adapters.formats import files
from lops_adapters.formats.places import rows_of
from lops_adapters.formats.readers import Table, rehearse
from lops_adapters.labels.corrections import check_table, read_corrections
from lops_adapters.labels.lookup import require
from lops_adapters.labels.naming import LABEL

EXAMPLES = """\
  lops apply corrections.csv tickets.csv --output tickets-corrected.csv
  lops apply corrections.csv 'parts/*.parquet' --label category --output corrected.parquet
  lops apply corrections.csv tickets.jsonl --id ticket --label category --output corrected.jsonl"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops apply``."""
    parser = shared.parser(
        "apply",
        "Write a table with other labels, and without some rows. The corrections are "
        "a CSV with the columns row and label, as a report downloads it: the number of a row, from "
        "1, and its new label, or nothing or - to delete the row; or the relabelled rows of "
        "lops select.",
        EXAMPLES,
    )
    data = parser.add_argument_group("data")
    data.add_argument(
        "corrections", type=shared.path, metavar="CORRECTIONS", help="CSV of corrections"
    )
    data.add_argument(
        "files", nargs="+", metavar="FILE", help="the table; several files as given to lops select"
    )
    data.add_argument(
        "--label",
        metavar="COLUMN",
        help="column of labels (default: the one that the corrections name, else 'label')",
    )
    data.add_argument(
        "--id", metavar="COLUMN", help="column of ids, by which the corrections name rows"
    )
    shared.add_text_format(data)
    out = parser.add_argument_group("output")
    out.add_argument(
        "--output",
        type=shared.path,
        required=True,
        metavar="FILE",
        help="file to write, by its suffix",
    )
    out.add_argument("--force", action="store_true", help="replace an existing file")
    out.add_argument("--quiet", action="store_true", help="no progress bars")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the corrected table and print what has changed."""
    options = parser().parse_args(arguments)
    set_up_logging(quiet=True)
    with standard_input.given(options.files) as paths:
        _apply(options, paths)
    return 0


def _apply(options: argparse.Namespace, paths: tuple[Path, ...]) -> None:
    kind = formats.to_write(options.output, "output")
    corrections = read_corrections(
        options.corrections, options.id is not None, True, options.encoding, options.label
    )
    label = options.label = options.label or corrections.column or LABEL
    options.text = None if corrections.counts is None else corrections.counts.column
    table = shared.opened(options, paths, raw=True)
    for name, option in ((label, "label"), (options.id, "id")):
        if name is not None:
            require(table, name, option)
    checksums = files.checksums(paths)
    check_table(corrections, checksums)
    formats.FORMATS[kind].load(options.output)
    inputs = [*paths, options.corrections]
    outputs.check_file(options.output, "--output", options.force, inputs)
    by = None if corrections.numbered else options.id
    made = changes(corrections, table, label, by)
    with storage.claimed(options.output), outputs.as_private_as(inputs):
        rehearse(table, kind, ())
        with outputs.writing(options.output), storage.replacing(options.output) as partial:
            _write(partial, kind, table, label, made)
            if files.checksums(paths) != checksums:
                raise files.changed(paths)
    printed = _said(made, options.output)
    if table.format.native != table.format.name and not table.format.copies(kind):
        printed.append(
            f"Only cells of {paths[0].name} are written: no formulas, formats, other sheets."
        )
    print("\n".join(printed))


def _write(path: Path, kind: str, table: Table, label: str, made: Changes) -> None:
    start = 0
    with (
        table.format.copier(path, table.start)
        if table.format.copies(kind)
        else formats.FORMATS[kind].writer(path, table.start, (), {}, False)
    ) as writer:
        for block in table.blocks():
            here = range(start, start + len(block))
            rows = np.array([i - start for i in here if i not in made.deleted], dtype=np.int64)
            new = {i - start: made.labels[i] for i in here if i in made.labels}
            writer.write(block.replaced(label, new), rows, {})
            start += len(block)


def _said(made: Changes, output: Path) -> list[str]:
    counts = [f"{rows_of(len(made.labels))} relabelled", f"{rows_of(len(made.deleted))} deleted"]
    counts += [f"{rows_of(made.same)} unchanged, with that label already"] if made.same else []
    lines = [f"{'; '.join(counts)}."]
    if made.texts is not None:
        lines.insert(0, f"Corrections of {made.texts:,} texts, written to all rows of each.")
    if made.new:
        named = (f"{name!s:.60} ({rows_of(count)})" for name, count in made.new.items())
        lines.append(f"New classes: {listed(named)}.")
    return [*lines, f"Corrected table: {output} ({rows_of(made.rows - len(made.deleted))})"]
