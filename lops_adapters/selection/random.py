"""Random: a random choice of the size that another method keeps."""

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.ranked import Scored, Scorer, best, selection_of
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Select
from lops_adapters.selection.suggestions import Listener


def random_scorer(seed: int) -> Scorer:
    """Return a scorer whose scores are uniform random numbers in [0, 1)."""

    def scorer(labelled: Labelled, _: Listener | None = None) -> Scored:
        scores = np.random.default_rng(seed).random(len(labelled))
        return Scored(scores, None, "no probe was trained")

    return scorer


def make(request: Request) -> Select:
    """Return the method ``random``."""
    return request.ranked(random_scorer(request.seed))


def random_like(other: Selection, name: str, seed: int = 0) -> Select:
    """Return a method that keeps as many random samples per class as another selection.

    It is the control of that selection, made by the arm of this name. A class with fewer samples
    than that is kept whole, and the other classes give the rest.
    """

    def select(labelled: Labelled, _: Listener | None = None) -> Selection:
        classes, codes = labelled.classes, labelled.codes
        scored = random_scorer(seed)(labelled, None)
        reports = (other.per_class.get(label) for label in classes)
        n_kept = np.array([0 if report is None else report.kept for report in reports])
        mask = best(scored.scores, codes, n_kept, seed)
        rest = int(n_kept.sum() - mask.sum())
        mask |= best(np.where(mask, -np.inf, scored.scores), codes, rest, seed)
        why = f"random, as many as {name} keeps"
        return selection_of(mask, scored, classes, codes, "random", why)

    return select
