"""Contents of the pages as plain values, for the page and for JSON."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
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
class SelectionPage(StoredPage):
    """Everything the page of a selection shows.

    Attributes:
        title, source: headings.
        n_rows, n_kept: rows with a pseudo-label, and kept ones.
        why: sentences: probe, rule, why training stopped, what to do next.
        classes: one row per class.
        learnt: (time, kept, rejected), time None: never learnt; at most 12, empty where the method
            has no learning times.
        thresholds: (confidence, rows at or above it, rows with a gold label, wrong ones among
            these or None), descending, at most 201.
        suspects: least trusted rows per class, the least trusted first.
        settings, versions: what is needed to repeat the selection.
        n_gold, n_gold_kept: rows with a gold label, and kept ones among these.
        noise_before, noise_after: share of wrong pseudo-labels among these; None without any.
        own_threshold: one of ``thresholds`` that keeps exactly the kept rows, or None.
        table: what ``lops apply`` needs: column (of the labels), sha256 (of the files), counts
            (what is corrected, see :mod:`lops_adapters.labels.naming`), command; and check, the
            command that uses checked rows. Empty if the rows come from no file.
        n_abstained: rows without a pseudo-label, not among ``n_rows``.
        more: further rejected rows, less suspicious than ``suspects``, as
            :func:`lops_adapters.report.data.packed` returns them.
        n_more: how many rows these are.
        n_unlisted: rejected rows that did not fit.
        near: groups of near-duplicates, at most 100; groups with several labels first.
        n_near: number of all groups.
        to_check: numbers of ``suspects``, in the order in which a person checks them.
        sources: label sources; empty if each row has one label.
        confused: (label, suggested label, rejected rows), most frequent first; equal labels: no
            other label is more probable.
        estimate: the share of wrong labels, and its range from low to high; empty: unknown.
        ladder: (least probability of a kept label, rows that it rejects, expected number of right
            labels among these), ascending; empty: confidences are no probabilities.
        wrong: a heading, and the same of each class, as text; empty: unknown.
        n_checked: rows that a person has checked, on which the estimate rests.
        is_probability: whether the confidences are probabilities that the label is right.
    """

    title: str
    source: str
    n_rows: int
    n_kept: int
    why: list[str]
    classes: list[ClassRow]
    learnt: list[tuple[float | None, int, int]]
    thresholds: list[Threshold]
    suspects: list[Suspect]
    settings: dict[str, Any]
    versions: dict[str, Any]
    n_gold: int
    n_gold_kept: int
    noise_before: float | None
    noise_after: float | None
    own_threshold: float | None = None
    table: dict[str, str] = field(default_factory=dict)
    n_abstained: int = 0
    more: list[str] = field(default_factory=list)
    n_more: int = 0
    n_unlisted: int = 0
    near: list[NearGroup] = field(default_factory=list)
    n_near: int = 0
    to_check: Sequence[int] = field(default_factory=list)
    sources: list[SourceReport] = field(default_factory=list)
    confused: list[tuple[str, str, int]] = field(default_factory=list)
    estimate: list[float] = field(default_factory=list)
    ladder: list[tuple[float, int, float]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    n_checked: int = 0
    is_probability: bool = False

    @property
    def codes(self) -> dict[str, int]:
        """The label of each class -> its place among them."""
        names = dict.fromkeys(row.label for row in self.classes)
        return {label: code for code, label in enumerate(names)}


def counted(classes: Sequence[tuple[str, str]], *counts: Any) -> dict[str, Any]:
    """Return the fields of a :class:`SelectionPage` that count rows.

    Classes are k pairs (label, reason), counts (k,) integers each: rows, kept ones, rows with a
    gold label, wrong ones among these, kept rows with a gold label, wrong ones among these.
    """
    rows = [
        ClassRow(label, count, kept, why, _share(wrong, with_gold), _share(wrong_kept, gold_kept))
        for (label, why), count, kept, with_gold, wrong, gold_kept, wrong_kept in zip(
            classes, *(part.tolist() for part in counts), strict=True
        )
    ]
    n, kept, with_gold, wrong, gold_kept, wrong_kept = (int(part.sum()) for part in counts)
    return {
        "n_rows": n,
        "n_kept": kept,
        "classes": rows,
        "n_gold": with_gold,
        "n_gold_kept": gold_kept,
        "noise_before": _share(wrong, with_gold),
        "noise_after": _share(wrong_kept, gold_kept),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
