"""Every selection method by name: the table, and how a selector is built from it.

A new method is one module with a ``make(request, **options) -> Selector`` and one row of the table;
a new confidence is one class in ``confidences/`` and one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from lops_adapters.core import RULES, LopsError
from lops_adapters.probes import Probe, probe_class
from lops_adapters.probes.base import check_counts
from lops_adapters.probes.estimator import as_probe
from lops_adapters.selection import (
    committee,
    confident,
    dropout,
    lops,
    o2u,
    optimal,
    random,
    scoring,
    standard,
)
from lops_adapters.selection.auto_tau import AUTO, AutoTau, Preferred, Tau
from lops_adapters.selection.canonical import InContentOrder
from lops_adapters.selection.confidences import (
    Confidence,
    LearningOrderScore,
    Margin,
    Probability,
    Stability,
)
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Selector
from lops_adapters.selection.suggestions import Seen


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes:
        name: what :func:`build` takes.
        summary: one line.
        make: builds the selector from a checked request; options are its further arguments.
        needs_probe: whether a probe is trained.
        needs_gold: whether it is defined by gold labels; no other method may be given any.
        takes_n: whether it can keep exactly n samples.
        takes_tau: whether it keeps a fraction of the samples.
        stratified: whether it keeps the same share of every class by default, as the paper
            describes it.
        texts: whether it judges texts, also where a framework's own samples are something else.
        alone: whether each row is judged by itself, so that the order of the rows cannot matter.
        options: names of its own options.
        confidence: the class that scores the samples during one watched training, if it is that
            kind of method.

    """

    name: str
    summary: str
    make: Callable[..., Selector] = field(repr=False)
    needs_probe: bool = True
    needs_gold: bool = False
    takes_n: bool = True
    takes_tau: bool = True
    stratified: bool = False
    texts: bool = False
    alone: bool = False
    options: tuple[str, ...] = ()
    confidence: type[Confidence] | None = field(default=None, repr=False)


def _watched(
    name: str, summary: str, confidence: type[Confidence], stratified: bool = False
) -> Method:
    """Return the row of a confidence."""
    make = partial(scoring.make, confidence=confidence)
    options = ("online",)
    return Method(
        name, summary, make, stratified=stratified, options=options, confidence=confidence
    )


_ROWS = (
    Method("standard", "keeps everything", standard.make, needs_probe=False,
           takes_n=False, takes_tau=False, alone=True),
    Method("lops", "learning order by one of the four rules, checked after every epoch",
           lops.make, takes_n=False, options=("online",)),
    Method("lops-batch", "learning order by one of the four rules, checked every few updates",
           lops.make_batch, takes_n=False),
    _watched("learning-order", "earliest learnt first, ties by probability when learnt",
             LearningOrderScore, stratified=True),
    _watched("probability", "largest probability of the pseudo-label after training", Probability),
    Method("entropy", "smallest entropy of the mean of five passes with dropout",
           dropout.make, options=("variant",)),
    Method("mc-dropout", "smallest variance of the probability in five passes with dropout",
           dropout.make, options=("variant",)),
    Method("o2u-net", "smallest mean loss while the learning rate goes up and down",
           o2u.make, options=("variant",)),
    _watched("stability", "predicted as labelled at most checkpoints", Stability),
    _watched("margin", "largest mean margin of the pseudo-label over the next class", Margin),
    Method("random", "random samples", random.make, needs_probe=False, stratified=True),
    Method("confident-learning", "not flagged as label errors by cleanlab",
           confident.make, takes_tau=False, options=("folds",)),
    Method("automatic", "label probably right by a held-out probe; decides how many to keep",
           committee.make_automatic, takes_n=False, takes_tau=False,
           options=("folds", "sure", "count_label")),
    Method("committee", "label probably right by several held-out members; decides how many",
           committee.make, needs_probe=False, takes_n=False, takes_tau=False,
           texts=True,
           options=("encoder", "words", "sure", "count_label", "folds", "device", "probabilities",
                    "fitted")),
    Method("optimal", "correct by the gold labels: the upper bound",
           optimal.make, needs_probe=False, needs_gold=True, takes_n=False, takes_tau=False,
           alone=True),
)  # fmt: skip
METHODS: Mapping[str, Method] = {method.name: method for method in _ROWS}
CONFIDENCES: Mapping[str, type[Confidence]] = {
    method.name: method.confidence for method in _ROWS if method.confidence is not None
}


def build(
    name: str,
    probe: Probe | str | Any = None,
    *,
    n: int | None = None,
    tau: Tau | str = 0.5,
    rule: str = "released",
    every: int | None = None,
    stratified: bool | None = None,
    gold: Labels | None = None,
    seed: int = 0,
    quiet: bool = True,
    seen: Seen | None = None,
    strict: bool = False,
    **options: Any,
) -> Selector:
    """Return the selector of a method.

    The selection does not depend on the order of the rows; see
    :mod:`lops_adapters.selection.canonical`.

    Args:
        name: one of :data:`METHODS`.
        probe: a probe, the name of a kind with its default settings, or a scikit-learn classifier;
            ignored by methods without a probe.
        n: how many samples to keep, for instance as many as LOPS kept; all, if there are no more
            than that. Default: the fraction ``tau``, rounded up (``confident-learning``: what is
            not flagged).
        tau: fraction of all samples, or of each class; see also
            :class:`lops_adapters.core.LearningOrder`. ``auto``: the share of labels that a
            held-out probe prefers, see :class:`~lops_adapters.selection.auto_tau.AutoTau`. With
            ``lops`` and the rule ``ranked`` it is found per class, and the probe's predictions
            are divided by the classes' shares; class -> fraction does the same. Ignored by
            ``standard``, ``automatic``, ``committee``, ``confident-learning`` and ``optimal``.
        rule: of ``lops`` and ``lops-batch``, one of :data:`lops_adapters.core.RULES`.
        every: updates between checkpoints, for methods with checkpoints. Default: one checkpoint
            per epoch (``lops-batch``: 40 updates).
        stratified: keep the same share of every class. Default: as the paper describes the method,
            see :class:`Method`. Ignored by ``standard``, ``lops``, ``lops-batch`` and ``optimal``.
        gold: one gold label per sample, in the order of the samples; only for ``optimal``.
        seed: of trainings, folds and ties.
        quiet: no progress bars other than the probe's own.
        seen: receives what the probe predicts, see :class:`lops_adapters.selection.Suggestions`;
            the last prediction for a sample is the one the method uses.
        strict: of ``lops`` and ``lops-batch``: raise if nothing is learnt in a class.
        options: see :attr:`Method.options`.

    Raises:
        LopsError: an unknown name or option, a number out of range, gold labels for another method
            than ``optimal``, and what is missing.

    >>> build("random", n=2)(["a", "b", "c", "d"], ["x", "x", "y", "y"]).per_class["x"].kept
    1

    """
    if name not in METHODS:
        raise LopsError(f"method is {name!r}; wanted one of {', '.join(METHODS)}")
    method = METHODS[name]
    _check(method, n, tau, rule, gold, options)
    check_counts(seed, every)
    request = Request(
        name,
        probe_class(probe)() if isinstance(probe, str) else as_probe(probe),
        n=n,
        tau=1.0 if isinstance(tau, str) else tau,
        rule=rule,
        every=every,
        stratified=method.stratified if stratified is None else stratified,
        gold=gold,
        seed=seed,
        quiet=quiet,
        seen=seen,
        strict=strict,
    )
    checked = method.make(request, **options)  # refuses bad options before the first selection
    if method.alone:
        return checked
    if tau == AUTO and method.takes_tau and n is None:
        probe = request.probe

        def make(told: Seen | None) -> Selector:
            asked = replace(request, seen=told)
            return AutoTau(
                Preferred(probe, seed, quiet),
                lambda found: method.make(replace(asked, tau=found), **options),
                by_class(name, rule),
            )

    else:

        def make(told: Seen | None) -> Selector:
            return method.make(replace(request, seen=told), **options)

    return InContentOrder(make, seed, seen)


def by_class(name: str, rule: str) -> bool:
    """Return whether tau may differ between classes: with learning order, ranked."""
    return name in ("lops", "lops-batch") and rule == "ranked"


def _check(
    method: Method,
    n: int | None,
    tau: Tau | str,
    rule: str,
    gold: Labels | None,
    options: Mapping[str, Any],
) -> None:
    unknown = sorted(set(options) - set(method.options))
    if unknown:
        known = ", ".join(method.options) or "none of its own"
        raise LopsError(f"{method.name} has no option {unknown[0]!r}; its options are: {known}")
    if n is not None and not method.takes_n:
        raise LopsError(f"{method.name} decides how many to keep, and n is {n}; leave n out")
    if n is not None and n < 1:
        raise LopsError(f"n is {n}; wanted a number of samples to keep, at least 1")
    if isinstance(tau, Mapping):
        if not by_class(method.name, rule):
            raise LopsError(
                "found a fraction per class for tau; only lops with the rule ranked takes it: give "
                "one number"
            )
    elif tau != AUTO and (isinstance(tau, str) or not 0 < tau <= 1):
        raise LopsError(
            f"tau is {tau!r}; wanted a fraction above 0 and at most 1, such as 0.5, or {AUTO!r}"
        )
    if rule not in RULES:
        raise LopsError(f"rule is {rule!r}; wanted one of {', '.join(RULES)}")
    if gold is not None and not method.needs_gold:
        raise LopsError(f"{method.name} takes no gold labels; only optimal does: leave gold out")
    if gold is None and method.needs_gold:
        raise LopsError(f"{method.name} is defined by gold labels; pass gold, one label per sample")


def score(
    probe: Probe,
    samples: Sequence[Any],
    codes: Sequence[int] | np.ndarray,
    n_classes: int,
    confidences: Sequence[str],
    *,
    seed: int = 0,
    every: int | None = None,
    online: bool = False,
) -> dict[str, np.ndarray]:
    """Train a probe once and score all samples by several confidences.

    Args:
        probe: trained from scratch, to the end.
        samples, codes, n_classes, seed, every, online: as for
            :meth:`lops_adapters.probes.Probe.watch`.
        confidences: names from :data:`CONFIDENCES`.

    Returns:
        Name -> (n,) float64 scores, higher is more trusted.

    Raises:
        LopsError: an unknown name, ``every`` beyond the training, and what the probe raises.

    """
    unknown = [name for name in confidences if name not in CONFIDENCES]
    if unknown:
        raise LopsError(f"confidence is {unknown[0]!r}; wanted some of {', '.join(CONFIDENCES)}")
    scores = {name: CONFIDENCES[name](np.asarray(codes), n_classes) for name in confidences}
    watched = list(scores.values())
    scoring.watch(probe, samples, codes, n_classes, watched, seed=seed, every=every, online=online)
    return {name: confidence.scores() for name, confidence in scores.items()}
