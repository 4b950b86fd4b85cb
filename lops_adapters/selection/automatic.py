"""Automatic: how much of each class to keep, and when to ask the probe, chosen from what the probe
shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import Selection
from lops_adapters.probes.base import Probe
from lops_adapters.selection.confidences.margin import margins
from lops_adapters.selection.folds import splits
from lops_adapters.selection.ranked import Scored, best, read_labels, selection_of, shares
from lops_adapters.selection.selectors import Labels
from lops_adapters.selection.suggestions import Seen

EARLY_LOOKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2)  # in epochs; then every epoch's end


@dataclass
class Automatic:
    """Keeps a pseudo-label if a probe that was not trained on this sample prefers it, class sizes
    aside.

    The samples are dealt into folds; for each a fresh probe is trained on the others and asked
    about it several times. A class's probability counts relative to its mean over the samples
    labelled so (their mean "self-confidence", the threshold of confident learning), since probes
    lean towards large and easy classes. A pseudo-label whose relative probability is the largest is
    kept: that is how much of each class. Of all looks the one counts at which most pseudo-labels
    are (the earlier of equals): before it the probe knows too little, after it it learns the wrong
    labels by heart.

    Classes with fewer samples than folds are kept whole and rival no others: the probes know too
    little of them.

    The confidence is the margin of relative probabilities scaled to sum to 1, in [-1, 1]: 0 and
    above is kept; with ``stratified`` as many in total (small classes aside), but the same share of
    every class, those with the largest margins. That leaves more wrong labels where classes differ
    in noise, and class sizes as they were, which a classifier that leans towards large classes may
    need more.

    Args:
        probe: trained afresh once a fold.
        seed: of folds and trainings.
        quiet: no progress bar.
        folds: 3 trainings on two thirds of the samples cost about two trainings on all.
        stratified: take the same share of every class.
        seen: told the relative probabilities, scaled to sum to 1, of all samples at the look that
            counts.

    """

    probe: Probe
    seed: int = 0
    quiet: bool = True
    folds: int = 3
    stratified: bool = False
    seen: Seen | None = None

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Predict out of sample and select.

        Raises:
            LopsError: fewer samples than folds, and what the probe raises.

        """
        classes, codes = read_labels(samples, pseudo_labels)
        counts = np.bincount(codes)
        looks = held_out(
            self.probe,
            samples,
            codes,
            len(classes),
            folds=self.folds,
            seed=self.seed,
            quiet=self.quiet,
        )
        small = counts < self.folds
        scores = np.stack(
            [relative_margins(probabilities, codes, small) for probabilities in looks.values()]
        )
        chosen = int((scores >= 0).sum(axis=1).argmax())
        mask = (scores[chosen] >= 0) | small[codes]
        why = "preferred by a probe that had not seen it"
        if self.stratified:
            wanted = np.where(small, counts, shares(codes, len(classes), int(mask.sum()), 1.0))
            mask = best(scores[chosen], codes, wanted, self.seed)
            why = "highest scores of its class, as large a share as is preferred of all classes by probes that had not seen it"
        if self.seen is not None:
            self.seen(relative(list(looks.values())[chosen], codes, small), None)
        reasons = ["too few samples, kept whole" if few else why for few in small]
        asked = f"after {list(looks)[chosen]:g} of {self.probe.max_epochs} epochs"
        when = f"{self.folds} trainings, each asked about what it had not seen, {asked}"
        return selection_of(
            mask, Scored(scores[chosen], None, when), classes, codes, "automatic", reasons
        )


def relative_margins(probabilities: np.ndarray, codes: np.ndarray, small: np.ndarray) -> np.ndarray:
    """Margins of the pseudo-labels, (n,) float64 in [-1, 1], of :func:`relative` probabilities;
    arguments as there.

    >>> relative_margins(np.array([[0.9, 0.1], [0.7, 0.3], [0.8, 0.2]]), np.array([0, 0, 1]), np.zeros(2, bool)).round(2).tolist()
    [0.38, -0.26, 0.0]
    """
    return margins(relative(probabilities, codes, small), codes)


def relative(probabilities: np.ndarray, codes: np.ndarray, small: np.ndarray) -> np.ndarray:
    """Probabilities relative to their class's mean self-confidence, (n, k) float64, scaled so that
    rows sum to 1.

    Args:
        probabilities: (n, k), out of sample.
        codes: (n,) int; every class occurs.
        small: (k,) bool, classes that rival no others.

    >>> relative(np.array([[0.9, 0.1], [0.7, 0.3], [0.8, 0.2]]), np.array([0, 0, 1]), np.zeros(2, bool)).round(2).tolist()
    [[0.69, 0.31], [0.37, 0.63], [0.5, 0.5]]
    """
    own = np.bincount(codes, weights=probabilities[np.arange(len(codes)), codes]) / np.bincount(
        codes
    )
    scaled = probabilities / np.maximum(own, 1e-12)
    rivals = np.where(small, 0.0, scaled)
    rivals[np.arange(len(codes)), codes] = scaled[np.arange(len(codes)), codes]
    return np.asarray(rivals / np.maximum(rivals.sum(axis=1, keepdims=True), 1e-12))


def held_out(
    probe: Probe,
    samples: Sequence[Any],
    codes: np.ndarray,
    n_classes: int,
    *,
    folds: int,
    seed: int,
    quiet: bool,
) -> dict[float, np.ndarray]:
    """Time in epochs -> (n, k) float32 probabilities, each row by a probe that trains on the other
    folds.

    A probe that stops early keeps its last predictions for the later times.

    Raises:
        LopsError: what :func:`lops_adapters.selection.folds.splits` and the probe raise.

    """
    times = [*EARLY_LOOKS, *(float(epoch) for epoch in range(1, probe.max_epochs + 1))]
    looks = {time: np.zeros((len(codes), n_classes), dtype=np.float32) for time in times}
    for rest, here in splits(samples, codes, n_classes, folds=folds, seed=seed, quiet=quiet):
        texts = [samples[i] for i in rest], [samples[i] for i in here]
        for time, probabilities in zip(
            times, _looks(probe, *texts, codes[rest], n_classes, seed, times), strict=True
        ):
            looks[time][here] = probabilities
    return looks


def _looks(
    probe: Probe,
    rest: list[Any],
    here: list[Any],
    codes: np.ndarray,
    n_classes: int,
    seed: int,
    times: Sequence[float],
) -> Iterator[np.ndarray]:
    """Train on ``rest`` and yield the predictions for ``here`` at each of the times, ascending."""
    prepared = probe.prepare(rest, fit=True)
    asked, waiting = probe.prepare(here), list(times)
    for update in probe.updates(prepared, codes, n_classes, seed):
        while waiting and update.done >= max(1, round(waiting[0] * update.per_epoch)):
            yield probe.predict_prepared(asked)
            waiting.pop(0)
    for _ in waiting:
        yield probe.predict_prepared(asked)
