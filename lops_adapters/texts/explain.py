"""The sentences under a selection, warnings about one that looks wrong, and copies of texts."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lops_adapters.console import listed, percent, typed
from lops_adapters.core import Selection
from lops_adapters.encoders.word_counts import AUTO, LONGEST, WORD
from lops_adapters.formats.places import SHOWN, rows_of, shown_places
from lops_adapters.probes import Probe
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.scripts import is_unspaced
from lops_adapters.selection import Method
from lops_adapters.selection.committee.committee import CANNOT_TELL, FEW_REJECTED
from lops_adapters.selection.committee.noise import Rate

FEW = 10  # rows of a class
_ALL = "all rows, since held-out predictions cannot tell right labels from wrong ones"
_SHARED = (
    "Expect more wrong labels than rejected ones if the labels share errors, as labels of rules, "
    "word lists or one model do."
)
_MARKS = ".,:;!?\"'`*()[]"
_WORTH_SAYING = 0.01  # of the texts; stray characters are not
_NARROW = 0.1  # range of the share of wrong labels, from which on more checks say little


@dataclass(frozen=True)
class Why:
    """The sentences under a selection, in parts.

    Attributes:
        classes, texts: problems of the data: of the classes; of copies and empty texts.
        first: the members or the probe, what is kept, the training.
        notes: labels that were read as a class, label sources, rows without a label.
        rows: what only the report says: scripts, copies, checked rows.
        last: what to do next.
    """

    first: list[str]
    classes: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """Problems of the data."""
        return [*self.classes, *self.texts]

    @property
    def sentences(self) -> list[str]:
        """All of them, in order."""
        return [*self.problems, *self.first, *self.pairs, *self.notes, *self.rows, *self.last]


def reasons(which: str, selection: Selection, method: Method, arguments: dict[str, Any]) -> Why:
    """Return the sentences about any selection; ``which`` names the members or the probe."""
    trained = selection.stopped[:1].upper() + selection.stopped[1:]
    kept = _ALL if cannot_tell(selection) else method.says(arguments)
    return Why(
        first=[which, f"Kept: {kept}.", f"{trained}."],
        classes=class_problems({c: report.count for c, report in selection.per_class.items()}),
        last=[
            *([_SHARED] if method.assesses else []),
            f"Next: train {method.train_on}, with balanced classes. A "
            "suggestion for a rejected row is a hint: check before relabelling.",
        ],
    )


def class_problems(counts: Mapping[Hashable, int]) -> list[str]:
    """Return sentences about classes that are nearly one, or small; ``counts``: rows by class.

    >>> class_problems({"Art": 40, "art.": 30, "other": 20})[0][:56]
    "Classes that differ by case, spaces or marks: 'Art' (40)"
    """
    sentences = alike_classes(counts)
    small = [f"{label} ({n})" for label, n in counts.items() if 0 < n < FEW]
    if small:
        sentences.append(
            f"Classes with fewer than {FEW} rows: {listed(small, SHOWN)}. Their labels can hardly "
            "be checked; add rows, or leave them out."
        )
    return sentences


def alike_classes(counts: Mapping[Any, int]) -> list[str]:
    """Return a sentence about classes that are nearly one, if any; ``counts``: rows by class."""
    folded: dict[str, list[Hashable]] = {}
    for label in counts:
        plain = " ".join(str(label).casefold().split()).strip(_MARKS)
        folded.setdefault(plain, []).append(label)
    alike = [
        " and ".join(f"{label!r} ({counts[label]:,})" for label in group)
        for group in folded.values()
        if len(group) > 1
    ]
    if not alike:
        return []
    return [
        f"Classes that differ by case, spaces or marks: {listed(alike, SHOWN)}. "
        f"`{typed('classes')}` joins them."
    ]


def cannot_tell(selection: Selection) -> bool:
    """Return whether everything is kept since held-out predictions tell too little."""
    return _because(selection, CANNOT_TELL)


def _because(selection: Selection, why: str) -> bool:
    return any(report.why == why for report in selection.per_class.values())


def pair_sentences(pairs: Sequence[tuple[Hashable, Hashable, int]]) -> list[str]:
    """Return a sentence with the most frequent suggestions for rejected rows; none without any.

    ``pairs`` are (label, suggested label, rows), most frequent first.
    """
    if not pairs:
        return []
    named = ", ".join(f"{a} -> {b} ({rows:,})" for a, b, rows in pairs[:3])
    return [f"Often confused: {named}."]


def script_sentences(texts: Sequence[str], probe: Probe) -> list[str]:
    """Return a sentence if TF-IDF reads scripts without spaces as n-grams on its own account."""
    if not isinstance(probe, LinearProbe) or probe.analyzer != AUTO:
        return []
    count = sum(map(is_unspaced, texts))
    if count < _WORTH_SAYING * len(texts):
        return []
    return [
        f"Scripts without spaces in {count:,} of {len(texts):,} texts: TF-IDF reads them as "
        f"n-grams of 1 to {LONGEST} characters (`{typed('analyzer', WORD)}` to read words only)."
    ]


def complaints(selection: Selection, method: Method) -> list[str]:
    """Return warnings: classes without kept or learnt rows, labels unrelated to the texts."""
    if cannot_tell(selection):
        return [
            f"held-out predictions agree with the {len(selection.mask)} labels hardly more than by "
            "guessing, so all are kept: check that these are the right columns and that their rows "
            "belong together, or add rows"
        ]
    reports, warnings = selection.per_class, []
    if _because(selection, FEW_REJECTED):
        warnings.append(
            "more labels are in doubt than texts alone can decide, as with short texts of many "
            "classes, so few are rejected: check ten rows, which tell how many are wrong"
        )
    lost = [f"{label!r} ({report.count})" for label, report in reports.items() if not report.kept]
    if lost and not method.warns:
        warnings.append(
            f"nothing is kept of {len(lost)} of {len(reports)} classes: "
            f"{', '.join(lost[:SHOWN])}. Check these labels, or use a ranking with a share per "
            "class, such as method learning-order with keep 0.5"
        )
    late = [f"{label!r} ({report.count})" for label, report in reports.items() if not report.learnt]
    if late and method.timed and not method.warns:
        warnings.append(
            f"nothing was learnt in {len(late)} of {len(reports)} classes: "
            f"{', '.join(late[:SHOWN])}. Their kept rows are chosen by probability alone: train "
            "the probe longer, or check these labels"
        )
    return warnings


def checked_sentences(rate: Rate | None, n: int) -> list[str]:
    """Return what checked rows say of the noise of n rows, and what more of them would bring."""
    if rate is None:
        return []
    text = (
        f"Checked: {rows_of(rate.checked)}. Wrong labels: {percent(rate.value)} of all rows "
        f"({percent(rate.low)} to {percent(rate.high)})"
    )
    return [f"{text}{what_more_brings(rate, n)}."]


def what_more_brings(rate: Rate, n: int) -> str:
    """Return what checking more of n rows would bring, to append to a sentence; or nothing.

    >>> what_more_brings(Rate(0.1, 0.05, 0.25, 50), 1000)
    '; checking 150 more would halve the range'
    """
    if rate.high - rate.low <= _NARROW:
        return "; this range is narrow enough to stop"
    if 4 * rate.checked <= n:
        return f"; checking {3 * rate.checked:,} more would halve the range"
    return ""


Place = Callable[[Sequence[int]], str]  # names texts by their positions


def about_copies(
    texts: Sequence[str], labels: Sequence[Hashable], where: Place
) -> tuple[list[str], list[str]]:
    """Return sentences about copies whose labels conflict and empty texts; and about other copies.

    An empty text repeats nothing.

    >>> problems, others = about_copies(["a", "a", "", "a"], [0, 0, 1, 1], positions)
    >>> [one.partition(":")[2].partition(".")[0] for one in (*problems, *others)]
    [' 1 row (position 3)', ' 1 row (position 2)', ' 1 row']
    """
    first: dict[str, Hashable] = {}
    again, torn, blank = 0, list[int](), list[int]()
    for position, (text, label) in enumerate(zip(texts, labels, strict=True)):
        if not text.strip():
            blank.append(position)
        elif text not in first:
            first[text] = label
        elif first[text] == label:
            again += 1
        else:
            torn.append(position)
    problems, others = list[str](), list[str]()
    if torn:
        problems.append(
            f"Same text as an earlier row, but another label: {rows_of(len(torn))} "
            f"({where(torn)}). At most one of the labels is right."
        )
    if blank:
        problems.append(
            f"Empty text: {rows_of(len(blank))} ({where(blank)}). These labels cannot be checked."
        )
    if again:
        others.append(
            f"Same text and same label as an earlier row: {rows_of(again)}. Copies confirm each "
            "other; if their labels may be wrong, keep one of each and run again."
        )
    return problems, others


def positions(places: Sequence[int]) -> str:
    """Return positions for a message, the first of them.

    >>> positions([3]), positions(range(7))
    ('position 3', 'positions 0, 1, 2, 3, 4 and 2 more')
    """
    return shown_places([(Path(), place) for place in places], "position", len(places), False)
