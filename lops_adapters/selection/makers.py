"""From a request to a selector, one function a method; a method's own options are the function's
further arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe
from lops_adapters.selection.automatic import Automatic
from lops_adapters.selection.confident import ConfidentLearning
from lops_adapters.selection.dropout import dropout_scorer
from lops_adapters.selection.o2u import o2u_scorer
from lops_adapters.selection.optimal import Optimal
from lops_adapters.selection.random_choice import random_scorer
from lops_adapters.selection.ranked import Ranked, Scored, Scorer
from lops_adapters.selection.scoring import CONFIDENCES, watch
from lops_adapters.selection.selectors import Labels, Lops, Selector, keep_all
from lops_adapters.selection.suggestions import Seen

UPDATES_BETWEEN_LOOKS = (
    40  # of lops-batch where nothing else is asked: the granularity of the authors' curves
)


@dataclass(frozen=True)
class Request:
    """What :func:`lops_adapters.selection.build` was asked for; see there."""

    name: str
    given: Probe | None
    n: int | None
    tau: float
    rule: str
    every: int | None
    stratified: bool
    gold: Labels | None
    seed: int
    quiet: bool
    seen: Seen | None = None
    strict: bool = False

    @property
    def probe(self) -> Probe:
        """The probe; LopsError where there is none."""
        if self.given is None:
            raise LopsError(f"{self.name} needs a probe; pass one, such as probe='linear'")
        return self.given

    def ranked(self, scorer: Scorer) -> Selector:
        """Keep the best by a scorer."""
        return Ranked(self.name, scorer, self.n, self.tau, self.stratified, self.seed)


def standard(request: Request) -> Selector:
    """Everything."""
    return keep_all


def lops(request: Request, online: bool = False) -> Selector:
    """Learning order by a rule of the core."""
    return _lops(request, request.every, online)


def lops_batch(request: Request) -> Selector:
    """The same inside epochs."""
    return _lops(request, request.every or UPDATES_BETWEEN_LOOKS)


def _lops(request: Request, every: int | None, online: bool = False) -> Selector:
    return Lops(
        request.probe,
        tau=request.tau,
        rule=request.rule,
        every=every,
        seed=request.seed,
        strict=request.strict,
        online=online,
        seen=request.seen,
    )


def watched(request: Request, online: bool = False) -> Selector:
    """A confidence that watches one training."""
    probe = request.probe

    def scorer(samples: Sequence[Any], codes: np.ndarray, n_classes: int) -> Scored:
        confidence = CONFIDENCES[request.name](codes, n_classes)
        timing: dict[str, Any] = {"seed": request.seed, "every": request.every, "online": online}
        checkpoints = watch(
            probe, samples, codes, n_classes, [confidence], **timing, seen=request.seen
        )
        return Scored(
            confidence.scores(),
            confidence.learnt_at(),
            f"watched to the end of the training, {checkpoints} checkpoints",
        )

    return request.ranked(scorer)


def dropout(request: Request, **options: Any) -> Selector:
    """MC-Dropout and Entropy."""
    return request.ranked(
        dropout_scorer(request.name, request.probe, request.seed, seen=request.seen, **options)
    )


def o2u_net(request: Request, **options: Any) -> Selector:
    """O2U-Net."""
    return request.ranked(o2u_scorer(request.probe, request.seed, seen=request.seen, **options))


def random(request: Request) -> Selector:
    """Any."""
    return request.ranked(random_scorer(request.seed))


def confident_learning(request: Request, **options: Any) -> Selector:
    """Confident learning."""
    return ConfidentLearning(
        request.probe,
        request.n,
        request.stratified,
        request.seed,
        request.quiet,
        seen=request.seen,
        **options,
    )


def automatic(request: Request, **options: Any) -> Selector:
    """The automatic choice."""
    return Automatic(
        request.probe,
        request.seed,
        request.quiet,
        stratified=request.stratified,
        seen=request.seen,
        **options,
    )


def optimal(request: Request) -> Selector:
    """The bound."""
    return Optimal(request.gold)
