"""Baselines, which keep everything or random samples, and the upper bound by gold labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.methods.ranked import Scored, best, selection_of
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Select, encode, values
from lops_adapters.selection.suggestions import Listener

_UNTRAINED = "no probe was trained"


def keep_all(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
    """Keep everything: the Standard arm.

    >>> keep_all(["a", "b"], ["x", "y"]).kept.tolist()
    [0, 1]
    """
    if len(samples) != len(pseudo_labels):
        raise LopsError(
            f"found {len(samples)} samples and {len(pseudo_labels)} pseudo-labels; wanted one per "
            "sample"
        )
    labels = values(pseudo_labels)
    classes, scores = list(dict.fromkeys(labels)), np.zeros(len(samples))
    codes, why = encode(labels, classes), "everything is kept"
    return selection_of(
        scores == 0, Scored(scores, None, _UNTRAINED), classes, codes, "standard", why
    )


def make_standard(request: Request) -> Select:
    """Return the method ``standard``."""
    return lambda labelled, listener=None: keep_all(labelled.samples, labelled.labels)


def _random(n: int, seed: int) -> Scored:
    """Return n uniform random numbers in [0, 1) as scores."""
    return Scored(np.random.default_rng(seed).random(n), None, _UNTRAINED)


def make_random(request: Request) -> Select:
    """Return the method ``random``."""
    return request.ranked(lambda labelled, _: _random(len(labelled), request.seed))


def random_like(other: Selection, name: str, seed: int = 0) -> Select:
    """Return a method that keeps as many random samples per class as another selection.

    It is the control of that selection, made by the arm of this name. A class with fewer samples
    than that is kept whole, and the other classes give the rest.
    """

    def select(labelled: Labelled, _: Listener | None = None) -> Selection:
        classes, codes = labelled.classes, labelled.codes
        scored = _random(len(labelled), seed)
        reports = (other.per_class.get(label) for label in classes)
        n_kept = np.array([0 if report is None else report.kept for report in reports])
        mask = best(scored.scores, codes, n_kept, seed)
        rest = int(n_kept.sum() - mask.sum())
        mask |= best(np.where(mask, -np.inf, scored.scores), codes, rest, seed)
        why = f"random, as many as {name} keeps"
        return selection_of(mask, scored, classes, codes, "random", why)

    return select


def make_optimal(request: Request) -> Select:
    """Return the method ``optimal`` (the paper's OptimalFilter); no other sees gold labels.

    It keeps every sample whose pseudo-label is its gold label; the confidence is 1 or 0. When
    selecting, another number of gold labels than of samples is a LopsError.
    """
    gold: Labels = request.gold

    def select(labelled: Labelled, _: Listener | None = None) -> Selection:
        classes, codes = labelled.classes, labelled.codes
        if len(gold) != len(codes):
            raise LopsError(
                f"found {len(gold)} gold labels and {len(codes)} samples; "
                "wanted one gold label per sample, in order"
            )
        pairs = zip(labelled.labels, values(gold), strict=True)
        right = np.array([label == truth for label, truth in pairs], dtype=bool)
        scored = Scored(right.astype(np.float64), None, "compared with gold labels")
        why = "pseudo-label is the gold label"
        return selection_of(right, scored, classes, codes, "optimal", why)

    return select
