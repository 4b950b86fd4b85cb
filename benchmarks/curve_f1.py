"""F1 of classifiers trained on the best samples, for ``benchmarks.curves``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.curve_scores import Task
from benchmarks.nc_curves import kept_numbers
from lops_adapters.evaluation import Evaluator
from lops_adapters.labels.labelled import Labelled
from lops_adapters.runs.classifiers import build_classifier
from lops_adapters.selection import METHODS
from lops_adapters.selection.methods.ranked import best, shares, total

Wanted = tuple[str, float, Callable[[], np.ndarray]]


@dataclass(frozen=True)
class Cuts:
    """Which samples classifiers are trained on.

    Attributes:
        of: confidences whose best shares are used.
        even: whether each is also used with the same share of every class.
        coverages: the shares.
        thresholds: on the probability; if there are any, each epoch t of T is a threshold 1 - t/T
            on the learning order, too.
        epochs: of the watched training.

    """

    of: Sequence[str]
    even: bool
    coverages: Sequence[float]
    thresholds: Sequence[float]
    epochs: int


def f1_rows(
    task: Task, scores: Mapping[str, np.ndarray], cuts: Cuts, gold: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Train a classifier per cut and yield its scores.

    Args:
        task: what is measured.
        scores: (n,) by confidence, and ``learnt at``.
        cuts: which samples to train on; cuts with fewer than two classes are left out.
        gold: gold labels of all documents.

    """
    evaluator = Evaluator(gold)
    for name, value, mask_of in _wanted(task, scores, cuts):
        mask = mask_of()
        if len(np.unique(task.codes[mask])) < 2:
            continue
        stage = f"f1-{name}-{value:g}".replace(" ", "-")
        arrays, seconds = task.run.stage(stage, partial(_classified, task, mask))
        predicted = np.array(task.corpus.classes, dtype=object)[arrays["predicted"]]
        kept = kept_numbers(mask, task.codes, task.gold)
        row = {"by": name, "at": value, **kept, **evaluator.scores(predicted)}
        yield {**row, "seconds": seconds}


def _wanted(task: Task, scores: Mapping[str, np.ndarray], cuts: Cuts) -> Iterator[Wanted]:
    """Yield name, share or threshold, and what makes the (n,) bool mask."""
    if cuts.coverages or cuts.thresholds:
        yield "all", 1.0, partial(np.ones, len(task.codes), dtype=bool)
    for name in cuts.of:
        for share in cuts.coverages:
            yield name, share, partial(_best_share, task, scores[name], share, _is_even(name))
            if cuts.even and not _is_even(name):
                mask_of = partial(_best_share, task, scores[name], share, True)
                yield f"{name}, per class", share, mask_of
    for limit in cuts.thresholds:
        yield "probability above", limit, partial(np.greater_equal, scores["probability"], limit)
    for epoch in range(1, cuts.epochs + 1) if cuts.thresholds else ():
        limit = 1 - epoch / cuts.epochs
        yield "learning order above", limit, partial(np.less_equal, scores["learnt at"], epoch)


def _is_even(name: str) -> bool:
    """Return whether a confidence's method keeps the same share of every class."""
    return bool(METHODS[name.partition(",")[0]].per_class)


def _best_share(task: Task, scores: np.ndarray, share: float, even: bool) -> np.ndarray:
    """Return the (n,) bool mask of the best share, of every class if ``even``."""
    labelled = Labelled.of(task.samples, task.labels.labels)
    classes, codes = labelled.classes, labelled.codes
    if even:
        return best(scores, codes, shares(codes, len(classes), None, share), task.seed)
    return best(scores, codes, total(len(codes), None, share), task.seed)


def _classified(task: Task, mask: np.ndarray) -> dict[str, np.ndarray]:
    classifier = build_classifier(task.settings, task.device, quiet=task.quiet)
    kept = [task.samples[i] for i in np.flatnonzero(mask)]
    classifier.fit(kept, task.codes[mask], len(task.corpus.classes), seed=task.seed)
    return {"predicted": classifier.predict_proba(task.corpus.texts).argmax(axis=1)}
