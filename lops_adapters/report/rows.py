"""The rows of a selection: their columns in one form, and which rows a page lists."""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from lops_adapters.console import unsure
from lops_adapters.core import LopsError, Selection
from lops_adapters.evaluation import noise
from lops_adapters.formats.cells import is_unlabelled, valid_text, whole
from lops_adapters.labels.classes import NO_GOLD, OTHER_GOLD
from lops_adapters.labels.labelled import codes_among
from lops_adapters.report.contents import NearGroup, Suspect
from lops_adapters.report.measure import finite, least_trusted
from lops_adapters.report.text import cut
from lops_adapters.report.totals import Totals

LISTED, LONGEST = 2000, 2000  # rows, and characters of a text, that a page holds as they are
LARGEST_PLAIN = 5 * 2**20  # characters of all these texts, as the page holds them
GROUPS, CHARS = 100, 600  # of near-duplicates, and characters of their texts and of packed ones


class PageRows:
    """The n rows of a selection.

    Attributes:
        confidence: (n,) float64, finite.
        suggested, probability, gold, ids: lists; None: not given.
        numbers: of the rows in their table, from 1; None: 1 to n.
        keys: what names the rows in corrections; None: numbers do.
        codes: (n,) int64, place of the pseudo-label among the classes of the selection.
        with_gold: (n,) bool, rows that have a gold label.
        wrong: (n,) bool, rows whose gold label is another; None without gold labels.

    Raises as :func:`lops_adapters.report.data.selection_page`.
    """

    def __init__(
        self,
        selection: Selection,
        texts: Sequence[Any],
        labels: Any,
        *,
        suggested: Any = None,
        suggested_probability: Any = None,
        gold: Any = None,
        ids: Any = None,
        numbers: Sequence[int] | None = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        n, columns = len(selection.mask), (suggested, gold, ids, suggested_probability)
        self.labels = _listed(labels)
        self.suggested, self.gold, self.ids, self.probability = (
            None if values is None else _listed(values) for values in columns
        )
        self.selection, self.numbers, self.keys = selection, numbers, keys
        self.texts = getattr(texts, "iloc", texts)  # the index of a column need not be positions
        self.codes = codes_among(self.labels, list(selection.per_class))
        self.wrong, self.with_gold = None, np.zeros(n, dtype=bool)
        if self.gold is not None:
            self.with_gold = np.array([not is_unlabelled(label) for label in self.gold])
            positions = np.flatnonzero(self.with_gold).tolist()
            if not positions:
                raise LopsError(f"all {n} gold labels are missing; give some, or leave gold out")
            # Raises where names meet numbers, which would all count as wrong.
            noise([self.labels[i] for i in positions], [self.gold[i] for i in positions])
            pairs = zip(self.labels, self.gold, strict=True)
            differ = [whole(str(label)) != whole(str(true)) for label, true in pairs]
            self.wrong = self.with_gold & np.array(differ)
        self.confidence = finite(selection.confidence)
        self._suggested = np.full(n, -1)
        if self.suggested is not None:
            known = np.array([text_or_none(one) is not None for one in self.suggested])
            named = [one for one, is_known in zip(self.suggested, known, strict=True) if is_known]
            self._suggested[known] = codes_among(named, list(selection.per_class))

    @cached_property
    def _doubt(self) -> np.ndarray:
        """(n,) float64 probability of another class: 0 if the probe agrees, 1 if it gives none."""
        other = (self._suggested >= 0) & (self._suggested != self.codes)
        probability = np.ones(len(other)) if self.probability is None else self.probability
        return np.where(other, np.nan_to_num(np.array(probability, dtype=np.float64)), 0.0)

    def least_trusted(self, per_class: int, most: int) -> np.ndarray:
        """Return the positions of the least trusted rows, the least trusted first."""
        mask = self.selection.mask
        return least_trusted(self.confidence, self.codes, mask, self._doubt, per_class, most)

    @cached_property
    def order(self) -> np.ndarray:
        """Positions of all rows, the least trusted first."""
        n = len(self.codes)
        return self.least_trusted(n, n * len(self.selection.per_class))

    def listed(self, per_class: int, to_check: Sequence[int], most_wrong: int = 0) -> np.ndarray:
        """Return the positions of the rows of the list, in its order.

        It has the rows to check, the ``most_wrong`` least trusted rows, and these of each class.
        """
        least = [*self.order[:most_wrong], *self.least_trusted(per_class, LISTED)]
        chosen = [*dict.fromkeys([*to_check, *least])][:LISTED]
        return self.order[np.isin(self.order, chosen)]

    def number(self, position: int) -> int:
        """Return the number of a row in its table, from 1."""
        return int(position) + 1 if self.numbers is None else int(self.numbers[position])

    def suspects(self, positions: np.ndarray, longest: int) -> Iterator[Suspect]:
        """Yield the rows at positions, in their order, with at most ``longest`` characters."""
        texts = [cut(str(self.texts[i]), longest) for i in positions.tolist()]
        size = sum(len(json.dumps(text)) for text in texts)
        if size > LARGEST_PLAIN:
            longest = max(map(len, texts))
            texts = [cut(text, max(200, longest * LARGEST_PLAIN // size)) for text in texts]
        selection, unknown = self.selection, unsure(map(str, self.selection.per_class))
        for i, text in zip(positions.tolist(), texts, strict=True):
            likely = None if self.probability is None else number_or_none(self.probability[i])
            label = valid_text(str(self.labels[i]))
            suggested = None if self.suggested is None else text_or_none(self.suggested[i])
            if suggested == label and not selection.mask[i]:
                suggested, likely = unknown, None
            yield Suspect(
                position=i,
                text=text,
                label=label,
                confidence=float(self.confidence[i]),
                learnt_at=number_or_none(selection.learnt_at[i]),
                selected=bool(selection.mask[i]),
                suggested=suggested,
                suggested_probability=likely,
                gold=None if self.gold is None else text_or_none(self.gold[i]),
                id=None if self.ids is None else text_or_none(self.ids[i]),
                row=self.number(i),
                key=None if self.keys is None else self.keys[i],
            )

    def near(self, groups: Sequence[np.ndarray]) -> list[NearGroup]:
        """Return some groups of near-duplicates: with several labels first, then large ones."""
        shown = [
            NearGroup(
                cut(str(self.texts[group[0]]), CHARS),
                [self.number(i) for i in group],
                [valid_text(str(self.labels[i])) for i in group],
            )
            for group in (positions.tolist() for positions in groups)
        ]
        shown.sort(key=lambda one: (len(set(one.labels)) == 1, -len(one.rows), one.rows[0]))
        return shown[:GROUPS]

    def reports(self) -> list[tuple[str, str]]:
        """Return the classes as text, each with its reason."""
        return [(valid_text(str(c)), one.why) for c, one in self.selection.per_class.items()]

    def totals(self, abstained: int) -> Totals:
        """Return the counts of the rows; ``abstained``: how many others have no label."""
        totals = Totals.of(len(self.selection.per_class))
        gold = np.where(self.with_gold, self.codes, NO_GOLD)
        if self.wrong is not None:
            gold[self.wrong] = OTHER_GOLD
        totals.count(self.codes, self.selection.mask, self.confidence, self._suggested, gold)
        totals.abstained = abstained
        return totals


def number_or_none(value: Any) -> float | None:
    """Return a finite number, or None."""
    return float(value) if value is not None and np.isfinite(value) else None


def text_or_none(value: Any) -> str | None:
    """Return a label or id as text, None if it is missing."""
    return None if is_unlabelled(value) else valid_text(str(value))


def _listed(values: Any) -> list[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)
