"""Confident learning: label errors found from out-of-sample probabilities, through cleanlab."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.core import Selection
from lops_adapters.probes.base import Probe
from lops_adapters.selection.folds import out_of_sample
from lops_adapters.selection.ranked import Ranked, Scored, best, read_labels, selection_of, shares
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector
from lops_adapters.selection.suggestions import Seen

_NAME = "confident-learning"
_UNFLAGGED = "not flagged as a label error"


@dataclass
class ConfidentLearning:
    """Keeps what cleanlab does not flag as a label error, or the n samples of highest quality.

    Label quality is the out-of-sample probability of the pseudo-label, cleanlab's
    "self-confidence". Source: Northcutt, Jiang and Chuang, JAIR 2021 (confident learning); flags by
    cleanlab's default rule, pruning by noise rate.

    Args:
        probe: trained from scratch once per fold.
        n: how many to keep. Default: all that are not flagged.
        per_class: keep the same share of every class.
        seed: of folds and trainings.
        quiet: no progress bar.
        folds: number of folds of the cross-validation.
        seen: receives the out-of-sample probabilities of all samples.

    """

    probe: Probe
    n: int | None = None
    per_class: bool = False
    seed: int = 0
    quiet: bool = True
    folds: int = 5
    seen: Seen | None = None

    def __post_init__(self) -> None:
        _cleanlab("filter")

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Predict out of sample and select.

        Raises:
            LopsError: fewer samples than folds, and what the probe raises.

        """
        if self.n is not None:
            ranked = Ranked(_NAME, self._score, self.n, 1.0, self.per_class, self.seed)
            return ranked(samples, pseudo_labels)
        classes, codes = read_labels(samples, pseudo_labels)
        probabilities = self._predict(samples, codes, len(classes))
        flagged = _cleanlab("filter").find_label_issues(codes, probabilities, n_jobs=1)
        scored, mask, why = self._scored(codes, probabilities), ~flagged, _UNFLAGGED
        if self.per_class:
            wanted = shares(codes, len(classes), int(mask.sum()), 1.0)
            mask = best(scored.scores, codes, wanted, self.seed)
            why = "highest quality of the class, total set by the flags"
        return selection_of(mask, scored, classes, codes, _NAME, why)

    def _score(self, samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> Scored:
        return self._scored(codes, self._predict(samples, codes, n_classes))

    def _predict(self, samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> np.ndarray:
        cutting: dict[str, Any] = {"folds": self.folds, "seed": self.seed, "quiet": self.quiet}
        probabilities = out_of_sample(self.probe, samples, codes, n_classes, **cutting)
        if self.seen is not None:
            self.seen(probabilities, None)
        return probabilities

    def _scored(self, codes: np.ndarray, probabilities: np.ndarray) -> Scored:
        rank = _cleanlab("rank").get_label_quality_scores
        quality = rank(codes, probabilities, method="self_confidence")
        stopped = f"{self.folds}-fold cross-validation"
        return Scored(np.asarray(quality, dtype=np.float64), None, stopped)


def make(request: Request, **options: Any) -> Selector:
    """Return the selector of ``confident-learning``."""
    return ConfidentLearning(
        request.probe,
        request.n,
        request.per_class,
        request.seed,
        request.quiet,
        seen=request.seen,
        **options,
    )


def _cleanlab(module: str) -> Any:
    return extras.load(f"cleanlab.{module}", "Confident learning")
