"""What a method's ``make`` is given: the checked arguments of ``lops_adapters.selection.build``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.labels.votes import Votes
from lops_adapters.probes.base import Probe
from lops_adapters.selection.ranked import Scorer, best, read_labels, selection_of, shares, total
from lops_adapters.selection.selectors import Labels, Selector
from lops_adapters.selection.suggestions import Moved, Seen


def is_fraction(value: Any) -> bool:
    """Return whether a value is a number above 0 and at most 1."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    return bool(number and 0 < value <= 1)


@dataclass(frozen=True)
class Request:
    """The arguments of :func:`lops_adapters.selection.build`; see there."""

    method: str = "committee"
    given: Probe | None = None
    n: int | None = None
    keep: float | Mapping[Any, float] = 0.5
    every: int | None = None
    per_class: bool = False
    gold: Labels | None = None
    seed: int = 0
    quiet: bool = True
    seen: Seen | None = None
    strict: bool = False
    checked: Mapping[int, Any] = field(default_factory=dict)
    votes: Votes | None = None
    groups: np.ndarray | None = None

    @property
    def probe(self) -> Probe:
        """The probe; LopsError if none was given."""
        if self.given is None:
            raise LopsError(f"{self.method} needs a probe; pass one, such as probe='linear'")
        return self.given

    def sorted_by(self, order: np.ndarray) -> Request:
        """Return the request for samples sorted by the (n,) int64 ``order``.

        Raises:
            LopsError: a checked row that is not there.

        """
        outside = [position for position in self.checked if not 0 <= position < len(order)]
        if outside:
            raise LopsError(
                f"checked holds the position {outside[0]} for {len(order)} samples; wanted "
                f"positions from 0 to {len(order) - 1}"
            )
        place = np.argsort(order)
        return replace(
            self,
            seen=None if self.seen is None else Moved(self.seen, order),
            checked={int(place[row]): label for row, label in self.checked.items()},
            votes=None if self.votes is None else self.votes.at(order),
            groups=None if self.groups is None else self.groups[order],
        )

    def ranked(self, scorer: Scorer) -> Selector:
        """Return a selector that keeps the samples with the highest scores.

        The codes that the scorer gets are places among the sorted distinct pseudo-labels.
        """
        assert not isinstance(self.keep, Mapping)
        n, keep = self.n, self.keep

        def selector(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
            classes, codes = read_labels(samples, pseudo_labels)
            scored = scorer(samples, codes, len(classes))
            if np.isnan(scored.scores).any():
                raise LopsError(
                    f"{self.method}: a score is NaN; the probe's training has diverged, "
                    "lower its learning rate"
                )
            wanted: int | np.ndarray = total(len(codes), n, keep)
            if self.per_class:
                wanted = shares(codes, len(classes), n, keep)
            mask = best(scored.scores, codes, wanted, self.seed)
            over = "of the class" if self.per_class else "over all classes"
            return selection_of(mask, scored, classes, codes, self.method, f"highest scores {over}")

        return selector
