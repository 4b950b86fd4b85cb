"""``keep="auto"``: the share of pseudo-labels that a held-out probe prefers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Probe
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.likelihoods import (
    LEAST_SKILL,
    class_shares,
    likelihoods,
    preferred,
    skill,
)
from lops_adapters.selection.committee.members import Learnt
from lops_adapters.selection.methods.ranked import Scored, selection_of
from lops_adapters.selection.suggestions import Listener

AUTO = "auto"
Keep = float | Mapping[Any, float]


@dataclass
class Preferred:
    """Keeps the pseudo-labels with the largest held-out likelihood.

    See :func:`~.likelihoods.likelihoods`. If the probe hardly agrees with
    the labels, it keeps all of them; it keeps all of a class with fewer samples than folds. The
    probe is trained from scratch once per fold.
    """

    probe: Probe
    seed: int = 0
    quiet: bool = True

    def __call__(self, labelled: Labelled, listener: Listener | None = None) -> Selection:
        """Predict held-out and select; LopsError if there are fewer samples than folds."""
        classes, codes = labelled.classes, labelled.codes
        folded = Folded.of(labelled, FOLDS, self.seed, self.quiet)
        of_labels = class_shares(codes, len(classes), FOLDS)
        likely = likelihoods(Learnt("the probe", self.probe).score(folded), of_labels)
        mask = preferred(likely, codes) | np.isinf(of_labels)[codes]
        if skill(likely, codes) < LEAST_SKILL:
            mask[:] = True
        score = likely[np.arange(len(codes)), codes]
        scored = Scored(score, None, f"{FOLDS}-fold cross-validation")
        return selection_of(mask, scored, classes, codes, "preferred", "held-out probe prefers it")


def auto_keep(
    share: Callable[..., Selection],
    make: Callable[[Keep], Callable[..., Selection]],
    per_class: bool = False,
) -> Callable[..., Selection]:
    """Return a method, or a selector, that finds the fraction to keep and selects with it.

    The fraction is the share that ``share`` keeps, usually :class:`Preferred`: of all
    samples, or per class, so that classes with more wrong labels keep less. Of fewer samples than
    folds, which cannot be predicted held-out, all are kept.
    """

    def select(samples: Sequence[Any] | Labelled, *labels: Any) -> Selection:
        fraction, why = 1.0, "too few samples"
        shares: Keep = 1.0
        if len(samples) >= FOLDS:
            agreed = share(samples, *labels)
            shares = fraction = max(1, len(agreed.kept)) / len(agreed.mask)
            why = agreed.stopped
            if per_class:
                # Half a sample less, so that rounding up gives the number kept, and at least one.
                shares = {
                    label: max(0.5, report.kept - 0.5) / report.count
                    for label, report in agreed.per_class.items()
                }
        selection = make(shares)(samples, *labels)
        each = " on average" if per_class and len(samples) >= FOLDS else ""
        selection.stopped = f"keep {fraction:.3f}{each} by {why}; {selection.stopped}"
        return selection

    return select
