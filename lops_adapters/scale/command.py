"""``lops select --engine ray``: files in, folders of files out."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lops_adapters import extras, storage
from lops_adapters.core import LopsError
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.scale import stages
from lops_adapters.scale.cluster import connected, say
from lops_adapters.scale.engine import Engine
from lops_adapters.scale.parts import ENCODED_ROWS, PART_ROWS, Placed, judge, split
from lops_adapters.tables.classes import Classes
from lops_adapters.tables.fit import Fit, Given
from lops_adapters.tables.readers import Table
from lops_adapters.tables.results import ABSTAINED, PARTS, changed, write_pages
from lops_adapters.tables.rows import Wanted
from lops_adapters.tables.survey import Sample
from lops_adapters.texts.choices import AUTO, NONE
from lops_adapters.texts.totals import Totals

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage


VECTORS = "lops-vectors"  # folder beside the output


def check(options: argparse.Namespace, wanted: Wanted, method: str) -> None:
    """Raise a LopsError about options that need the other engine."""
    found = ""
    if method != "committee":
        found = f"runs the committee, and the method is {method}"
    elif options.words is not None and not has_encoder(options):
        found = (
            f"runs without an encoder unless --encoder names one, and --words is {options.words}"
        )
    elif options.probe not in (AUTO, "linear"):
        found = f"trains the linear probe, and --probe is {options.probe}"
    elif not wanted.is_plain:
        found = "judges texts with one label each, and --embeddings or --soft-labels are given"
    elif options.by_suspicion:
        found = "writes rows in their order, and --by-suspicion is given"
    elif options.keep_out is not None:
        found = f"writes folders of files, and --keep-out is {options.keep_out}"
    if found:
        raise LopsError(f"--engine ray {found}; leave that out, or leave out --engine ray")


def has_encoder(options: argparse.Namespace) -> bool:
    """Return whether ``--encoder`` names an encoder; on Ray, ``auto`` does not."""
    return options.encoder not in (AUTO, *NONE)


def vectors_in(options: argparse.Namespace, folder: Path) -> Path | None:
    """Return the folder of vectors; None: no encoder.

    Raises:
        LopsError: it is not needed, or inside the output folder.

    """
    chosen: Path | None = options.vectors
    if not has_encoder(options):
        if chosen is not None:
            raise LopsError(
                f"--vectors is {chosen}, and there is no encoder; give --encoder, or leave it out"
            )
        return None
    chosen = folder.with_name(VECTORS) if chosen is None else chosen
    if folder.resolve() in (chosen.resolve(), *chosen.resolve().parents):
        raise LopsError(
            f"--vectors is {chosen}, inside the output folder, which is replaced as a whole; give "
            "a folder elsewhere"
        )
    return chosen


def run(
    table: Table,
    given: Given,
    folder: Path,
    kind: str,
    *,
    vectors: Path | None,
    address: str | None,
    quiet: bool,
) -> tuple[Fit, Totals, SelectionPage]:
    """Select on Ray and write a folder, complete or not at all.

    Results of finished stages lie beside it until then; a killed run goes on from these.

    Args:
        table: its files are read by all nodes, under the same paths.
        given: what is asked for.
        folder: written by all nodes.
        kind: format of the files.
        vectors: folder for the vectors of the encoder that is given; None: no encoder.
        address: of a cluster; None: one is started on this machine.
        quiet: no line per stage.

    Raises:
        LopsError: what cannot be read, judged or written, and a cluster that is lost.

    """
    before = _files(table)
    parts = split(table, PART_ROWS if vectors is None else ENCODED_ROWS)
    with connected(address) as ray:
        engine = Engine(ray, given, quiet)
        encoding = None
        if vectors is not None:
            encoding = engine.encoding(EmbeddingProbe(given.chosen["encoder"]), vectors)
        about = _about(table, given, kind, before)
        about["fingerprint"] = None if encoding is None else encoding.fingerprint
        kept = stages.Stages(folder, about)
        classes, starts = _counted(engine, parts, kept, quiet)
        placed = [Placed(*p) for p in zip(parts, range(len(parts)), starts, strict=True)]
        sample = _sampled(engine, placed, classes, kept, quiet)
        held = None
        if encoding is not None:
            placed, held = engine.encode(placed, classes, sample, encoding)
        fitted, ready = engine.fit(sample, classes, encoding, held)
        totals = [Totals.of(len(classes.names))]

        def add(_: int, stored: dict[str, Any]) -> None:
            totals[0] = totals[0] + Totals.from_json(stored)

        engine.judge(judge, placed, ready, str(kept.folder.absolute()), kind, done=add)
    if _files(table) != before:
        kept.remove()
        raise changed(table.paths)
    page = fitted.page(totals[0])
    config = fitted.config(totals[0], {})
    config["dataset"]["bytes"] = {name: size for name, size, _ in before}

    def fill(place: Path) -> None:
        _collect(kept.folder, place, len(parts), kind, classes)
        write_pages(place, page, config)

    storage.replace_folder(folder, fill)
    kept.remove()
    return fitted, totals[0], page


def _files(table: Table) -> list[tuple[str, int, int]]:
    """Return name, bytes and time of change of each file: checksums would read everything."""
    found = [(str(path), path.stat()) for path in table.paths]
    return [(name, about.st_size, about.st_mtime_ns) for name, about in found]


def _about(table: Table, given: Given, kind: str, before: Sequence[Any]) -> dict[str, Any]:
    """Return what the results of stages depend on."""
    chosen = {name: value for name, value in given.chosen.items() if name != "quiet"}
    return {
        "files": [list(one) for one in before],
        "columns": vars(given.wanted),
        "reading": [table.format, table.delimiter, table.encoding, kind],
        "chosen": storage.plain(chosen),
        "probe_rows": given.probe_rows,
        "relabel": given.relabel,
        "escape": given.escape,
        "weights": given.weights,
        "versions": extras.versions(),
    }


def _counted(
    engine: Engine, parts: Sequence[Table], kept: stages.Stages, quiet: bool
) -> tuple[Classes, list[int]]:
    stored = kept.load("count")
    if stored is not None:
        say("count: done before", quiet)
        return stages.classes_from_json(stored["classes"]), stored["starts"]
    classes, starts = engine.count(parts)
    packed = stages.classes_to_json(classes)
    if packed is not None:
        kept.save("count", {"classes": packed, "starts": starts})
    return classes, starts


def _sampled(
    engine: Engine, parts: Sequence[Placed], classes: Classes, kept: stages.Stages, quiet: bool
) -> Sample:
    stored = kept.load("draw")
    if stored is not None:
        say("draw: done before", quiet)
        return Sample(stages.drawn_from_json(stored), classes)
    sample = engine.draw(parts, classes)
    packed = stages.drawn_to_json(sample.drawn)
    if packed is not None:
        kept.save("draw", packed)
    return sample


def _collect(results: Path, place: Path, parts: int, kind: str, classes: Classes) -> None:
    """Put the files of all parts into one folder per kind of rows."""
    for name in (*PARTS, ABSTAINED) if classes.abstained else PARTS:
        (place / name).mkdir()
        for number in range(parts):
            source = results / f"part-{number:05d}" / f"{name}.{kind}"
            target = place / name / f"part-{number:05d}.{kind}"
            try:
                os.link(source, target)
            except OSError:  # no links on this file system
                shutil.copyfile(source, target)


def written(folder: Path, kind: str, totals: Totals, vectors: Path | None) -> list[str]:
    """Return lines with the paths of what was written."""
    names = (*PARTS, ABSTAINED) if totals.abstained else PARTS
    kept, rows = int(totals.kept.sum()), int(totals.rows.sum())
    numbers = (kept, rows - kept, totals.relabelled, totals.abstained)
    lines = [
        f"{name.capitalize()} rows: {folder / name}/part-*.{kind} ({number:,})"
        for name, number in zip(names, numbers, strict=False)
    ]
    if vectors is not None:
        lines.append(f"Vectors: {vectors} (kept for later runs)")
    return [*lines, f"Report: {folder / 'report.html'}"]
