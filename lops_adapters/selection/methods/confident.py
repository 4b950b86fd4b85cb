"""Confident learning: label errors found from out-of-sample probabilities, through cleanlab."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters import extras
from lops_adapters.labels.labelled import Labelled
from lops_adapters.selection.choice import Choice
from lops_adapters.selection.committee.folds import Folded, predict_held_out
from lops_adapters.selection.method import Method, option
from lops_adapters.selection.methods.ranked import best, keep_best, shares
from lops_adapters.selection.outcome import Outcome, Predicted


@dataclass(frozen=True)
class ConfidentLearning(Method):
    """Keeps what cleanlab does not flag as a label error, or the n samples of highest quality.

    Label quality is the out-of-sample probability of the pseudo-label, cleanlab's
    "self-confidence". Source: Northcutt, Jiang and Chuang, JAIR 2021 (confident learning); flags by
    cleanlab's default rule, pruning by noise rate.
    """

    folds: int = option(5)

    takes_keep, validates = False, True

    def check_probe(self, choice: Choice) -> None:
        super().check_probe(choice)
        _cleanlab("filter")

    def __call__(self, labelled: Labelled, choice: Choice) -> Outcome:
        """Select; a LopsError: fewer samples than folds."""
        probe, codes, k = choice.classifier, labelled.codes, len(labelled.classes)
        last = float(probe.max_epochs)
        folded = Folded.of(labelled, self.folds, choice.seed, choice.quiet)
        probabilities = predict_held_out(probe, folded, [last])[last].astype(np.float64)
        rank = _cleanlab("rank").get_label_quality_scores
        quality = np.asarray(rank(codes, probabilities, method="self_confidence"), np.float64)
        predicted, stopped = Predicted.of(probabilities), f"{self.folds}-fold cross-validation"
        if choice.n is not None:
            return keep_best(labelled, choice, quality, stopped, predicted=predicted)
        mask = ~_cleanlab("filter").find_label_issues(codes, probabilities, n_jobs=1)
        why = "not flagged as a label error"
        if choice.per_class:
            n_kept = shares(codes, k, int(mask.sum()), 1.0)
            mask = best(quality, codes, n_kept, choice.seed)
            why = "highest quality of the class, total set by the flags"
        return Outcome.of(
            mask, quality, codes, k, rule=self.name, stopped=stopped, why=why, predicted=predicted
        )


def _cleanlab(module: str) -> Any:
    return extras.load(f"cleanlab.{module}", "Confident learning")
