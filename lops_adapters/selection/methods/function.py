"""Any function of (samples, pseudo-labels) as a selector."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.choice import Choice, is_fraction
from lops_adapters.selection.method import Method
from lops_adapters.selection.methods.ranked import best, shares, total
from lops_adapters.selection.outcome import Outcome
from lops_adapters.selection.selectors import Labels

Function = Callable[[Sequence[Any], Labels], Any]


@dataclass(frozen=True)
class FunctionSelector:
    """A selector that asks a function what to keep.

    Args:
        function: takes n samples and n pseudo-labels, and returns an (n,) bool mask, True: keep; or
            the int positions to keep; or (n,) float scores, higher is more trusted.
        keep: fraction to keep, of scores: the highest, rounded up.
        per_class: keep the same share of every class, of scores.
        seed: of ties.
        name: becomes the rule of the selection.

    >>> longest = FunctionSelector(lambda texts, labels: [float(len(text)) for text in texts])
    >>> longest(["a", "abc", "ab", "abcd"], ["x", "x", "y", "y"]).kept.tolist()
    [1, 3]
    """

    function: Function
    keep: float = 0.5
    per_class: bool = False
    seed: int = 0
    name: str = "function"

    def __post_init__(self) -> None:
        if not is_fraction(self.keep):
            raise LopsError(f"keep is {self.keep!r:.80}; wanted a fraction above 0 and at most 1")

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Select.

        Raises:
            LopsError: labels that cannot be read, and an answer that is neither mask, positions
                nor scores of these samples.
        """
        labelled = Labelled.of(samples, pseudo_labels)
        return self.outcome(labelled).selection(labelled.classes)

    def outcome(self, labelled: Labelled) -> Outcome:
        """Select among samples whose labels are read; raises as a call."""
        codes = labelled.codes
        answer = np.asarray(self.function(labelled.samples, labelled.labels))
        mask, scores = self._read(answer, codes)
        why = f"selected by {self.name}"
        k = len(labelled.classes)
        return Outcome.of(mask, scores, codes, k, rule=self.name, stopped=why, why=why)

    def _read(self, answer: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, kind = len(codes), answer.dtype.kind
        if kind in "iu" or not answer.size:
            mask = np.zeros(n, dtype=bool)
            if answer.ndim != 1 or (answer.size and not 0 <= answer.min() <= answer.max() < n):
                raise self._wrong(answer, n)
            mask[answer.astype(np.int64)] = True
            return mask, mask.astype(np.float64)
        if answer.shape != (n,) or kind not in "bf" or np.isnan(answer).any():
            raise self._wrong(answer, n)
        scores = answer.astype(np.float64)
        if kind == "b":
            return answer, scores
        n_kept: int | np.ndarray = total(n, None, self.keep)
        if self.per_class:
            n_kept = shares(codes, int(codes.max()) + 1, None, self.keep)
        return best(scores, codes, n_kept, self.seed), scores

    def _wrong(self, answer: np.ndarray, n: int) -> LopsError:
        nan = " with NaN" if answer.dtype.kind == "f" and np.isnan(answer).any() else ""
        return LopsError(
            f"{self.name} returned shape {answer.shape} and type {answer.dtype}{nan}; wanted {n} "
            f"truth values, {n} numbers with a point, or positions from 0 to {n - 1}"
        )


@dataclass(frozen=True)
class FunctionMethod(Method):
    """A method that asks a function what to keep, as :class:`FunctionSelector` does.

    Attributes:
        function: see :class:`FunctionSelector`.
    """

    function: Function = field(kw_only=True)

    needs_probe, texts, takes_n = False, True, False

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        asked = choice.keep, bool(choice.per_class), choice.seed
        return FunctionSelector(self.function, *asked, self.name).outcome(labelled)
