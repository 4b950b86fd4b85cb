"""Confident learning: label errors found from out-of-sample probabilities, through cleanlab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import Selection
from lops_adapters.selection.held_out import held_out
from lops_adapters.selection.ranked import Scored, best, read_labels, selection_of, shares
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector

_UNFLAGGED = "not flagged as a label error"


@dataclass
class ConfidentLearning:
    """Keeps what cleanlab does not flag as a label error, or the n samples of highest quality.

    Label quality is the out-of-sample probability of the pseudo-label, cleanlab's
    "self-confidence". Source: Northcutt, Jiang and Chuang, JAIR 2021 (confident learning); flags by
    cleanlab's default rule, pruning by noise rate.

    Args:
        request: probe, ``n``, ``per_class``, seed and bars, see
            :func:`lops_adapters.selection.build`; ``seen`` receives the out-of-sample probabilities
            of all samples.
        folds: number of folds of the cross-validation.

    """

    request: Request
    folds: int = 5

    def __post_init__(self) -> None:
        self._probe = self.request.probe  # or an error at once
        _cleanlab("filter")

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Predict out of sample and select.

        Raises:
            LopsError: fewer samples than folds, and what the probe raises.

        """
        asked = self.request
        if asked.n is not None:
            return asked.ranked(self._score)(samples, pseudo_labels)
        classes, codes = read_labels(samples, pseudo_labels)
        probabilities = self._predict(samples, codes, len(classes))
        flagged = _cleanlab("filter").find_label_issues(codes, probabilities, n_jobs=1)
        scored, mask, why = self._scored(codes, probabilities), ~flagged, _UNFLAGGED
        if asked.per_class:
            wanted = shares(codes, len(classes), int(mask.sum()), 1.0)
            mask = best(scored.scores, codes, wanted, asked.seed)
            why = "highest quality of the class, total set by the flags"
        return selection_of(mask, scored, classes, codes, asked.method, why)

    def _score(self, samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> Scored:
        return self._scored(codes, self._predict(samples, codes, n_classes))

    def _predict(self, samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> np.ndarray:
        asked, last = self.request, float(self._probe.max_epochs)
        cutting: dict[str, Any] = {"folds": self.folds, "seed": asked.seed, "quiet": asked.quiet}
        looks = held_out(self._probe, samples, codes, n_classes, times=[last], **cutting)
        probabilities = looks[last].astype(np.float64)
        if asked.seen is not None:
            asked.seen(probabilities, None)
        return probabilities

    def _scored(self, codes: np.ndarray, probabilities: np.ndarray) -> Scored:
        rank = _cleanlab("rank").get_label_quality_scores
        quality = rank(codes, probabilities, method="self_confidence")
        stopped = f"{self.folds}-fold cross-validation"
        return Scored(np.asarray(quality, dtype=np.float64), None, stopped)


def make(request: Request, **options: Any) -> Selector:
    """Return the selector of ``confident-learning``."""
    return ConfidentLearning(request, **options)


def _cleanlab(module: str) -> Any:
    return extras.load(f"cleanlab.{module}", "Confident learning")
