"""Confident learning: label errors found from out-of-sample probabilities, through cleanlab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import Selection
from lops_adapters.selection.folds import Labelled
from lops_adapters.selection.held_out import held_out
from lops_adapters.selection.ranked import Scored, best, read_labels, selection_of, shares
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector

_UNFLAGGED = "not flagged as a label error"


def make(request: Request, folds: int = 5) -> Selector:
    """Return the selector of ``confident-learning``.

    It keeps what cleanlab does not flag as a label error, or the n samples of highest quality.
    Label quality is the out-of-sample probability of the pseudo-label, cleanlab's
    "self-confidence". Source: Northcutt, Jiang and Chuang, JAIR 2021 (confident learning); flags by
    cleanlab's default rule, pruning by noise rate. ``seen`` receives the out-of-sample
    probabilities of all samples.

    Raises a LopsError if there is no probe or no cleanlab; when selecting, of fewer samples than
    folds.
    """
    probe = request.probe
    _cleanlab("filter")
    last = float(probe.max_epochs)

    def predict(samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> np.ndarray:
        classes = range(n_classes)
        labelled = Labelled(samples, codes, classes, folds, request.seed, request.quiet)
        probabilities = held_out(probe, labelled, [last])[last].astype(np.float64)
        if request.seen is not None:
            request.seen(probabilities, None)
        return probabilities

    def scored(codes: np.ndarray, probabilities: np.ndarray) -> Scored:
        rank = _cleanlab("rank").get_label_quality_scores
        quality = rank(codes, probabilities, method="self_confidence")
        stopped = f"{folds}-fold cross-validation"
        return Scored(np.asarray(quality, dtype=np.float64), None, stopped)

    def unflagged(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        classes, codes = read_labels(samples, pseudo_labels)
        probabilities = predict(samples, codes, len(classes))
        mask = ~_cleanlab("filter").find_label_issues(codes, probabilities, n_jobs=1)
        quality, why = scored(codes, probabilities), _UNFLAGGED
        if request.per_class:
            wanted = shares(codes, len(classes), int(mask.sum()), 1.0)
            mask = best(quality.scores, codes, wanted, request.seed)
            why = "highest quality of the class, total set by the flags"
        return selection_of(mask, quality, classes, codes, request.method, why)

    if request.n is None:
        return unflagged
    return request.ranked(lambda samples, codes, k: scored(codes, predict(samples, codes, k)))


def _cleanlab(module: str) -> Any:
    return extras.load(f"cleanlab.{module}", "Confident learning")
