"""What ``lops_adapters.select`` returns: a selection with its texts, and ways to show it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import extras
from lops_adapters.console import unsure
from lops_adapters.core import ClassReport, LopsError, Selection
from lops_adapters.formats.cells import valid
from lops_adapters.labels.labelled import Labelled
from lops_adapters.report.totals import Totals, confusion, suggestions
from lops_adapters.selection import METHODS, Outcome
from lops_adapters.selection.committee.checking import next_rows
from lops_adapters.selection.committee.committee import TOO_FEW
from lops_adapters.selection.selectors import objects
from lops_adapters.texts import notebook
from lops_adapters.texts.class_table import Wrong, class_table, wrong_column
from lops_adapters.texts.explain import Why
from lops_adapters.texts.near_duplicates import near_duplicates
from lops_adapters.texts.rest import Rest
from lops_adapters.texts.sources import source_reports

if TYPE_CHECKING:
    from lops_adapters.labels.votes import Votes
    from lops_adapters.report.contents import SelectionPage

COLUMNS = ("lops_learnt_at", "lops_confidence", "lops_selected", "lops_suggested")


class TextSelection(Selection):
    """A selection among texts, with the label that the probe suggests for each.

    Besides the attributes of :class:`lops_adapters.core.Selection`, where a text without a label is
    neither kept nor rejected, has the learning time inf and the confidence NaN:

    Attributes:
        texts, labels: lists of length n, as given; of votes, labels are the most probable ones.
        classes, others: labels that a text has, in the order of the outcome's codes; and classes
            that only a checked row has.
        abstained: sorted positions of the texts without a label, int64.
        sources: of votes, what is estimated of each label source, a
            :class:`lops_adapters.report.contents.SourceReport`; empty without votes.
        votes: as read, a :class:`lops_adapters.labels.votes.Votes`; None without votes.
        suggested: (n,) object array, the most probable label; None for a row that is checked as of
            no class. A committee weighs its members against the label; a rejected text keeps its
            own label unless another one is clearly more probable. A text without a label gets one
            by :mod:`lops_adapters.texts.rest`. With ``automatic`` it is the held-out probe's, class
            sizes aside; with other methods the probe's last prediction; None without a label.
        suggested_probability: (n,) float64 in [0, 1], of the suggested label; NaN without one.
        sample_weight: (n,) float64 in [0, 1], the probability that the label is right, to train
            with; 0 without a label; None if the method gives none (only the committee does).
        outcome: of the texts with a label, in codes, an :class:`~lops_adapters.selection.Outcome`.
        rest: labels texts without a label, a :class:`lops_adapters.texts.rest.Rest`; None: nothing
            is suggested for them.
        noise: the share of wrong labels, by members and checked rows, see
            :class:`.noise.Noise`; None if the members cannot tell, and with other methods than the
            committee.
        checked: position -> label, of the rows that a person has checked; None: no class.
        checked_rate: share of wrong labels with checked rows, and its range, a
            :class:`lops_adapters.selection.committee.noise.Rate`; None without checked rows.
        checked_rates: the same per class, of classes with checked rows.
        said: the sentences about the selection, in parts.
        settings: the arguments used.
        index: the texts' index if they are a pandas column; the frame also has it.
        in_polars: whether the texts are a polars column; the frame is also one of polars.
    """

    def __init__(
        self,
        outcome: Outcome,
        known: Labelled,
        per_class: dict[Hashable, ClassReport],
        texts: list[str],
        labels: list[Hashable],
        why: Why,
        settings: dict[str, Any],
        *,
        to_check: np.ndarray | None = None,
        votes: Votes | None = None,
        rest: Rest | None = None,
        column: Any = None,
    ) -> None:
        n, classes, scored = len(texts), known.classes, known.places
        super().__init__(
            _spread(outcome.mask, scored, n, False),
            _spread(outcome.learnt_at, scored, n, np.inf),
            _spread(outcome.confidence, scored, n, np.nan),
            per_class,
            outcome.rule,
            outcome.stopped,
        )
        self._scored = scored
        labelled = _spread(np.ones(len(scored), dtype=bool), scored, n, False)
        self.rejected = np.flatnonzero(labelled & ~self.mask).astype(np.int64)
        self.abstained = np.flatnonzero(~labelled).astype(np.int64)
        self._values = values = objects([*classes, *reversed(known.others), None])
        self.outcome, self.rest = outcome, rest
        self.texts, self.labels, self.classes = texts, labels, classes
        self.others = known.others
        self.said, self.settings = why, settings
        self.votes = votes
        self.sources = [] if votes is None else source_reports(votes, outcome.sources, classes)
        self.index = column.index if hasattr(column, "iloc") else None
        self.in_polars = type(column).__module__.partition(".")[0] == "polars"
        self.suggested = _spread(values[outcome.suggested], scored, n, None)
        self.suggested_probability = _spread(outcome.probability, scored, n, np.nan)
        if rest is not None:
            codes, probability = rest([self.texts[i] for i in self.abstained.tolist()])
            self.suggested[self.abstained] = values[codes]
            self.suggested_probability[self.abstained] = probability
        self.checked = {int(scored[row]): label for row, label in known.checked_labels.items()}
        assessed, self.noise = to_check is not None, outcome.noise
        self.sample_weight = _spread(outcome.confidence, scored, n, 0.0) if assessed else None
        noise = outcome.noise if assessed and known.checked else None
        self.checked_rate = None if noise is None else noise.total
        rates = () if noise is None else zip(classes, noise.of_classes, strict=True)
        self.checked_rates = {label: rate for label, rate in rates if rate.checked}
        self._check_order = None if to_check is None else scored[to_check]

    @property
    def why(self) -> list[str]:
        """Sentences: the probe or the members, what is kept, the training, what to do next."""
        return self.said.sentences

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a table gets; learning times only if the method has some."""
        timed = bool(np.isfinite(self.learnt_at).any())
        return COLUMNS if timed else COLUMNS[1:]

    @property
    def corrected(self) -> np.ndarray:
        """A label for every text, (n,) object: checked, else kept, else suggested.

        None of no class, and without a suggestion. A checked row, and its copies, are kept with the
        label that the person gave.
        """
        labels = self.suggested.copy()
        labels[self._scored] = self._values[self.outcome.corrected(bool(self.checked))]
        return labels

    @property
    def weights(self) -> np.ndarray:
        """The probability that the label of :attr:`corrected` is right, (n,) float64.

        Train with it: ``model.fit(texts, selection.corrected, sample_weight=selection.weights)``.
        0 of no class, and without a suggestion. The confidence of the method, where it is no
        committee.
        """
        replaced = self.suggested_probability
        weights = np.where(self.mask | (self.suggested == self.labels), self.confidence, replaced)
        return np.nan_to_num(weights)

    def to_check(self, count: int = 50) -> np.ndarray:
        """Return the positions of rows to check by hand, at most ``count``, int64.

        They are drawn at random, more often where it is uncertain whether the label is right, and
        spread over the classes; see :func:`.checking.check_order`. Rows of ``checked`` are left
        out, so that a selection with the first ten gives the next ones.

        Raises:
            LopsError: another method than the committee.
        """
        if self._check_order is None:
            raise LopsError(
                f"rows to check need the committee, and the method is {self.settings['method']}"
            )
        return next_rows(self._check_order, count, list(self.checked))

    def check_box(self, count: int = 10) -> Any:
        """Return the next rows to check as widgets of a notebook; ``checked`` has the answers.

        Pass these on: ``select(texts, labels, checked=box.checked)``. See :meth:`to_check`.

        Raises:
            LopsError: another method than the committee, or ipywidgets is not installed.
        """
        return notebook.box(self, count)

    def source_errors(self, name: str) -> np.ndarray:
        """Return positions where a source's vote is not the label, the surest errors first.

        Raises:
            LopsError: no source has this name.
        """
        names = [] if self.votes is None else list(self.votes.sources)
        if self.votes is None or name not in names:
            raise LopsError(f"source is {name!r:.80}; the sources are {', '.join(names) or 'none'}")
        votes = self.votes.codes[:, names.index(name)]
        voted = np.flatnonzero(votes >= 0)
        classes = self.votes.classes
        wrong = [i for i in voted.tolist() if classes[votes[i]] != self.labels[i]]
        order = np.argsort(-self.confidence[wrong], kind="stable")
        return np.asarray(wrong, dtype=np.int64)[order]

    def shown_suggestion(self, row: int) -> Any:
        """Return what people see as the suggestion for a text: "unsure", not a rejected label."""
        suggested = self.suggested[row]
        if self.mask[row] or suggested != self.labels[row]:
            return suggested
        return unsure(map(str, self.per_class)) or "-"

    def corrections(self) -> list[tuple[Hashable, Hashable, int]]:
        """Return (label, suggested label, texts) among rejected texts, most frequent first.

        Ties go by the names of the labels.
        """
        return suggested_pairs(self.outcome, self.classes)

    def near_duplicates(self) -> list[np.ndarray]:
        """Return groups of nearly equal texts that have a label, sorted positions, int64.

        See :func:`lops_adapters.texts.near_duplicates.near_duplicates`.
        """
        groups = near_duplicates([self.texts[i] for i in self._scored.tolist()])
        return [self._scored[group] for group in groups]

    def added(self) -> dict[str, Any]:
        """Return the values of :attr:`columns`, n each; a learning time of inf becomes NaN."""
        learnt_at = np.where(np.isfinite(self.learnt_at), self.learnt_at, np.nan)
        values = (learnt_at, self.confidence, self.mask, self.suggested.tolist())
        added = dict(zip(COLUMNS, values, strict=True))
        return {name: added[name] for name in self.columns}

    def to_frame(self) -> Any:
        """Return a DataFrame with one row per text.

        Of pandas, under the index of the texts; of polars, if the texts are a polars column. Its
        columns are text, label, lops_learnt_at (missing: never; only of methods with learning
        times), lops_confidence (of the committee, the probability that the label is right),
        lops_selected and lops_suggested.

        Raises:
            LopsError: pandas is not installed.
        """
        data = {"text": self.texts, "label": self.labels, **self.added()}
        data = {name: valid(values) for name, values in data.items()}  # frames are UTF-8
        if self.in_polars:
            return extras.load("polars", "A frame").DataFrame(data, nan_to_null=True, strict=False)
        return extras.load("pandas", "A frame").DataFrame(data, index=self.index)

    @property
    def checks_rows(self) -> bool:
        """Whether :meth:`to_check` names rows: only of the committee."""
        return self._check_order is not None

    def _repr_html_(self) -> str:
        return notebook.html(self)

    def __repr__(self) -> str:
        return notebook.line(self)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]

    def plot(self) -> np.ndarray:
        """Draw kept rows, confidence and suggestions; return the three axes. Needs matplotlib."""
        return notebook.charts(self)

    def summary(self) -> str:
        """Return a table of rows, kept rows, their share and wrong labels per class."""
        return class_table(self.per_class, self.wrong)

    @property
    def wrong(self) -> Wrong:
        """How many labels are wrong per class: by checked rows, or else an estimate.

        The estimate is of the committee only, see :class:`.noise.Noise`; classes that are too small
        to be checked have none.
        """
        if self.sample_weight is None or self.noise is None:
            return Wrong(None, self.checked_rate, self.checked_rates)
        rates = zip(self.classes, self.noise.of_classes, strict=True)
        shares = {c: rate.value for c, rate in rates if self.per_class[c].why != TOO_FEW}
        limits, calibrated = (self.noise.low, self.noise.high), self.noise.holds
        return Wrong(shares, self.checked_rate, self.checked_rates, limits, calibrated)

    def page(
        self,
        gold: Sequence[Hashable] | None = None,
        *,
        title: str | None = None,
        source: str = "texts given to lops_adapters.select",
        ids: Sequence[str] | None = None,
        numbers: Sequence[int] | None = None,
        keys: Sequence[str] | None = None,
        table: Mapping[str, str] | None = None,
        near: Sequence[np.ndarray] = (),
        totals: Totals | None = None,
        why: Why | None = None,
    ) -> SelectionPage:
        """Return everything a report shows.

        Args:
            gold: one gold label per text, None if unknown; used only to evaluate the selection.
            title: shown at the top. Default: names the method.
            source: shown below the title.
            ids: one id per text.
            numbers: the row of each text in its table, from 1; default: 1 to n.
            keys: what names the rows in corrections, if numbers do not.
            table: where corrections go, see
                :class:`lops_adapters.report.contents.SelectionPage`.
            near: groups of near-duplicates to show, as :meth:`near_duplicates` returns them.
            totals, why: of a whole table of which the texts are a sample; default: of the texts.

        Raises:
            LopsError: the number of gold labels, ids or row numbers is not the number of texts.
        """
        from lops_adapters.report.data import selection_page

        for name, column in (("gold labels", gold), ("ids", ids), ("row numbers", numbers)):
            if column is not None and len(column) != len(self.mask):
                raise LopsError(
                    f"found {len(column)} {name} and {len(self.mask)} texts; wanted one per text, "
                    "in the same order"
                )
        positions = self._scored.tolist()
        if numbers is None and len(self.abstained):
            numbers = range(1, len(self.mask) + 1)
        columns: dict[str, Any] = {"texts": self.texts, "labels": self.labels, "gold": gold}
        columns |= {"ids": ids, "numbers": numbers, "keys": keys}
        listed: dict[str, Any] = {}
        for name, values in columns.items():
            if values is not None:
                plain = values.tolist() if hasattr(values, "tolist") else values
                listed[name] = [plain[i] for i in positions]
        to_check: Any = [] if self._check_order is None else self.to_check()
        wrong = self.wrong
        reports = self.per_class if totals is None else totals.reports(self.per_class)
        outcome = self.outcome
        parts = outcome.mask, outcome.learnt_at, outcome.confidence
        selection = Selection(*parts, self.per_class, self.rule, self.stopped)
        return selection_page(
            selection,
            **listed,
            title=title or f"Rows kept by {self.settings['method']}",
            source=source,
            why=(why or self.said).sentences,
            settings=self.settings,
            versions=extras.versions(),
            table=table or {},
            sources=self.sources,
            estimate=wrong.share(reports),
            wrong=wrong_column(reports, wrong),
            n_checked=self.checked_rate.checked if self.checked_rate else 0,
            is_probability=METHODS[self.settings["method"]].is_probability,
            totals=len(self.abstained) if totals is None else totals,
            near=[np.searchsorted(self._scored, group) for group in near],
            to_check=np.searchsorted(self._scored, to_check).tolist(),
            suggested=self.suggested[positions],
            suggested_probability=self.suggested_probability[positions],
        )

    def report(self, path: str | Path, gold: Sequence[Hashable] | None = None) -> Path:
        """Write one self-contained HTML page and return its path; ``gold`` as for :meth:`page`."""
        from lops_adapters.report.selection_page import write_selection_page

        return write_selection_page(Path(path), self.page(gold))


def suggested_pairs(
    outcome: Outcome, classes: Sequence[Hashable]
) -> list[tuple[Hashable, Hashable, int]]:
    """Return (label, another suggested label, rejected rows), most frequent first."""
    counts = confusion(outcome.labels, outcome.suggested, ~outcome.mask, len(classes))
    return suggestions(counts, classes)


def _spread(values: np.ndarray, positions: np.ndarray, n: int, rest: Any) -> np.ndarray:
    """Return values at their positions among n, and ``rest`` elsewhere."""
    spread = np.full(n, rest, dtype=values.dtype)
    spread[positions] = values
    return spread
