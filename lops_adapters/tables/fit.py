"""A committee that is fitted to a sample of a table, and judges all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lops_adapters.core import LopsError
from lops_adapters.selection.judge import Judge, Verdict
from lops_adapters.selection.sampled import Sampled
from lops_adapters.selection.selectors import encode
from lops_adapters.tables import results
from lops_adapters.tables.blocks import Judging
from lops_adapters.tables.classes import Classes, Labels
from lops_adapters.tables.readers import Table
from lops_adapters.tables.rows import Wanted
from lops_adapters.tables.survey import Sample, Survey
from lops_adapters.texts.choices import AUTO, choose_encoder
from lops_adapters.texts.explain import pair_sentences
from lops_adapters.texts.result import TextSelection, class_table
from lops_adapters.texts.select import select
from lops_adapters.texts.totals import Totals

if TYPE_CHECKING:
    from lops_adapters.report.contents import SelectionPage

FEWEST_PER_CLASS = 10


@dataclass(frozen=True)
class Given:
    """What the command line asks for.

    Attributes:
        wanted: the columns.
        chosen: arguments of :func:`lops_adapters.select`, words among them.
        probe_rows: rows of the sample.
        relabel, escape, weights: see :class:`~lops_adapters.tables.blocks.Judging`.
        page: title, source and table of the page.
        settings: from the settings of a selection to those of ``config.json``.
        said: sentences about the run.

    """

    wanted: Wanted
    chosen: Mapping[str, Any]
    probe_rows: int
    relabel: float
    escape: bool
    weights: bool
    page: Mapping[str, Any]
    settings: Callable[[dict[str, Any]], dict[str, Any]]
    said: Sequence[str] = ()

    @property
    def seed(self) -> int:
        """The seed of draws, folds and trainings."""
        return int(self.chosen["seed"])


@dataclass(frozen=True)
class Fit:
    """A committee that was fitted to the sample of a table."""

    given: Given
    classes: Classes
    sample: Sample
    selection: TextSelection

    def summary(self, totals: Totals) -> str:
        """Return the table of classes."""
        return class_table(totals.reports(self.selection.per_class))

    def why(self, totals: Totals) -> list[str]:
        """Return the sentences about the selection of the whole table."""
        found, classes = self.selection, self.classes
        n, total = len(self.sample.texts), int(totals.rows.sum())
        return replace(
            found.said,
            first=[
                *found.said.first,
                f"Fitted to a sample of {n:,} of {total:,} rows, with every class; the other rows "
                "are judged by the mean of the folds' probes. Charts, copies and rows to look at "
                "are the sample's.",
                *self.given.said,
            ],
            pairs=pair_sentences(totals.suggestions(classes.names)),
        ).sentences

    def page(self, totals: Totals) -> SelectionPage:
        """Return the page: counts of the whole table, charts of the sample."""
        wanted, sample = self.given.wanted, self.sample
        page = self.selection.page(
            sample.gold(wanted, self.classes),
            ids=sample.ids(wanted),
            numbers=(sample.drawn.positions + 1).tolist(),
            **self.given.page,
        )
        return totals.page(replace(page, why=self.why(totals)))

    def config(self, totals: Totals, checksums: Mapping[str, str]) -> dict[str, Any]:
        """Return the contents of ``config.json``."""
        used = self.selection.settings
        data = {
            "documents": int(totals.rows.sum()),
            "rows": int(totals.rows.sum()) + totals.abstained,
            "classes": list(self.classes.names),
            "sha256": dict(checksums),
        }
        settings = {**self.given.settings(used), "probe_rows": self.given.probe_rows}
        return results.describe("select", settings, self.given.seed, data, used["device"])


def survey(table: Table, given: Given) -> Survey:
    """Read a table once; raise a LopsError if its rows cannot be judged."""
    found = Survey(given.probe_rows, given.seed)
    found.read(table, given.wanted)
    return found


def numbered(labels: Labels, given: Given) -> Classes:
    """Return the classes; LopsError if labels cannot be judged or the sample is too small."""
    classes = labels.numbered(given.wanted)
    least = FEWEST_PER_CLASS * len(classes.names)
    if classes.counts.sum() > given.probe_rows and least > given.probe_rows:
        raise LopsError(
            f"--probe-rows is {given.probe_rows} for {len(classes.names)} classes; wanted at least "
            f"{least}, {FEWEST_PER_CLASS} per class"
        )
    return classes


def fit(sample: Sample, classes: Classes, given: Given) -> tuple[Fit, Judging]:
    """Fit a committee to the sample.

    Raises:
        LopsError: what :func:`lops_adapters.select` raises.

    """
    from threadpoolctl import threadpool_limits

    chosen, rows = dict(given.chosen), int(classes.counts.sum())
    if chosen["encoder"] == AUTO and choose_encoder(AUTO, rows, "")[0] is None:
        chosen["encoder"] = None
    judges: list[Judge] = []

    def place(at: Sequence[int]) -> str:
        shown = ", ".join(str(sample.drawn.positions[i] + 1) for i in at[:5])
        return f"rows {shown}{' and others' if len(at) > 5 else ''} of the table"

    with threadpool_limits(1):  # the last bits depend on the number of threads
        selection = select(
            sample.texts, sample.labels, abstain=(), place=place, fitted=judges.append, **chosen
        )
    suggested = encode(selection.suggested, classes.names)
    verdict = Verdict(
        selection.mask, selection.confidence, suggested, selection.suggested_probability
    )
    sampled = Sampled(judges[0], sample.drawn, verdict, classes.keys())
    own = (given.seed, given.relabel, given.escape, given.weights)
    judging = Judging(given.wanted, classes, sampled, *own)
    return Fit(given, classes, sample, selection), judging
