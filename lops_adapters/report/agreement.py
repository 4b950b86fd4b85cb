"""What is known of how far label sources agree, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lops_adapters.console import percent
from lops_adapters.evaluation.agreement import Difference, Interval
from lops_adapters.evaluation.alternative import LEAST_ROWS
from lops_adapters.report.contents import StoredPage
from lops_adapters.report.text import count

KAPPA = (
    "Kappa is the agreement beyond chance: 0 if two sources agree as often as if each drew its "
    "labels at random, as often as it gives them, and 1 if they always agree. So 90 % equal labels "
    "can be a kappa of 0 where nearly all rows are of one class."
)
NO_ROW = "no shared row"
ALPHA = "Krippendorff's alpha says the same of all sources together; it takes missing labels."
ORDERED = (
    "Kappa is quadratic and alpha ordinal: a difference counts more, the farther apart two labels "
    "are in the order {}."
)


@dataclass(frozen=True)
class Pair:
    """Two sources, or a source and the truth: share of equal labels, kappa, and that per class."""

    first: str
    second: str
    equal: float
    kappa: Interval | None
    per_class: tuple[Interval | None, ...]


@dataclass(frozen=True)
class Confusion:
    """A source: rows per true class and label, (k, k); checked rows weigh as much as all."""

    source: str
    counts: list[list[int]]


@dataclass(frozen=True)
class Comparison:
    """How much more often a source is right than a person, or another source."""

    source: str
    person: str
    found: Difference

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        gap = self.found
        how = "less" if gap.value < 0 else "more"
        low, high = (f"{100 * one:+.1f}" for one in (gap.low, gap.high))
        right = f"right {abs(100 * gap.value):.1f} points {how} often"
        if gap.verdict == "undecided":
            check = f"check {count(gap.more)} more rows" if gap.more else "all rows are checked"
            verdict = f"{self.source} or {self.person}: undecided, {check}"
        else:
            link = "as" if gap.verdict == "as good" else "than"
            verdict = f"{self.source} is {gap.verdict} {link} {self.person}"
        return f"{verdict}; {right} (95 % interval {low} to {high})."


@dataclass(frozen=True)
class Alternative:
    """Whether a source may take the place of one of the people.

    Attributes:
        source: its name.
        people: names of people with enough rows; may be empty.
        wins: names of people whose place the source may take, within the margin.
        advantage: share of rows on which it is at least as close to the others as a person; NaN
            without people.
        margin: share of rows.
    """

    source: str
    people: tuple[str, ...]
    wins: tuple[str, ...]
    advantage: float
    margin: float

    @property
    def passes(self) -> bool:
        """Whether it is as good as half of the people or more."""
        return bool(self.people) and 2 * len(self.wins) >= len(self.people)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if not self.people:
            return (
                f"{self.source}: no person has {LEAST_ROWS} rows that it and another person also "
                "label; the alternative annotator test needs them."
            )
        may = "may take a person's place" if self.passes else "is not shown to replace a person"
        return (
            f"{self.source} {may}: as close to the others as {len(self.wins)} of "
            f"{len(self.people)} people, who cost {100 * self.margin:g} points more; at least as "
            f"close in {percent(self.advantage)} of the rows."
        )


@dataclass(frozen=True)
class Disagreement:
    """A row: the label of all sources together, its probability, and labels by their sources.

    Attributes:
        row: position of the text; after :meth:`AgreementPage.numbered` its number in the table.
    """

    row: int
    text: str
    label: str
    probability: float
    said: dict[str, str]


@dataclass(frozen=True)
class LabelsRead(StoredPage):
    """The labels that are compared.

    Attributes:
        rows: their number.
        classes: names, in the order of the tables.
        sources, votes: names, and their numbers of labels.
        ordered: whether the classes have an order.
        problems, notes: sentences: what is probably not meant so, and how labels are read.
    """

    rows: int
    classes: tuple[str, ...]
    sources: tuple[str, ...]
    votes: tuple[int, ...]
    ordered: bool
    problems: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True)
class AgreementPage(LabelsRead):
    """Everything that a page of agreement shows.

    Attributes:
        checked: number of rows.
        alpha: Krippendorff's, of all sources; None: no row has two labels.
        pairs: of the sources with most labels, at most 30.
        truth: what sources are compared with: checked rows, or the joint labels.
        with_truth: of every source.
        confusions: of the sources of ``pairs``; empty above 200 classes.
        comparisons: empty without checked rows.
        margin: share of rows of ``as good``.
        disagreements: telling rows.
        sent_back: source -> rows whose label is most probably wrong.
        to_check: positions of rows to check next, rows on which sources differ more often.
        alternatives: of the alternative annotator test, if it was asked for.
    """

    checked: int
    alpha: Interval | None
    pairs: tuple[Pair, ...]
    truth: str
    with_truth: tuple[Pair, ...]
    confusions: tuple[Confusion, ...]
    comparisons: tuple[Comparison, ...]
    margin: float
    disagreements: tuple[Disagreement, ...]
    sent_back: dict[str, list[Disagreement]]
    to_check: tuple[int, ...]
    alternatives: tuple[Alternative, ...] = ()

    def numbered(self, rows: Sequence[int]) -> AgreementPage:
        """Return the page with numbers of rows in a table, (n,), in place of positions."""

        def moved(items: Iterable[Disagreement]) -> list[Disagreement]:
            return [replace(one, row=rows[one.row]) for one in items]

        return replace(
            self,
            disagreements=tuple(moved(self.disagreements)),
            sent_back={name: moved(items) for name, items in self.sent_back.items()},
            to_check=tuple(rows[position] for position in self.to_check),
        )

    @property
    def verdicts(self) -> list[str]:
        """What comparisons and the alternative annotator test decide, in words."""
        found = [one.sentence for one in self.comparisons]
        return found + [one.sentence for one in self.alternatives]

    @property
    def explained(self) -> tuple[str, str]:
        """What kappa is; and what alpha is, with its value."""
        ordered = f" {ORDERED.format(', '.join(self.classes))}" if self.ordered else ""
        return f"{KAPPA}{ordered}", f"{ALPHA} Here: {shown(self.alpha)}."

    @property
    def sentence(self) -> str:
        """The main result."""
        if len(self.comparisons) == 1:
            return self.comparisons[0].sentence
        about = f"{len(self.sources)} sources of {count(self.rows)} texts"
        if self.alpha is None:
            return f"{about}: no text has labels of two"
        return f"{about}: Krippendorff's alpha {shown(self.alpha)}"

    def table(self) -> list[list[str]]:
        """Return rows of two sources: equal labels, kappa, with a head."""
        head = ["source", "and", "rows", "equal", "kappa (95 % interval)"]
        rows = [
            [pair.first, pair.second, *_rows(pair), shown(pair.kappa)]
            for pair in (*self.with_truth, *self.pairs)
        ]
        return [head, *rows]


def shown(interval: Interval | None) -> str:
    """Return a value with its interval; None: no row has labels of both, or of two sources."""
    if interval is None:
        return NO_ROW
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _rows(pair: Pair) -> list[str]:
    if pair.kappa is None:
        return ["0", "-"]
    return [count(pair.kappa.rows), percent(pair.equal)]
