"""``lops select``: a table of texts with noisy labels in, the rows to trust out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import storage
from lops_adapters.cli import files, outputs, tables
from lops_adapters.cli import options as shared
from lops_adapters.cli.rows import Rows, Wanted, read_rows
from lops_adapters.cli.writers import rehearse, writer_for
from lops_adapters.console import percent
from lops_adapters.core import RULES, LopsError
from lops_adapters.texts.choices import (
    LONGEST_FOR_CPU,
    NAMES_OF_CONFIDENCES,
    SURE,
    check_views,
    method_for,
)
from lops_adapters.texts.result import COLUMNS, TextSelection
from lops_adapters.texts.select import select

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

CHOICES = (
    *("probe", "confidence", "rule", "tau", "every", "stratified", "sure", "encoder"),
    *("seed", "quiet"),
)
EXAMPLES = """examples:
  lops select tickets.csv --text body --label category
  lops select 'parts/*.parquet' --text text --label label --tau 0.5 --output clean
  lops select tickets.csv --text body --label category --gold checked_category
  lops select tickets.jsonl --text body --label category --keep-out clean.jsonl"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops select``."""
    found = argparse.ArgumentParser(
        prog="lops select",
        description="Select the labels of a table to trust. "
        "Writes the kept rows, the rejected rows and a report.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    data = shared.add_table(found)
    data.add_argument(
        "--id", metavar="COLUMN", help="ids to show in the report (default: row numbers)"
    )
    data.add_argument(
        "--gold",
        metavar="COLUMN",
        help="column of true labels, used only afterwards, to measure the result",
    )
    _add_selection(found.add_argument_group("selection"))
    out = found.add_argument_group("output")
    _add_output(out)
    shared.add_run(out)
    return found


def _add_selection(choice: argparse._ArgumentGroup) -> None:
    shared.add_probe(choice)
    named = ", ".join(NAMES_OF_CONFIDENCES)
    choice.add_argument(
        "--confidence",
        choices=NAMES_OF_CONFIDENCES,
        metavar="NAME",
        help=f"ranking of the rows: {named} (default: depends on --tau)",
    )
    choice.add_argument(
        "--rule",
        choices=RULES,
        help="rule of the paper or its code, for learning order; needs --tau F",
    )
    choice.add_argument(
        "--tau",
        type=shared.fraction,
        default="auto",
        metavar="F|auto",
        help="share of each class to keep; auto: decided per class (default: auto)",
    )
    choice.add_argument(
        "--every",
        type=int,
        metavar="N",
        help="updates between checkpoints (default: one epoch); needs --tau F",
    )
    choice.add_argument(
        "--stratified",
        action="store_true",
        help="with --tau auto: keep the same total, spread evenly over classes",
    )
    choice.add_argument(
        "--sure",
        type=shared.number,
        metavar="P",
        help="with --tau auto: keep labels that are right with at least this probability "
        f"(default: {SURE}); larger for labels made by rules",
    )
    choice.add_argument(
        "--encoder",
        default="auto",
        metavar="NAME|none",
        help="frozen encoder of the committee: minilm, a folder or a hub name; none: LSA (default: "
        f"auto, minilm if installed and at most {LONGEST_FOR_CPU:,} rows or a GPU)",
    )
    choice.add_argument(
        "--words",
        type=Path,
        metavar="JSON",
        help="words of each class, {class: [word, ...]}: another view, if there is an encoder",
    )


def _add_output(out: argparse._ArgumentGroup) -> None:
    out.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder to write (default: ./FILE-lops, by the first file's name)",
    )
    out.add_argument(
        "--keep-out",
        type=Path,
        metavar="FILE",
        help="write only the kept rows, into this file (with --output: a folder, too)",
    )
    out.add_argument(
        "--format",
        choices=files.FORMATS,
        help="format of the files in the folder (default: the input's)",
    )
    out.add_argument(
        "--escape-formulas",
        action="store_true",
        help="CSV and TSV: put an apostrophe before cells that begin like a formula",
    )


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
    words = shared.read_words(options.words)
    check_views(method, options.encoder, words)
    table = tables.open_table(
        paths, delimiter=options.delimiter, encoding=options.encoding, quiet=options.quiet
    )
    wanted = Wanted(options.text, options.label, options.gold, options.id, options.drop_unlabelled)
    wanted.check(table)
    _check_columns(table)
    with storage.claimed(*_outputs(options, paths)):
        _run(options, table, wanted, words)
    return 0


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
    like = {"lops_suggested": options.label}
    for kind in _formats(options, table, folder, keep_out):
        rehearse(table, kind, COLUMNS, like)
    chosen = {name: getattr(options, name) for name in CHOICES}
    selection = select(rows.texts, rows.labels, words=words, **chosen)
    selection.why[-1:-1] = rows.notes
    page = selection.page(
        rows.gold,
        title=f"{paths[0].name}: kept by the {selection.settings['method']} method",
        source=_source(paths, wanted),
        ids=rows.ids,
    )
    settings = _settings(options, selection.settings)
    dataset = outputs.dataset(rows, before)
    config = outputs.describe(
        "select", settings, options.seed, dataset, selection.settings["device"]
    )
    writing = _Output(
        table,
        like,
        rows,
        selection,
        lambda: outputs.checksums(paths) == before,
        options.escape_formulas,
    )
    with outputs.writing(keep_out or folder or Path()):
        writing.write(folder, keep_out, options.format, page, config)
    print(selection.summary())
    print("\n".join(["", *selection.why, *_noise(page)]))
    suffix = options.format or table.format
    print("\n".join(_written(folder, keep_out, suffix)))


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
    taken = [name for name in COLUMNS if name in table.columns]
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
        "drop_unlabelled",
        "delimiter",
        "encoding",
        "escape_formulas",
    )
    return {**{name: getattr(options, name) for name in names}, **chosen}


class _Output:
    """The second pass over the table: kept and rejected rows go to their files."""

    def __init__(
        self,
        table: tables.Table,
        like: dict[str, str],
        rows: Rows,
        selection: TextSelection,
        unchanged: Callable[[], bool],
        escape: bool,
    ) -> None:
        self._table, self._selection, self._unchanged = table, selection, unchanged
        # Position of each row of the table among the labelled rows; -1: without a label.
        self._position = np.where(rows.labelled, np.cumsum(rows.labelled) - 1, -1)
        self._suggested = [rows.values[name] for name in selection.suggested]
        self._like, self._escape = like, escape

    def write(
        self,
        folder: Path | None,
        keep_out: Path | None,
        kind: str | None,
        page: SelectionPage,
        config: dict[str, Any],
    ) -> None:
        """Write a folder, a file, or both, complete or not at all."""
        suffix = kind or self._table.format

        def fill(place: Path | None, alone: Path | None) -> None:
            kept = [] if alone is None else [(alone, files.format_of(keep_out or alone))]
            rejected = []
            if place is not None:
                kept.append((place / f"kept.{suffix}", suffix))
                rejected.append((place / f"rejected.{suffix}", suffix))
            self._stream(kept, rejected)
            if place is not None:
                write_pages(place, page, config)

        def both(alone: Path | None) -> None:
            if folder is None:
                fill(None, alone)
            else:
                storage.replace_folder(folder, lambda place: fill(place, alone))

        if keep_out is None:
            both(None)
        else:
            storage.replace_with(keep_out, both)

    def _stream(
        self, kept: Sequence[tuple[Path, str]], rejected: Sequence[tuple[Path, str]]
    ) -> None:
        with ExitStack() as stack:
            writers = [
                (wanted, writer_for(path, kind, self._table, COLUMNS, self._like, self._escape))
                for wanted, files in ((True, kept), (False, rejected))
                for path, kind in files
            ]
            for _, writer in writers:
                stack.enter_context(writer)
            start = 0
            for block in self._table.blocks():
                positions = self._position[start : start + len(block)]
                if len(positions) < len(block):
                    self._changed()
                start += len(block)
                for wanted, writer in writers:
                    found = self._selection.mask[positions] == wanted
                    rows = np.flatnonzero((positions >= 0) & found)
                    writer.write(block, rows, self._added(positions[rows]))
        if start != len(self._position) or not self._unchanged():
            self._changed()

    def _added(self, positions: np.ndarray) -> dict[str, list[Any]]:
        times = self._selection.learnt_at[positions].tolist()
        return {
            "lops_learnt_at": [time if np.isfinite(time) else None for time in times],
            "lops_confidence": self._selection.confidence[positions].tolist(),
            "lops_selected": self._selection.mask[positions].tolist(),
            "lops_suggested": [self._suggested[position] for position in positions.tolist()],
        }

    def _changed(self) -> None:
        named = ", ".join(map(str, self._table.paths))
        raise LopsError(
            f"the input changed during the run ({named}); nothing was written; "
            "run again when nothing else writes to it"
        )


def write_pages(folder: Path, page: SelectionPage, config: dict[str, Any]) -> None:
    """Write ``config.json``, ``summary.json`` and ``report.html`` into a folder."""
    from lops_adapters.report.selection_page import write_selection_page

    storage.write_json(folder / "config.json", config)
    storage.write_json(folder / "summary.json", page.to_json())
    write_selection_page(folder / "report.html", page)


def _noise(page: SelectionPage) -> list[str]:
    """Return the sentence about wrong labels; none without gold labels."""
    if page.noise_before is None:
        return []
    rows = "all rows"
    if page.n_judged < page.n_rows:
        rows = f"the {page.n_judged:,} rows with a gold label"
    before, after = percent(page.noise_before), percent(page.noise_after)
    return [f"Wrong by the gold labels: {before} of {rows}, {after} of the kept ones."]


def _written(folder: Path | None, keep_out: Path | None, suffix: str) -> list[str]:
    """Return lines with the paths of what was written."""
    lines = [] if keep_out is None else [f"Kept rows: {keep_out}"]
    if folder is not None:
        for name, said in (("kept", "Kept rows"), ("rejected", "Rejected rows")):
            lines.append(f"{said}: {folder / f'{name}.{suffix}'}")
        lines.append(f"Report: {folder / 'report.html'}")
    return lines
