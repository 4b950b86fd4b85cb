"""A selection among the sample of a table, and what it says of all of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.labels.classes import Classes
from lops_adapters.labels.labelled import codes_among
from lops_adapters.report.totals import Totals, suggestions
from lops_adapters.selection.canonical import content_keys
from lops_adapters.selection.committee.assessment import Assessment
from lops_adapters.surroundings import describe
from lops_adapters.tables.sample import Sample
from lops_adapters.tables.scoring import SampleCommittee, Scoring
from lops_adapters.tables.survey import LABEL, TableJob
from lops_adapters.texts import near_duplicates
from lops_adapters.texts.class_table import class_table
from lops_adapters.texts.explain import Why, class_problems, pair_sentences
from lops_adapters.texts.labelled import select_labelled
from lops_adapters.texts.result import TextSelection

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

FEWEST_PER_CLASS = 10


@dataclass(frozen=True)
class Fit:
    """A selection among the sample of a table, and what scoring all of it takes.

    Attributes:
        near: groups of near-duplicates, positions in the sample, if it is the table.
    """

    job: TableJob
    sample: Sample
    selection: TextSelection
    scoring: Scoring
    near: Sequence[np.ndarray] = ()


@dataclass(frozen=True)
class Done:
    """A table that is scored: what is known of all rows."""

    fit: Fit
    totals: Totals

    def summary(self, about: str = "") -> str:
        """Return the table of classes; ``about`` stands behind the estimate of all rows."""
        selection = self.fit.selection
        return class_table(self.totals.reports(selection.per_class), selection.wrong, about)

    @cached_property
    def said(self) -> Why:
        """The sentences about the selection of the whole table, in parts."""
        fit, totals = self.fit, self.totals
        sample, why, total = fit.sample, fit.selection.said, int(totals.rows.sum())
        first = list(why.first)
        if not sample.is_whole:
            first.append(
                f"Fitted to a sample of {len(sample.texts):,} of {total:,} rows, with every class; "
                "the other rows are scored by the mean of the folds' probes. Charts, copies and "
                "rows to look at are the sample's."
            )
        names = sample.classes.names
        assesses = fit.job.choice.row.assesses
        pairs = suggestions(totals.corrections, names) if assesses else []
        near = near_duplicates.sentences(fit.near, fit.selection.labels)
        conflicts = near_duplicates.conflicting(fit.near, fit.selection.labels) > 0
        return replace(
            why,
            first=first,
            classes=class_problems(dict(zip(names, totals.rows.tolist(), strict=True))),
            texts=[*sample.classes.problems, *why.texts, *(near if conflicts else [])],
            pairs=pair_sentences(pairs),
            notes=[*why.notes, *sample.classes.notes],
            rows=[*why.rows, *([] if conflicts else near)],
        )

    @cached_property
    def page(self) -> SelectionPage:
        """The page: counts of the whole table, charts of the sample."""
        fit = self.fit
        return fit.selection.page(
            fit.sample.gold,
            ids=fit.sample.ids,
            numbers=(fit.sample.drawn.positions + 1).tolist(),
            keys=fit.sample.keys(fit.job.page.get("table", {})),
            near=fit.near,
            totals=self.totals,
            why=self.said,
            **fit.job.page,
        )

    def config(self) -> dict[str, Any]:
        """Return the contents of ``config.json``."""
        job, used, rows = self.fit.job, self.fit.selection.settings, int(self.totals.rows.sum())
        data = {
            "documents": rows,
            "rows": rows + self.totals.abstained,
            "classes": list(self.fit.sample.classes.names),
            **job.data,
        }
        settings = {**job.settings, **used, "probe_rows": job.probe_rows}
        return describe(job.command, "select", settings, job.choice.seed, data, used["device"])


def check_sample(classes: Classes, job: TableJob) -> None:
    """Raise a LopsError if the sample is too small for the classes."""
    least = FEWEST_PER_CLASS * len(classes.names)
    if classes.counts.sum() > job.most and least > job.most:
        raise LopsError(
            f"{typed('probe_rows')} is {job.most} for {len(classes.names)} classes; wanted at "
            f"least {least}, {FEWEST_PER_CLASS} per class"
        )


def fit(sample: Sample, job: TableJob) -> Fit:
    """Select among the sample of a table; raises what :func:`lops_adapters.select` raises."""
    from threadpoolctl import threadpool_limits

    choice = replace(job.choice, score_unseen=not sample.is_whole)
    # The last bits of an encoder depend on its threads, and Ray scores blocks with one.
    with nullcontext() if sample.is_whole else threadpool_limits(1):
        selection = select_labelled(
            sample.labelled,
            choice,
            sample.labelled.labels,
            embeddings=sample.vectors,
            checked=sample.checked(),
            where=sample.place,
            rest=sample.rest,
        )
    look = sample.is_whole and job.columns.text is not None
    duplicates = selection.near_duplicates() if look else ()
    return Fit(job, sample, selection, _scoring(sample, job, selection), duplicates)


def _scoring(sample: Sample, job: TableJob, selection: TextSelection) -> Scoring:
    """Return what scoring all rows takes; the committee is fitted if it scores unseen rows."""
    names, outcome, sampled = sample.classes.names, selection.outcome, None
    places = codes_among(selection.classes, names)
    others = codes_among([*reversed(selection.others)], names)
    in_table = np.concatenate([places, others, [-1]])
    assessment = Assessment(
        outcome.mask,
        outcome.confidence,
        in_table[outcome.suggested],
        outcome.probability,
        in_table[outcome.labels],
    )
    if not sample.is_whole:
        assert outcome.fitted is not None
        codes, votes = sample.labelled.codes, sample.labelled.votes
        codes = codes if votes is None else votes.among(outcome.fitted.classes)
        keys, at = content_keys(sample.texts, job.choice.seed), sample.drawn.positions
        sampled = SampleCommittee(
            outcome.fitted, at, assessment, keys, codes, places, sample.shared_groups
        )
    columns = (*(() if job.columns.own_label else (LABEL,)), *selection.columns)
    return Scoring(
        job=job,
        classes=sample.classes,
        columns=columns,
        positions=sample.drawn.positions,
        assessment=assessment,
        learnt_at=outcome.learnt_at if "lops_learnt_at" in selection.columns else None,
        has_checks=bool(selection.checked),
        sampled=sampled,
        rest=selection.rest,
        reader=sample.reader,
        groups=sample.groups,
    )
