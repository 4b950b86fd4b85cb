"""``lops select``: a table of texts with noisy labels in, the rows to trust out."""

import argparse
import shlex
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from lops_adapters import formats, storage
from lops_adapters.cli import options as shared
from lops_adapters.cli import outputs, printed, standard_input
from lops_adapters.cli.select_options import class_shares, parser
from lops_adapters.console import listed, set_up_logging
from lops_adapters.core import LopsError
from lops_adapters.formats import files, lines, readers
from lops_adapters.labels.checked_rows import read_checked
from lops_adapters.labels.columns import Columns, is_file
from lops_adapters.selection import Choice
from lops_adapters.selection.choice import AUTO
from lops_adapters.selection.method_table import check, offered
from lops_adapters.tables import engine
from lops_adapters.tables.annotations import joined
from lops_adapters.tables.parts import NEW
from lops_adapters.tables.survey import RELABEL, TableJob
from lops_adapters.texts.choices import check_names

# Options that say where to write and how to run; config.json holds all others.
UNRECORDED = (
    *("files", "output", "corrected", "format", "force", "engine"),
    *("address", "command"),
)
# Options that few methods take, and what these take.
NEEDS = {"checked": "checked", "checked-column": "checked"}
NEEDS |= {"labels": "votes", "source": "votes", "group": "groups"}
WORDS = '--words wants JSON such as {"sports": ["goal", "team"], "money": ["bank"]}'
RAY = "lops_adapters.scale.engine"  # imported when chosen; scale is a leaf, named by no module


def main(arguments: Sequence[str] | None = None, options: argparse.Namespace | None = None) -> int:
    """Select rows of a table, write them and print a summary.

    ``options``: in place of arguments; they are changed, and have the command's words as
    ``command``.
    """
    if options is None:
        options = parser().parse_args(arguments)
        options.command = ["lops", "select", *(arguments or ())]
    set_up_logging(quiet=True)
    with standard_input.given(options.files) as paths:
        choice, table, columns = _checked(options, paths)
        folder, inputs = _folder(options, paths), [*paths, *(options.checked or ())]
        if options.corrected is not None and columns.own_label is None:
            raise LopsError("--corrected needs one column of labels, --label; leave it out")
        with storage.claimed(folder, options.corrected), outputs.as_private_as(inputs):
            _check_outputs(options, paths, folder)
            output = engine.Output(folder, options.format or table.format.native, options.corrected)
            job = _job(options, table, columns, choice)
            ray = import_module(RAY) if options.engine == "ray" else None
            if ray is not None:
                _check_ray(options, job)
            with outputs.writing(folder):
                if ray is None:
                    done = engine.run(table, job, output)
                else:
                    done = ray.run(table, job, output, address=options.address, quiet=options.quiet)
            name = standard_input.named(options.files, table.paths)
            print("\n".join(printed.lines(name, done, output, parts=ray is not None)))
    return 0


def _checked(
    options: argparse.Namespace, paths: tuple[Path, ...]
) -> tuple[Choice, readers.Table, Columns]:
    words = options.words and storage.read_json(options.words, WORDS)
    shares = options.class_shares and class_shares(options.class_shares)
    choice = shared.of_options(Choice, options, words=words, class_shares=shares)
    method, row = choice.method, check(choice, among=offered())
    check_names(options.probe, options.encoder)
    if options.relabel is not None and not 0 < options.relabel <= 1:
        raise LopsError(
            f"--relabel is {options.relabel:g}; wanted a probability above 0 and at most 1"
        )
    if options.probe_rows < 1:
        raise LopsError(f"--probe-rows is {options.probe_rows}; wanted at least 1")
    if options.address is not None and options.engine != "ray":
        raise LopsError(f"--address is {options.address} without --engine ray; leave it out")
    for option, needed in NEEDS.items():
        if getattr(options, option.replace("-", "_")) and needed not in row.takes:
            raise LopsError(
                f"--{option} needs the committee, and the method is {method}; leave out --method, "
                f"or --{option}"
            )
    table = shared.opened(options, paths, raw=options.corrected is not None)
    table, columns = shared.with_columns(options, table, Columns)
    taken = [name for name in NEW if name in table.columns]
    if taken:
        raise LopsError(
            f"{paths[0]} already has a column {taken[0]!r}, as written by lops select; "
            f"give the original file, or drop the columns {', '.join(taken)}"
        )
    if columns.source is not None:
        table, columns = joined(table, columns)
    if options.engine == "ray" and table.held is not None:
        raise LopsError(
            "--engine ray reads one row per text, and --source names the sources of texts with "
            "several rows; give --engine process, or a table with a column of labels per source"
        )
    return choice, table, columns


def _job(
    options: argparse.Namespace, table: readers.Table, columns: Columns, choice: Choice
) -> TableJob:
    """Return what is asked for; checksums by which corrections find the table, except on Ray."""
    paths, sums = table.paths, cache(partial(files.checksums, table.paths))
    checked = read_checked(
        options.checked or (), table, columns, options.label, sums, options.encoding
    )
    labels = listed([columns.label] if columns.label else [*columns.soft_labels, *columns.votes])
    read = [f"texts: {columns.text}"] if columns.text else []
    read += [f"vectors: {columns.embeddings}"] if columns.embeddings else []
    named = standard_input.named(options.files, paths)
    page: dict[str, Any] = {
        "title": f"{paths[0].name}: kept by the {choice.method} method",
        "source": f"{named}; {', '.join([*read, f'labels: {labels}'])}",
    }
    data: dict[str, Any] = {}
    page["table"] = _table(options, paths, columns, sums if options.engine == "process" else dict)
    if options.engine == "process":
        vectors = [Path(options.embeddings)] if is_file(options.embeddings) else []
        known = sums()  # by the names that people know
        if files.STANDARD_INPUT in options.files:
            known = dict.fromkeys([standard_input.NAME], *known.values())
        data = {"sha256": known | files.checksums(vectors)}
    unrecorded = (*UNRECORDED, *(one.name for one in fields(Choice)))
    return TableJob(
        columns,
        choice,
        options.probe_rows,
        RELABEL if options.relabel is None else options.relabel,
        options.escape_formulas,
        page=page,
        checked=checked,
        data=data,
        settings={
            **{name: value for name, value in vars(options).items() if name not in unrecorded},
            "checked": files.checksums(options.checked or ()),
        },
        command=shlex.join(options.command),
    )


def _check_ray(options: argparse.Namespace, job: TableJob) -> None:
    conflict = ""
    if not job.choice.row.assesses:
        conflict = f"runs the committee, and the method is {job.choice.method}"
    elif options.probe not in (AUTO, "linear"):
        conflict = f"trains the linear probe, and --probe is {options.probe}"
    elif not job.columns.is_plain:
        conflict = "scores texts with labels, and --embeddings or --soft-labels are given"
    elif options.corrected is not None:
        conflict = f"writes folders of files, and --corrected is {options.corrected}"
    if conflict:
        raise LopsError(f"--engine ray {conflict}; leave that out, or leave out --engine ray")


def _table(
    options: argparse.Namespace,
    paths: Sequence[Path],
    columns: Columns,
    checksums: Callable[[], dict[str, str]],
) -> dict[str, str]:
    """Return what files that name rows say of the table, and the commands that read them."""
    reading = [] if options.delimiter is None else ["--delimiter", options.delimiter]
    reading += [] if options.encoding == "utf-8" else ["--encoding", options.encoding]
    reading += [word for name in options.sheet or () for word in ("--sheet", name)]
    reading += [] if options.header_row == 1 else ["--header-row", str(options.header_row)]
    reading += [] if options.quotes is None else ["--quotes" if options.quotes else "--no-quotes"]
    first = lines.unpacked_name(paths[0])
    format = formats.to_read(paths[0])
    keeps = format.copied or format.name == format.native
    suffix = first.suffix if keeps else f".{format.native}"
    output = f"{first.stem}-corrected{suffix}"
    names = ["TABLE"] if files.STANDARD_INPUT in options.files else map(str, paths)
    round_ = len(options.checked or ()) + 1
    download = "corrections.csv" if round_ == 1 else f"corrections-{round_}.csv"
    words = ["lops", "apply", download, *names, *reading, "--output", output]
    again = [word for word in options.command if word != "--force"]
    sums = checksums()
    table = {"counts": columns.counted.words, "download": download}
    table["check"] = shlex.join([*again, "--checked", download, "--force"])
    table |= {"sha256": files.fingerprint(sums)} if sums else {}
    return table | (
        {"column": options.label, "command": shlex.join(words)} if options.label else {}
    )


def _folder(options: argparse.Namespace, paths: Sequence[Path]) -> Path:
    folder: Path = options.output or Path(f"{lines.unpacked_name(paths[0]).stem}-lops")
    resolved = outputs.resolve(folder, "--output")
    if options.corrected is not None:
        alone = outputs.resolve(options.corrected, "--corrected")
        if resolved in (alone, *alone.parents):
            raise LopsError(
                f"--corrected is {options.corrected}, inside the folder of --output, which is "
                "replaced as a whole; give a file elsewhere"
            )
    return folder


def _check_outputs(options: argparse.Namespace, paths: Sequence[Path], folder: Path) -> None:
    path = options.corrected
    if path is not None:
        formats.FORMATS[formats.to_write(path, "corrected")].load(path)
        outputs.check_file(path, "--corrected", options.force, paths)
    if options.format is not None:
        formats.FORMATS[options.format].load(folder / f"kept.{options.format}")
    outputs.check_folder(folder, "select", options.force, [*paths, *(options.checked or ())])
