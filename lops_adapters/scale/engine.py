"""Selection on Ray: the steps of :mod:`lops_adapters.tables.engine`, each over parts of a table.

No process holds all rows: counting and scoring see one part, the fit sees the sample.
"""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lops_adapters import extras, storage
from lops_adapters.encoders.static import STATIC
from lops_adapters.formats.files import states
from lops_adapters.formats.readers import Table
from lops_adapters.labels.classes import Classes, read_classes
from lops_adapters.labels.columns import Columns
from lops_adapters.labels.missing import minus_one
from lops_adapters.labels.tally import Tally
from lops_adapters.report.totals import Totals
from lops_adapters.scale.cluster import connected, spread
from lops_adapters.tables.draw import expected
from lops_adapters.tables.engine import Output, finish
from lops_adapters.tables.fit import Done, Fit, check_sample, fit
from lops_adapters.tables.parts import part_files, rehearse_labels, write_parts
from lops_adapters.tables.sample import Sample
from lops_adapters.tables.scoring import Scoring
from lops_adapters.tables.survey import Survey, TableJob, rows_by_key, survey_of

PART_ROWS = 100_000  # of Parquet, about; other files are not cut

_held: dict[str, Scoring] = {}  # on a worker: the last one, with its encoder, by its reference


class Part(NamedTuple):
    """A part of a table, its number, and the row of the whole table that it begins at."""

    table: Table
    number: int
    start: int


def run(table: Table, job: TableJob, output: Output, *, address: str | None, quiet: bool) -> Done:
    """Select on Ray and write a folder, complete or not at all.

    All nodes see the table's files and the output under the same paths; each kind of rows becomes a
    folder in the output. Without the address of a cluster, one is started on this machine.

    LopsError: what cannot be read, scored or written, a table that changes meanwhile, and a cluster
    that is lost.
    """
    state = states(table.paths)
    job = replace(job, data={"bytes": {name: size for name, (size, _) in state.items()}})
    with connected(address) as ray:
        steps = Steps(ray, job, quiet)
        parts, classes = steps.count(table.parts(PART_ROWS))
        rehearse_labels(table, output.kind, job, classes)
        fitted = steps.fit(steps.draw(parts, classes))
        with storage.replacing_folder(output.folder) as folder:
            done = Done(fitted, steps.score(parts, fitted, folder.absolute(), output.kind))
            finish(table, state, done, folder)
    return done


@dataclass
class Steps:
    """The steps of a selection on a cluster."""

    ray: Any
    job: TableJob
    quiet: bool

    def count(self, tables: Sequence[Table]) -> tuple[list[Part], Classes]:
        """Return the parts of a table with their beginnings, and the classes of all rows."""
        with self._step("count", len(tables)) as notes:
            counted = dict(spread(self.ray, _count, tables, self.job.columns))
            tally, parts = Tally(), []
            for number, table in enumerate(tables):
                parts.append(Part(table, number, tally.rows))
                tally.join(counted[number])
            classes = read_classes(tally, self.job.columns)
            check_sample(classes, self.job)
            notes.append(f"{classes.counts.sum():,} rows of {len(classes.names)} classes")
        return parts, classes

    def draw(self, parts: Sequence[Part], classes: Classes) -> Sample:
        """Draw the sample: every part sends the rows that may be in it."""
        job, slack = self.job, 1.0
        columns = settled(job.columns, classes)
        with self._step("draw", len(parts)) as notes:
            while True:
                limits = expected(rows_by_key(classes), job.most, slack)
                survey = Survey(job.columns, **job.drawn)
                settings = {**job.drawn, "limits": limits, "checked": job.checked}
                for _, part_survey in spread(self.ray, _draw, parts, columns, settings):
                    survey.join(part_survey)
                if survey.is_enough(classes):
                    break
                slack *= 16  # many copies of few texts
            sample = survey.sample(classes)
            notes.append(f"a sample of {len(sample.texts):,} rows")
        return sample

    def fit(self, sample: Sample) -> Fit:
        """Fit; workers, who have other working folders, get the encoder's folder as a full path."""
        encoder, job = self.job.choice.encoder, self.job
        if isinstance(encoder, str) and Path(encoder).is_dir():
            choice = replace(job.choice, encoder=str(Path(encoder).absolute()))
            job = replace(job, choice=choice)
        with self._step("fit", 1) as notes:
            fitted = fit(sample, job)
            notes.append(fitted.selection.stopped)
        return fitted

    def score(self, parts: Sequence[Part], fitted: Fit, folder: Path, kind: str) -> Totals:
        """Score and write every part, and return the counts of all."""
        classes, encoder = fitted.sample.classes, fitted.selection.settings["encoder"]
        for name, *_ in part_files(folder, kind, classes, self.job.choice.row):
            (folder / name).mkdir()
        totals = Totals.of(len(classes.names))
        with self._step("score", len(parts)):
            boxed = [self.ray.put(fitted.scoring)]  # in a list, a reference stays one
            cards = encoder not in (None, STATIC) and self.ray.cluster_resources().get("GPU", 0) > 0
            for _, counts in spread(self.ray, _write, parts, boxed, folder, kind, cards=int(cards)):
                totals += counts
        return totals

    @contextmanager
    def _step(self, name: str, parts: int) -> Iterator[list[str]]:
        start, notes = time.perf_counter(), list[str]()
        yield notes
        if not self.quiet:
            seconds = time.perf_counter() - start
            many = f"{parts:,} part{'' if parts == 1 else 's'}"
            line = ": ".join([f"{name}, {many}, {seconds:.1f} s", *notes])
            sys.stderr.write(f"{line}\n")


def settled(columns: Columns, classes: Classes) -> Columns:
    """Return the columns with the rule about -1 decided, so that no part has to.

    It is a class of the table, or named as none.
    """
    if columns.abstain is not None:
        return columns
    is_class = any(minus_one({label, 0, 1}) for label in classes.code_of)
    return replace(columns, abstain=() if is_class else ("-1",))


def _count(table: Table, columns: Columns) -> Tally:
    return survey_of(table, columns, most=0).tally


def _draw(part: Part, columns: Columns, settings: Mapping[str, Any]) -> Survey:
    return survey_of(part.table, columns, start=part.start, **settings)


def _write(part: Part, boxed: Sequence[Any], folder: Path, kind: str) -> Totals:
    key = boxed[0].hex()
    if key not in _held:
        _held.clear()
        _held[key] = extras.load("ray", "--engine ray").get(boxed[0])
    scoring = _held[key]
    files = [
        (name, folder / name / f"part-{part.number:05d}{path.suffix}", of_part)
        for name, path, of_part in part_files(folder, kind, scoring.classes, scoring.job.choice.row)
    ]
    return write_parts(part.table, scoring, files, part.start)
