"""Contents of the pages as plain values, for the page and for JSON."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from lops_adapters.formats.cells import valid
from lops_adapters.report.measure import Threshold
from lops_adapters.storage import plain


@dataclass(frozen=True)
class Suspect:
    """A row that the selection trusts little; ``position`` counts from 0.

    Attributes:
        label: pseudo-label.
        learnt_at: epoch, None: never.
        suggested, suggested_probability: of the probe, None: not asked. The suggestion of a
            rejected row is never its label, but "unsure".
        gold, id: None: not given.
        row: number in the table, from 1.
        key: names the row in corrections; None: its number does.
    """

    position: int
    text: str
    label: str
    confidence: float
    learnt_at: float | None
    selected: bool
    suggested: str | None
    suggested_probability: float | None
    gold: str | None
    id: str | None
    row: int
    key: str | None = None


@dataclass(frozen=True)
class ClassRow:
    """A class: pseudo-labels, kept ones, the reason, noise before and after (None: unknown)."""

    label: str
    count: int
    kept: int
    why: str
    noise_before: float | None
    noise_after: float | None


@dataclass(frozen=True)
class NearGroup:
    """Rows with nearly the same text: the first one's text, their numbers from 1, their labels."""

    text: str
    rows: list[int]
    labels: list[str]


@dataclass(frozen=True)
class SourceReport:
    """What is estimated of a label source; compare sources by ``accuracy`` and its range.

    Attributes:
        name: of its column.
        votes: number of its votes.
        coverage: share of the texts that it votes on.
        accuracy: estimated share of right votes, in [0, 1]; NaN without votes.
        low, high: of the range that holds the truth for about 80 % of the sources.
        error: its most frequent error: the class it votes for, the true class, the share of its
            votes; None: none.
        alone: texts that no other source votes on: without it they have no label.
        changed: texts whose label changes without it, those included.
    """

    name: str
    votes: int
    coverage: float
    accuracy: float
    low: float
    high: float
    error: tuple[Hashable, Hashable, float] | None
    alone: int
    changed: int


@dataclass(frozen=True)
class StoredPage:
    """A page that can be written as JSON."""

    def to_json(self) -> dict[str, Any]:
        """Return the page in JSON's own types."""
        page: dict[str, Any] = valid(plain(self))
        return page


@dataclass(frozen=True)
class Counts:
    """What is counted over all rows.

    Attributes:
        n_rows, n_kept: rows with a pseudo-label, and kept ones.
        n_abstained: rows without one, not among ``n_rows``.
        classes: one row per class.
        n_gold, n_gold_kept: rows with a gold label, and kept ones among these.
        noise_before, noise_after: share of wrong pseudo-labels among these; None without any.
        confused: (label, suggested label, rejected rows), most frequent first; equal labels: no
            other label is more probable.
    """

    n_rows: int
    n_kept: int
    n_abstained: int
    classes: list[ClassRow]
    n_gold: int
    n_gold_kept: int
    noise_before: float | None
    noise_after: float | None
    confused: list[tuple[str, str, int]]

    @property
    def codes(self) -> dict[str, int]:
        """The label of each class -> its place among them."""
        names = dict.fromkeys(row.label for row in self.classes)
        return {label: code for code, label in enumerate(names)}


@dataclass(frozen=True)
class Charts:
    """What the charts show.

    Attributes:
        learnt: (time, kept, rejected), time None: never learnt; at most 12, empty where the method
            has no learning times.
        thresholds: (confidence, rows at or above it, rows with a gold label, wrong ones among
            these or None), descending, at most 201.
        own_threshold: one of ``thresholds`` that keeps exactly the kept rows, or None.
    """

    learnt: list[tuple[float | None, int, int]]
    thresholds: list[Threshold]
    own_threshold: float | None
    is_probability: bool


@dataclass(frozen=True)
class Listed:
    """The rows that a page lists.

    Attributes:
        suspects: least trusted rows per class, the least trusted first.
        more: further rejected rows, less suspicious than ``suspects``, as
            :func:`lops_adapters.report.data.packed` returns them.
        n_more: how many rows these are.
        n_unlisted: rejected rows that did not fit.
        to_check: numbers of ``suspects``, in the order in which a person checks them.
        near: groups of near-duplicates, at most 100; groups with several labels first.
    """

    suspects: list[Suspect]
    more: list[str]
    n_more: int
    n_unlisted: int
    to_check: Sequence[int]
    near: list[NearGroup]
    n_near: int


@dataclass(frozen=True)
class SelectionPage(StoredPage):
    """Everything the page of a selection shows; made by :func:`.data.selection_page`.

    Attributes:
        why: sentences: probe, rule, why training stopped, what to do next.
        settings, versions: what is needed to repeat the selection.
        table: what ``lops apply`` needs: column (of the labels), sha256 (of the files), counts
            (what is corrected, see :mod:`lops_adapters.labels.naming`), command; and check, the
            command that uses checked rows. Empty if the rows come from no file.
        estimate: the share of wrong labels, and its range from low to high; empty: unknown.
        wrong: a heading, and the same of each class, as text; empty: unknown.
        ladder: (least probability of a kept label, rows that it rejects, expected number of right
            labels among these), ascending; empty: confidences are no probabilities.
        n_checked: rows that a person has checked, on which the estimate rests.
    """

    title: str
    source: str
    why: list[str]
    settings: dict[str, Any]
    versions: dict[str, Any]
    table: dict[str, str]
    counts: Counts
    charts: Charts
    rows: Listed
    sources: Sequence[SourceReport]
    estimate: Sequence[float]
    wrong: Sequence[str]
    ladder: list[tuple[float, int, float]]
    n_checked: int

    def to_json(self) -> dict[str, Any]:
        """Return the page in JSON's own types, in one mapping."""
        page = super().to_json()
        parts = [page.pop(name) for name in ("counts", "charts", "rows")]
        return {name: value for part in (page, *parts) for name, value in part.items()}
