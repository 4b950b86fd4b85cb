"""A selection among the sample of a table, and what it says of all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.runs.surroundings import describe
from lops_adapters.selection.assessment import Assessment, FittedCommittee, SampleCommittee
from lops_adapters.selection.member_table import is_transformer
from lops_adapters.selection.selectors import encode
from lops_adapters.tables.classes import Classes
from lops_adapters.tables.columns import Wanted
from lops_adapters.tables.results import LABEL, RELABEL, WEIGHT
from lops_adapters.tables.scoring import Scoring
from lops_adapters.tables.survey import EVERYTHING, Sample
from lops_adapters.texts import near_duplicates
from lops_adapters.texts.class_table import class_table, wrong_column
from lops_adapters.texts.explain import Why, class_problems, pair_sentences
from lops_adapters.texts.result import TextSelection
from lops_adapters.texts.select import select
from lops_adapters.texts.totals import Totals

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

FEWEST_PER_CLASS = 10


@dataclass(frozen=True)
class Job:
    """What is asked for.

    Attributes:
        wanted: the columns.
        chosen: arguments of :func:`lops_adapters.select`, words among them.
        method: that these arguments name; only a committee scores rows outside its sample.
        probe_rows: rows of the sample.
        relabel, escape: see :class:`~lops_adapters.tables.scoring.Scoring`.
        weights: add a column of sample weights.
        page: title, source and table of the page.
        checked: row of the table, from 0 -> label by a person, as text.
        data: about the files, for ``config.json``.
        settings: of the command, for ``config.json``.
        said: sentences about the run.
        command: for ``config.json``.

    """

    wanted: Wanted
    chosen: Mapping[str, Any]
    method: str
    probe_rows: int
    relabel: float = RELABEL
    escape: bool = False
    weights: bool = False
    page: Mapping[str, Any] = field(default_factory=dict)
    checked: Mapping[int, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    said: Sequence[str] = ()
    command: str = ""

    @property
    def seed(self) -> int:
        """The seed of draws, folds and trainings."""
        return int(self.chosen["seed"])

    @property
    def most(self) -> int:
        """The rows of the sample; everything, if the method cannot score other rows."""
        plain = self.method == "committee" and self.wanted.is_plain
        return self.probe_rows if plain else EVERYTHING


@dataclass(frozen=True)
class Fit:
    """A selection among the sample of a table.

    Attributes:
        near: groups of near-duplicates, positions in the sample, if it is the table.

    """

    job: Job
    sample: Sample
    selection: TextSelection
    near: Sequence[np.ndarray] = ()

    def summary(self, totals: Totals, about: str = "") -> str:
        """Return the table of classes; ``about`` stands behind the estimate of all rows."""
        reports = totals.reports(self.selection.per_class)
        return class_table(reports, totals.estimate(self.selection.wrong, reports), about)

    def said(self, totals: Totals) -> Why:
        """Return the sentences about the selection of the whole table, in parts."""
        said, n, total = self.selection.said, len(self.sample.texts), int(totals.rows.sum())
        first = list(said.first)
        if not self.sample.is_whole:
            first.append(
                f"Fitted to a sample of {n:,} of {total:,} rows, with every class; the other rows "
                "are scored by the mean of the folds' probes. Charts, copies and rows to look at "
                "are the sample's."
            )
        names = self.sample.classes.names
        pairs = totals.suggestions(names) if self.job.method == "committee" else []
        near = near_duplicates.sentences(self.near, self.selection.labels)
        conflicts = near_duplicates.conflicting(self.near, self.selection.labels) > 0
        return replace(
            said,
            first=first,
            classes=class_problems(dict(zip(names, totals.rows.tolist(), strict=True))),
            texts=[*said.texts, *(near if conflicts else [])],
            pairs=pair_sentences(pairs),
            notes=[*said.notes, *self.sample.classes.notes],
            rows=[*said.rows, *([] if conflicts else near), *self.job.said],
        )

    def why(self, totals: Totals) -> list[str]:
        """Return the sentences about the selection of the whole table."""
        return self.said(totals).sentences

    def page(self, totals: Totals) -> SelectionPage:
        """Return the page: counts of the whole table, charts of the sample."""
        page = self.selection.page(
            self.sample.gold,
            ids=self.sample.ids,
            numbers=(self.sample.drawn.positions + 1).tolist(),
            near=self.near,
            **self.job.page,
        )
        reports = totals.reports(self.selection.per_class)
        wrong = totals.estimate(self.selection.wrong, reports)
        page = replace(page, estimate=wrong.share(reports), wrong=wrong_column(reports, wrong))
        return totals.page(replace(page, why=self.why(totals)))

    def config(self, totals: Totals) -> dict[str, Any]:
        """Return the contents of ``config.json``."""
        used, rows = self.selection.settings, int(totals.rows.sum())
        data = {
            "documents": rows,
            "rows": rows + totals.abstained,
            "classes": list(self.sample.classes.names),
            **self.job.data,
        }
        settings = {**self.job.settings, **used, "probe_rows": self.job.probe_rows}
        return describe(self.job.command, "select", settings, self.job.seed, data, used["device"])


def check_sample(classes: Classes, job: Job) -> None:
    """Raise a LopsError if the sample is too small for the classes."""
    least = FEWEST_PER_CLASS * len(classes.names)
    if classes.counts.sum() > job.most and least > job.most:
        raise LopsError(
            f"--probe-rows is {job.most} for {len(classes.names)} classes; wanted at least "
            f"{least}, {FEWEST_PER_CLASS} per class"
        )


def fit(sample: Sample, job: Job, near: bool = True) -> tuple[Fit, Scoring]:
    """Select among the sample, and return what scoring the table takes.

    Args:
        sample: of the table.
        job: what is asked for.
        near: look for near-duplicates, if the sample is the table.

    Raises:
        LopsError: what :func:`lops_adapters.select` raises.

    """
    from threadpoolctl import threadpool_limits

    chosen, checks = dict(job.chosen), sample.checked()
    committees: list[FittedCommittee] = []
    unvoted = job.wanted.has_votes and sample.classes.abstained > 0
    if not sample.is_whole or (unvoted and job.wanted.is_plain):
        chosen["fitted"] = committees.append
    # The last bits depend on the number of threads, and blocks are scored with one.
    with nullcontext() if sample.is_whole else threadpool_limits(1):
        selection = select(
            sample.texts,
            sample.labels if sample.votes is None else sample.votes,
            abstain=(),
            place=sample.place,
            embeddings=sample.vectors,
            checked=checks,
            groups=sample.groups,
            **chosen,
        )
    names, drawn = sample.classes.names, sample.drawn
    suggested = encode(selection.suggested, [None, *names]) - 1
    assessment = Assessment(
        selection.mask,
        selection.confidence,
        suggested,
        selection.suggested_probability,
        encode(selection.labels, names),
    )
    sampled = None
    if not sample.is_whole:
        places = encode(committees[0].classes, names)
        keys = sample.classes.keys()
        sampled = SampleCommittee(committees[0], drawn, assessment, keys, places)
    has_times = "lops_learnt_at" in selection.columns
    columns = (*(() if job.wanted.own_label else (LABEL,)), *selection.columns)
    scoring = Scoring(
        job.wanted,
        sample.classes,
        (*columns, WEIGHT) if job.weights else columns,
        drawn.positions,
        assessment,
        selection.learnt_at if has_times else None,
        sampled,
        job.seed,
        job.relabel,
        job.escape,
        bool(checks),
        is_transformer(selection.settings["encoder"]),
        sample.reader,
        committees[0] if unvoted and committees else None,
    )
    look = near and sample.is_whole and job.wanted.text is not None
    groups = near_duplicates.near_duplicates(sample.texts) if look else ()
    return Fit(job, sample, selection, groups), scoring
