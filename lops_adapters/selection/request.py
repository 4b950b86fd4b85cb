"""What a method's ``make`` is given: the checked arguments of ``lops_adapters.selection.build``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe
from lops_adapters.selection.ranked import Ranked, Scorer
from lops_adapters.selection.selectors import Labels, Selector
from lops_adapters.selection.suggestions import Seen


@dataclass(frozen=True)
class Request:
    """The arguments of :func:`lops_adapters.selection.build`; see there."""

    name: str
    given: Probe | None
    n: int | None
    tau: float | Mapping[Any, float]
    rule: str
    every: int | None
    stratified: bool
    gold: Labels | None
    seed: int
    quiet: bool
    seen: Seen | None
    strict: bool

    @property
    def probe(self) -> Probe:
        """The probe; LopsError if none was given."""
        if self.given is None:
            raise LopsError(f"{self.name} needs a probe; pass one, such as probe='linear'")
        return self.given

    def ranked(self, scorer: Scorer) -> Selector:
        """Return a selector that keeps the samples with the highest scores."""
        assert not isinstance(self.tau, Mapping)
        return Ranked(self.name, scorer, self.n, self.tau, self.stratified, self.seed)
