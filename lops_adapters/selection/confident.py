"""Confident learning: label errors found from out-of-sample probabilities, through cleanlab."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.probes.base import Probe
from lops_adapters.selection.folds import out_of_sample
from lops_adapters.selection.ranked import Ranked, Scored, read_labels, selection_of
from lops_adapters.selection.selectors import Labels
from lops_adapters.selection.suggestions import Seen


@dataclass
class ConfidentLearning:
    """Keeps what cleanlab does not flag as a label error, or the n samples of the highest label
    quality.

    Args:
        probe: trained afresh once a fold.
        n: how many to keep. Default: all that are not flagged.
        stratified: see :class:`lops_adapters.selection.ranked.Ranked`; only with ``n``.
        seed: of folds and trainings.
        quiet: no progress bar.
        folds: every sample is judged by a probe trained on the other folds.
        seen: told the out-of-sample probabilities of all samples.

    Label quality is the out-of-sample probability of the pseudo-label, cleanlab's
    "self-confidence". Source: Northcutt, Jiang and Chuang, JAIR 2021 (confident learning); flags by
    cleanlab's default rule, pruning by noise rate.

    """

    probe: Probe
    n: int | None = None
    stratified: bool = False
    seed: int = 0
    quiet: bool = True
    folds: int = 5
    seen: Seen | None = None

    def __post_init__(self) -> None:
        cleanlab("filter")

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Predict out of sample and select.

        Raises:
            LopsError: fewer samples than folds, and what the probe raises.

        """
        if self.n is not None:
            ranked = Ranked(
                "confident-learning",
                lambda *data: self._score(*data)[0],
                self.n,
                1.0,
                self.stratified,
                self.seed,
            )
            return ranked(samples, pseudo_labels)
        classes, codes = read_labels(samples, pseudo_labels)
        scored, probabilities = self._score(samples, codes, len(classes))
        flagged = cleanlab("filter").find_label_issues(codes, probabilities, n_jobs=1)
        return selection_of(
            ~flagged, scored, classes, codes, "confident-learning", "not flagged as a label error"
        )

    def _score(
        self, samples: Sequence[Any], codes: np.ndarray, n_classes: int
    ) -> tuple[Scored, np.ndarray]:
        probabilities = out_of_sample(
            self.probe,
            samples,
            codes,
            n_classes,
            folds=self.folds,
            seed=self.seed,
            quiet=self.quiet,
        )
        if self.seen is not None:
            self.seen(probabilities, None)
        quality = cleanlab("rank").get_label_quality_scores(
            codes, probabilities, method="self_confidence"
        )
        return Scored(
            np.asarray(quality, dtype=np.float64),
            None,
            f"{self.folds} trainings, each sample left out of one",
        ), probabilities


def cleanlab(module: str) -> Any:
    """Return a module of cleanlab, or raise a LopsError that names the extra to install."""
    try:
        return importlib.import_module(f"cleanlab.{module}")
    except ImportError:
        raise LopsError(
            "confident learning needs cleanlab, which is not installed; run: pip install 'lops_adapters[cleanlab]'"
        ) from None
