"""The columns of a selection's rows, checked and in one form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.evaluation import noise
from lops_adapters.report.text import cleaned
from lops_adapters.tables.formats.cells import is_unlabelled


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns aligned with the n rows of a selection, as lists; None: not given.

    Attributes:
        texts: n texts, by position.
        labels: pseudo-labels.
        suggested: label that the probe prefers.
        probability: its probability.
        gold: gold labels.
        ids: ids of the rows.
        codes: (n,) int64, place of the pseudo-label among the classes of the selection.
        wrong: (n,) bool, rows whose gold label is another; None without gold labels.
        judged: (n,) bool, rows that have a gold label.

    """

    texts: Sequence[Any]
    labels: list[Any]
    suggested: list[Any] | None
    probability: list[Any] | None
    gold: list[Any] | None
    ids: list[Any] | None
    codes: np.ndarray
    wrong: np.ndarray | None
    judged: np.ndarray

    @classmethod
    def read(
        cls,
        selection: Selection,
        *,
        texts: Sequence[Any],
        labels: Any,
        suggested: Any,
        suggested_probability: Any,
        gold: Any,
        ids: Any,
    ) -> Columns:
        """Return the columns of a selection.

        Raises:
            LopsError: no rows, different lengths, a label that is no class of the selection, or
                gold labels that cannot be compared or are all missing.

        """
        n = len(selection.mask)
        if not n:
            raise LopsError("the selection has no rows; wanted at least one")
        columns = {"labels": labels, "suggested": suggested, "gold": gold, "ids": ids}
        columns |= {"suggested_probability": suggested_probability, "texts": texts}
        for name, values in columns.items():
            if values is not None and len(values) != n:
                raise LopsError(
                    f"found {len(values)} {name} and a selection of {n} rows; "
                    "wanted one per row, in the same order"
                )
        listed, truth = _listed(labels), None if gold is None else _listed(gold)
        place = {label: i for i, label in enumerate(selection.per_class)}
        codes = _codes(listed, place)
        if codes.min() < 0:
            i = int(codes.argmin())
            raise LopsError(
                f"label {listed[i]!r} of row {i} is no class of the selection; "
                "pass the pseudo-labels that were selected from"
            )
        wrong, judged = None, np.zeros(n, dtype=bool)
        if truth is not None:
            judged = np.array([not is_unlabelled(label) for label in truth])
            at = np.flatnonzero(judged).tolist()
            if not at:
                raise LopsError(f"all {n} gold labels are missing; give some, or leave gold out")
            # Raises where names meet numbers, which would all count as wrong.
            noise([listed[i] for i in at], [truth[i] for i in at])
            wrong = judged & (codes != _codes(truth, place))
        said, sure, names = (
            None if values is None else _listed(values)
            for values in (suggested, suggested_probability, ids)
        )
        by_place = getattr(texts, "iloc", texts)  # the index of a column need not be positions
        return cls(by_place, listed, said, sure, truth, names, codes, wrong, judged)

    @cached_property
    def doubt(self) -> np.ndarray:
        """Return the probability of another class than the pseudo-label, (n,) float64.

        0 where the probe agrees, 1 where it gives no probability.
        """
        if self.suggested is None:
            return np.zeros(len(self.codes))
        other = [
            text_or_none(found) is not None and found != label
            for found, label in zip(self.suggested, self.labels, strict=True)
        ]
        if self.probability is None:
            return np.where(other, 1.0, 0.0)
        return np.where(other, np.nan_to_num(np.array(self.probability, dtype=np.float64)), 0.0)


def number_or_none(value: Any) -> float | None:
    """Return a finite number, or None."""
    return float(value) if value is not None and np.isfinite(value) else None


def text_or_none(value: Any) -> str | None:
    """Return a label or id as text, None if it is missing."""
    return None if is_unlabelled(value) else cleaned(str(value))


def _listed(values: Any) -> list[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _codes(labels: list[Any], place: dict[Any, int]) -> np.ndarray:
    return np.fromiter(
        (place.get(label, -1) for label in labels), dtype=np.int64, count=len(labels)
    )
