"""What a method's ``make`` is given: the checked arguments of ``lops_adapters.selection.build``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe
from lops_adapters.selection.ranked import Ranked, Scorer
from lops_adapters.selection.selectors import Labels, Selector
from lops_adapters.selection.sources import Votes
from lops_adapters.selection.suggestions import Seen


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

    def ranked(self, scorer: Scorer) -> Selector:
        """Return a selector that keeps the samples with the highest scores."""
        assert not isinstance(self.keep, Mapping)
        return Ranked(self.method, scorer, self.n, self.keep, self.per_class, self.seed)
