"""How a method is to select: the checked arguments of ``lops_adapters.selection.build``."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Probe
from lops_adapters.selection.methods.ranked import Scorer, best, selection_of, shares, total
from lops_adapters.selection.selectors import Labels, Select
from lops_adapters.selection.suggestions import Listener


def is_fraction(value: Any) -> bool:
    """Return whether a value is a number above 0 and at most 1."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    return bool(number and 0 < value <= 1)


@dataclass(frozen=True)
class Request:
    """The arguments of :func:`lops_adapters.selection.build` that are no data; see there."""

    method: str = "committee"
    given: Probe | None = None
    n: int | None = None
    keep: float | Mapping[Any, float] = 0.5
    every: int | None = None
    per_class: bool = False
    gold: Labels | None = None
    seed: int = 0
    quiet: bool = True
    strict: bool = False

    @property
    def probe(self) -> Probe:
        """The probe; LopsError if none was given."""
        if self.given is None:
            raise LopsError(f"{self.method} needs a probe; pass one, such as probe='linear'")
        return self.given

    def ranked(self, scorer: Scorer) -> Select:
        """Return what keeps the samples with the highest scores."""
        assert not isinstance(self.keep, Mapping)
        n, keep = self.n, self.keep

        def select(labelled: Labelled, listener: Listener | None = None) -> Selection:
            classes, codes = labelled.classes, labelled.codes
            scored = scorer(labelled, listener)
            if np.isnan(scored.scores).any():
                raise LopsError(
                    f"{self.method}: a score is NaN; the probe's training has diverged, "
                    "lower its learning rate"
                )
            n_kept: int | np.ndarray = total(len(codes), n, keep)
            if self.per_class:
                n_kept = shares(codes, len(classes), n, keep)
            mask = best(scored.scores, codes, n_kept, self.seed)
            over = "of the class" if self.per_class else "over all classes"
            return selection_of(mask, scored, classes, codes, self.method, f"highest scores {over}")

        return select
