"""Confident learning: label errors found from out-of-sample probabilities, through cleanlab."""

from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.committee.folds import Folded, held_out
from lops_adapters.selection.methods.ranked import Scored, best, selection_of, shares
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Select
from lops_adapters.selection.suggestions import Listener

_UNFLAGGED = "not flagged as a label error"


def make(request: Request, folds: int = 5) -> Select:
    """Return the method ``confident-learning``.

    It keeps what cleanlab does not flag as a label error, or the n samples of highest quality.
    Label quality is the out-of-sample probability of the pseudo-label, cleanlab's
    "self-confidence". Source: Northcutt, Jiang and Chuang, JAIR 2021 (confident learning); flags by
    cleanlab's default rule, pruning by noise rate. ``listener`` receives the out-of-sample
    probabilities of all samples.

    Raises a LopsError if there is no probe or no cleanlab; when selecting, of fewer samples than
    folds.
    """
    probe = request.probe
    _cleanlab("filter")
    last = float(probe.max_epochs)

    def predict(labelled: Labelled, listener: Listener | None) -> np.ndarray:
        folded = Folded.of(labelled, folds, request.seed, request.quiet)
        probabilities = held_out(probe, folded, [last])[last].astype(np.float64)
        if listener is not None:
            listener(probabilities, None)
        return probabilities

    def scored(codes: np.ndarray, probabilities: np.ndarray) -> Scored:
        rank = _cleanlab("rank").get_label_quality_scores
        quality = rank(codes, probabilities, method="self_confidence")
        stopped = f"{folds}-fold cross-validation"
        return Scored(np.asarray(quality, dtype=np.float64), None, stopped)

    def unflagged(labelled: Labelled, listener: Listener | None = None) -> Selection:
        classes, codes = labelled.classes, labelled.codes
        probabilities = predict(labelled, listener)
        mask = ~_cleanlab("filter").find_label_issues(codes, probabilities, n_jobs=1)
        quality, why = scored(codes, probabilities), _UNFLAGGED
        if request.per_class:
            n_kept = shares(codes, len(classes), int(mask.sum()), 1.0)
            mask = best(quality.scores, codes, n_kept, request.seed)
            why = "highest quality of the class, total set by the flags"
        return selection_of(mask, quality, classes, codes, request.method, why)

    if request.n is None:
        return unflagged
    return request.ranked(lambda labelled, hear: scored(labelled.codes, predict(labelled, hear)))


def _cleanlab(module: str) -> Any:
    return extras.load(f"cleanlab.{module}", "Confident learning")
