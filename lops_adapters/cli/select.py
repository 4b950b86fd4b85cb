"""``lops select``: a table of texts with noisy labels in, the rows to trust out."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.cli import files, outputs, tables
from lops_adapters.cli import options as shared
from lops_adapters.cli.rows import Rows, Wanted, read_rows
from lops_adapters.cli.writers import writer_for
from lops_adapters.core import RULES, LopsError
from lops_adapters.texts.choices import NAMES_OF_CONFIDENCES, method_for
from lops_adapters.texts.result import COLUMNS, TextSelection
from lops_adapters.texts.select import select

EXAMPLES = """examples:
  lops select tickets.csv --text body --label category
  lops select 'parts/*.parquet' --text text --label label --tau 0.5 --output clean
  lops select tickets.csv --text body --label category --gold checked_category
  lops select tickets.jsonl --text body --label category --keep-out clean.jsonl"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops select``."""
    found = argparse.ArgumentParser(
        prog="lops select",
        description="Choose which labels of a table to trust. Writes the kept and the rejected rows with all their columns, and a report.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shared.add_table(found)
    found.add_argument(
        "--id", metavar="COLUMN", help="shown in the report instead of the row's number"
    )
    found.add_argument(
        "--gold",
        metavar="COLUMN",
        help="true labels; they only evaluate what was selected without them",
    )
    choice = found.add_argument_group("selection")
    shared.add_probe(choice)
    named = ", ".join(NAMES_OF_CONFIDENCES)
    choice.add_argument(
        "--confidence",
        choices=NAMES_OF_CONFIDENCES,
        metavar="NAME",
        help=f"what ranks the rows: {named} (default: by --tau)",
    )
    choice.add_argument(
        "--rule", choices=RULES, help="use a rule of the paper or its code; needs --tau"
    )
    choice.add_argument(
        "--tau",
        type=shared.fraction,
        default="auto",
        metavar="F|auto",
        help="share of each class to keep (default: auto)",
    )
    choice.add_argument(
        "--every",
        type=int,
        metavar="N",
        help="look at the probe after every N updates instead of every epoch; needs --tau",
    )
    choice.add_argument(
        "--stratified",
        action="store_true",
        help="with --tau auto: as many in all, but the same share of every class (default: its own)",
    )
    out = found.add_argument_group("output")
    out.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="folder to write (default: the first file's name with -lops, here)",
    )
    out.add_argument(
        "--keep-out",
        type=Path,
        metavar="FILE",
        help="write the kept rows into this file, and a folder only with --output",
    )
    out.add_argument(
        "--format",
        choices=files.FORMATS,
        help="of the files in the folder (default: that of the input)",
    )
    shared.add_run(out)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Select among the rows of a table and write what became of them."""
    options = parser().parse_args(arguments)
    shared.set_up()
    paths = files.find(options.files)
    method_for(
        options.confidence, options.rule, options.tau, options.every, stratified=options.stratified
    )
    table = tables.open_table(
        paths, delimiter=options.delimiter, encoding=options.encoding, quiet=options.quiet
    )
    wanted = Wanted(options.text, options.label, options.gold, options.id, options.drop_unlabelled)
    wanted.check(table)
    _check_columns(table)
    folder, keep_out = _targets(options, table)
    before = outputs.checksums(paths)
    rows = read_rows(table, wanted)
    names = ("probe", "confidence", "rule", "tau", "every", "stratified", "seed", "quiet")
    selection = select(rows.texts, rows.labels, **{name: getattr(options, name) for name in names})
    selection.why[-1:-1] = rows.notes
    source = ", ".join(map(str, paths[:3])) + (
        f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    )
    page = selection.page(
        rows.gold,
        title=f"{paths[0].name}: kept by {selection.settings['method']}",
        source=source,
        ids=rows.ids,
    )
    config = outputs.describe(
        "select",
        _settings(options, selection.settings),
        options.seed,
        outputs.dataset(rows, before),
        selection.settings["device"],
    )
    writing = _Output(
        table, options.label, rows, selection, lambda: outputs.checksums(paths) == before
    )
    with outputs.writing(keep_out or folder or Path()):
        writing.write(folder, keep_out, options.format, page, config)
    _print(selection, rows, page, folder, keep_out)
    return 0


def _targets(options: argparse.Namespace, table: tables.Table) -> tuple[Path | None, Path | None]:
    keep_out, folder, paths = options.keep_out, options.output, table.paths
    if keep_out is not None:
        if files.format_of(keep_out, "--keep-out") == "parquet":
            tables.import_pyarrow(keep_out)
        outputs.check_file(keep_out, "--keep-out", options.force, paths)
    elif folder is None:
        folder = Path(f"{paths[0].stem}-lops")
    if folder is None:
        if options.format is not None:
            raise LopsError(
                f"--format is {options.format}, and only {keep_out} is written, by its suffix; leave --format out, or give --output"
            )
        return None, keep_out
    if options.format == "parquet":
        tables.import_pyarrow(folder / "kept.parquet")
    return outputs.check_folder(folder, "select", options.force, paths), keep_out


def _check_columns(table: tables.Table) -> None:
    taken = [name for name in COLUMNS if name in table.columns]
    if taken:
        raise LopsError(
            f"{table.paths[0]} has a column {taken[0]!r} already, as what lops select writes has; give the file it was made from, or drop "
            f"the columns {', '.join(taken)}"
        )


def _settings(options: argparse.Namespace, chosen: dict[str, Any]) -> dict[str, Any]:
    columns = {
        name: getattr(options, name)
        for name in ("text", "label", "gold", "id", "drop_unlabelled", "delimiter", "encoding")
    }
    return {**columns, **chosen}


class _Output:
    """The second pass: every row goes to where it belongs."""

    def __init__(
        self,
        table: tables.Table,
        label: str,
        rows: Rows,
        selection: TextSelection,
        unchanged: Callable[[], bool],
    ) -> None:
        self._table, self._selection, self._unchanged = table, selection, unchanged
        self._position = np.where(
            rows.labelled, np.cumsum(rows.labelled) - 1, -1
        )  # of each row of the table among the labelled
        self._suggested = [rows.values[name] for name in selection.suggested]
        self._like = {"lops_suggested": label}

    def write(
        self,
        folder: Path | None,
        keep_out: Path | None,
        kind: str | None,
        page: Any,
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
                (
                    wanted,
                    stack.enter_context(writer_for(path, kind, self._table, COLUMNS, self._like)),
                )
                for wanted, files in ((True, kept), (False, rejected))
                for path, kind in files
            ]
            start = 0
            for block in self._table.blocks():
                positions = self._position[start : start + len(block)]
                if len(positions) < len(block):
                    self._changed()
                start += len(block)
                for wanted, writer in writers:
                    rows = np.flatnonzero(
                        (positions >= 0) & (self._selection.mask[positions] == wanted)
                    )
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
            f"the input changed while it was read ({named}); nothing was written. Run again when nothing else writes to it"
        )


def write_pages(folder: Path, page: Any, config: dict[str, Any]) -> None:
    """Write ``config.json``, ``summary.json`` and ``report.html`` into a folder."""
    from lops_adapters.report.selection_page import write_selection_page

    storage.write_json(folder / "config.json", config)
    storage.write_json(folder / "summary.json", page.to_json())
    write_selection_page(folder / "report.html", page)


def _print(
    selection: TextSelection, rows: Rows, page: Any, folder: Path | None, keep_out: Path | None
) -> None:
    print(selection.summary())
    print("\n".join(["", *selection.why]))
    if page.noise_before is not None:
        after = "-" if page.noise_after is None else f"{100 * page.noise_after:.1f} %"
        of = (
            "all labels"
            if page.n_judged == page.n_rows
            else f"the {page.n_judged:,} labels that have one"
        )
        print(
            f"Wrong by the gold labels: {100 * page.noise_before:.1f} % of {of}, {after} of those kept."
        )
    if keep_out is not None:
        print(f"Kept rows: {keep_out}")
    if folder is not None:
        print(f"Kept and rejected rows: {folder}")
        print(f"Report: {folder / 'report.html'}")
