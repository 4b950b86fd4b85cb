"""Selection on Ray: the steps of :mod:`lops_adapters.tables.engine`, each over parts of a table.

No process holds all rows: counting and scoring see one part, the fit sees the sample.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from lops_adapters import extras, storage
from lops_adapters.core import LopsError
from lops_adapters.scale.cluster import connected, say, spread
from lops_adapters.selection.draw import Limits, expected
from lops_adapters.tables.classes import Classes, Labels
from lops_adapters.tables.columns import Wanted
from lops_adapters.tables.engine import Done, Output, write_about
from lops_adapters.tables.files import states
from lops_adapters.tables.fit import Fit, Job, check_sample, fit
from lops_adapters.tables.readers import Table
from lops_adapters.tables.results import changed
from lops_adapters.tables.scoring import Scoring, part_files, write_parts
from lops_adapters.tables.survey import Sample, Survey, survey_of
from lops_adapters.texts.choices import AUTO
from lops_adapters.texts.totals import Totals

PART_ROWS = 100_000  # of Parquet, about; other files are not cut

_held: dict[str, Scoring] = {}  # on a worker: the last one, with its encoder, by its reference


class Part(NamedTuple):
    """A part of a table: its rows, its number, and the row of the table that it begins at."""

    rows: Any
    number: int
    start: int


def check(options: argparse.Namespace, job: Job) -> None:
    """Raise a LopsError about options that need the other engine."""
    found = ""
    if job.method != "committee":
        found = f"runs the committee, and the method is {job.method}"
    elif options.probe not in (AUTO, "linear"):
        found = f"trains the linear probe, and --probe is {options.probe}"
    elif not job.wanted.is_plain:
        found = "scores texts with labels, and --embeddings or --soft-labels are given"
    elif options.keep_out is not None:
        found = f"writes folders of files, and --keep-out is {options.keep_out}"
    if found:
        raise LopsError(f"--engine ray {found}; leave that out, or leave out --engine ray")


def run(table: Table, job: Job, output: Output, *, address: str | None, quiet: bool) -> Done:
    """Select on Ray and write a folder, complete or not at all.

    Args:
        table: its files are read by all nodes, under the same paths.
        job: what is asked for.
        output: a folder, which all nodes see; each part of the rows becomes a folder in it.
        address: of a cluster; None: one is started on this machine.
        quiet: no line per step.

    Raises:
        LopsError: what cannot be read, scored or written, a table that changes meanwhile, and a
            cluster that is lost.

    """
    before = states(table.paths)
    job = replace(job, data={"bytes": {name: size for name, (size, _) in before.items()}})
    assert output.folder is not None
    with connected(address) as ray:
        steps = Steps(ray, job, quiet, len(table.paths) > 1)
        fitted, scoring, parts = steps.fitted(table.parts(PART_ROWS))
        with storage.replacing_folder(output.folder) as folder:
            for name, *_ in part_files(folder, output.kind, scoring.classes):
                (folder / name).mkdir()
            counted = [Totals.of(len(scoring.classes.names))]
            place = str(folder.absolute())
            steps.score(
                _write, parts, scoring, place, output.kind, done=lambda _, own: counted.append(own)
            )
            totals = reduce(Totals.__add__, counted)
            if states(table.paths) != before:
                raise changed(table.paths)
            done = Done(fitted, totals, fitted.page(totals))
            write_about(folder, done)
    return done


@dataclass
class Steps:
    """The steps of a selection on a cluster.

    Args:
        ray: connected.
        job: what is asked for.
        quiet: no line per step.
        several: the table has several files, which messages name.

    """

    ray: Any
    job: Job
    quiet: bool
    several: bool = False

    def fitted(self, rows: Sequence[Any]) -> tuple[Fit, Scoring, list[Part]]:
        """Survey the parts of a table, and fit to a sample; the parts come back with their starts.

        Args:
            rows: of each part, with the attributes of a :class:`~lops_adapters.tables.Table` that
                are read by :func:`~lops_adapters.tables.survey.survey_of`.

        Raises:
            LopsError: a row that cannot be scored, with its place, and what the fit raises.

        """
        counted: dict[int, Labels] = {}
        with self._step("count", len(rows)) as said:
            spread(self.ray, _count, rows, self.job.wanted, self.several, done=counted.__setitem__)
            labels, parts = Labels(counted[0].unit, self.several), []
            for number, own in enumerate(rows):
                parts.append(Part(own, number, labels.rows))
                labels.join(counted[number])
            classes = labels.numbered(self.job.wanted)
            check_sample(classes, self.job)
            said.append(f"{classes.counts.sum():,} rows of {len(classes.names)} classes")
        sample = self._sample(parts, classes)
        with self._step("fit", 1) as said:
            found, scoring = fit(sample, self._with_absolute_encoder())
            said.append(found.selection.stopped)
        return found, scoring, parts

    def _sample(self, parts: Sequence[Part], classes: Classes) -> Sample:
        """Draw the sample: every part sends the rows that may be in it."""
        job, slack = self.job, 1.0
        counts = dict(zip(classes.keys().tolist(), classes.counts.tolist(), strict=True))
        unit = parts[0].rows.unit
        with self._step("draw", len(parts)) as said:
            while True:
                limits = expected(counts, job.most, slack)
                found = Survey(
                    job.wanted, unit=unit, several=self.several, most=job.most, seed=job.seed
                )
                shared = (classes.settled(job.wanted), job.most, job.seed, limits, job.checked)
                spread(self.ray, _draw, parts, *shared, done=lambda _, own: found.join(own))  # noqa: B023 (waits)
                if found.is_enough(classes):
                    break
                slack *= 16  # many copies of few texts
            sample = found.sample(classes)
            said.append(f"a sample of {len(sample.texts):,} rows")
        return sample

    def _with_absolute_encoder(self) -> Job:
        """Return the job with the encoder's folder as workers find it, who have other folders."""
        encoder = self.job.chosen["encoder"]
        if not isinstance(encoder, str) or not Path(encoder).is_dir():
            return self.job
        return replace(
            self.job, chosen={**self.job.chosen, "encoder": str(Path(encoder).absolute())}
        )

    def score(
        self,
        work: Callable[..., Any],
        parts: Sequence[Part],
        scoring: Scoring,
        *shared: Any,
        done: Callable[[int, Any], None],
        kept: bool = False,
    ) -> None:
        """Score every part; arguments as for :func:`~lops_adapters.scale.cluster.spread`."""
        with self._step("score", len(parts)):
            boxed = [self.ray.put(scoring)]  # in a list, a reference stays one
            cards = scoring.has_transformer and self.ray.cluster_resources().get("GPU", 0) > 0
            spread(self.ray, work, parts, boxed, *shared, done=done, kept=kept, cards=int(cards))

    @contextmanager
    def _step(self, name: str, parts: int) -> Iterator[list[str]]:
        """Say how long a step took, and what it found."""
        start, said = time.perf_counter(), list[str]()
        yield said
        seconds = time.perf_counter() - start
        many = f"{parts:,} part{'' if parts == 1 else 's'}"
        say(": ".join([f"{name}, {many}, {seconds:.1f} s", *said]), self.quiet)


def held(boxed: Sequence[Any]) -> Scoring:
    """Return the scoring of a reference, on a worker, which keeps it for its next part."""
    key = boxed[0].hex()
    if key not in _held:
        _held.clear()
        _held[key] = extras.load("ray", "--engine ray").get(boxed[0])
    return _held[key]


def _count(rows: Any, wanted: Wanted, several: bool) -> Labels:
    return survey_of(rows, wanted, most=0, several=several).labels


def _draw(
    part: Part, wanted: Wanted, most: int, seed: int, limits: Limits, checked: Mapping[int, str]
) -> Survey:
    settings = {"most": most, "seed": seed, "limits": limits, "checked": checked}
    return survey_of(part.rows, wanted, start=part.start, **settings)


def _write(part: Part, boxed: Sequence[Any], folder: str, kind: str) -> Totals:
    """Score a part and write it into the folders of its kinds of rows."""
    scoring = held(boxed)
    files = [
        (name, Path(folder) / name / f"part-{part.number:05d}.{kind}", kind)
        for name, *_ in part_files(Path(folder), kind, scoring.classes)
    ]
    return write_parts(part.rows, scoring, files, part.start)
