"""Gold labels and the scores against them; every score is None without gold labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from lops_adapters.evaluation.noise import check_aligned, noise


class Evaluator:
    """Compares with gold labels; every result is None without them.

    Args:
        gold: n strings, or None; the gold labels, in the order of the corpus.
        checked: position of a document -> its class by a person, None: none of them.

    >>> Evaluator(["a", "b", "b"]).noise([0, 2], ["a", "a"])
    0.5
    >>> Evaluator(None).noise([0], ["a"]) is None
    True
    """

    def __init__(
        self,
        gold: Sequence[str] | np.ndarray | None,
        checked: Mapping[int, str | None] = MappingProxyType({}),
    ) -> None:
        self.checked = checked
        self._gold = None if gold is None else np.array(gold, dtype=object)

    def at(self, positions: np.ndarray) -> Evaluator:
        """Return the evaluator of some of the documents, in this order.

        >>> everything = Evaluator(["a", "b", "b"])
        >>> everything.at(np.array([1, 2])).scores(["b", "b"])["micro_f1"]
        1.0
        """
        known = self._gold is not None and len(positions)
        gold = self._gold[positions] if known else None  # type: ignore[index]
        checked = enumerate(positions.tolist())
        checked_labels = {i: self.checked[row] for i, row in checked if row in self.checked}
        return Evaluator(gold, checked_labels)

    def noise(
        self, positions: Sequence[int] | np.ndarray, pseudo_labels: Sequence[str] | np.ndarray
    ) -> float | None:
        """Return the fraction of wrong pseudo-labels at these positions.

        None without gold labels or without positions.
        """
        if self._gold is None or not len(positions):
            return None
        return float(noise(pseudo_labels, self._gold[np.asarray(positions)]))

    def scores(self, predicted: Sequence[str] | np.ndarray) -> dict[str, float | None]:
        """Return micro and macro-F1 over all documents, in [0, 1].

        A class that is neither a gold label nor predicted is left out.

        >>> Evaluator(None).scores(["a"])
        {'micro_f1': None, 'macro_f1': None}
        """
        if self._gold is None:
            return {"micro_f1": None, "macro_f1": None}
        from sklearn.metrics import accuracy_score, f1_score

        check_aligned(gold=self._gold, predicted=np.asarray(predicted))
        macro = f1_score(self._gold, predicted, average="macro", zero_division=0)
        return {"micro_f1": float(accuracy_score(self._gold, predicted)), "macro_f1": float(macro)}
