"""``keep="auto"``: the share of pseudo-labels that a held-out probe prefers."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.base import Probe
from lops_adapters.selection.canonical import in_content_order
from lops_adapters.selection.choice import Keep
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.likelihoods import LEAST_SKILL, likelihoods, preferred, skill
from lops_adapters.selection.committee.members import Learnt
from lops_adapters.selection.outcome import Outcome
from lops_adapters.selection.selectors import Labels, Selector


class Share(NamedTuple):
    """What to keep, a fraction or class -> fraction, and a sentence about it."""

    keep: Keep
    why: str


def agreed_share(
    labelled: Labelled, probe: Probe, seed: int, quiet: bool = True, by_class: bool = False
) -> Share:
    """Return the share of pseudo-labels that a held-out probe prefers.

    Of all samples; or, ``by_class``, of each class, so that classes with more wrong labels keep
    less. Of fewer samples than folds, which cannot be predicted held-out, all are kept. The seed is
    that of the folds.
    """
    if len(labelled) < FOLDS:
        return Share(1.0, "keep 1.000 by too few samples")
    ordered, places = in_content_order(labelled, seed)
    agreed = prefer(ordered, probe, seed, quiet).at(places)
    fraction = max(1, int(agreed.mask.sum())) / len(agreed.mask)
    if not by_class:
        return Share(fraction, f"keep {fraction:.3f} by {agreed.stopped}")
    # Half a sample less, so that rounding up gives the number kept, and at least one.
    shares = {
        label: max(0.5, report.kept - 0.5) / report.count
        for label, report in zip(labelled.classes, agreed.reports, strict=True)
    }
    return Share(shares, f"keep {fraction:.3f} on average by {agreed.stopped}")


def auto_keep(
    make: Callable[[Keep], Selector],
    probe: Probe,
    seed: int,
    *,
    by_class: bool = False,
    texts: Callable[[Sequence[Any]], Sequence[Any]] | None = None,
) -> Selector:
    """Return a selector made for :func:`agreed_share`; ``texts``: of the samples."""

    def selector(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        labelled = Labelled.of(samples if texts is None else texts(samples), pseudo_labels)
        share = agreed_share(labelled, probe, seed, by_class=by_class)
        selection = make(share.keep)(samples, pseudo_labels)
        selection.stopped = f"{share.why}; {selection.stopped}"
        return selection

    return selector


def prefer(labelled: Labelled, probe: Probe, seed: int = 0, quiet: bool = True) -> Outcome:
    """Keep the pseudo-labels with the largest held-out likelihood.

    See :func:`~.likelihoods.likelihoods`. If the probe hardly agrees with the labels, it keeps all
    of them; it keeps all of a class with fewer samples than folds. The probe is trained from
    scratch once per fold.
    """
    classes, codes = labelled.classes, labelled.codes
    folded = Folded.of(labelled, FOLDS, seed, quiet)
    of_labels = folded.shares
    likely = likelihoods(folded.shared(Learnt("the probe", probe).score(folded)), of_labels)
    mask = preferred(likely, codes) | np.isinf(of_labels)[codes]
    if skill(likely, codes) < LEAST_SKILL:
        mask[:] = True
    score = likely[np.arange(len(codes)), codes]
    return Outcome.of(
        mask, score, codes, len(classes),
        rule="preferred", stopped=f"{FOLDS}-fold cross-validation", why="held-out probe prefers it",
    )  # fmt: skip
