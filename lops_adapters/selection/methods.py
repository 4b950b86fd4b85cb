"""Every selection method behind one name: the table, and what builds a selector from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lops_adapters.core import RULES, LopsError
from lops_adapters.probes import Probe, probe_class
from lops_adapters.probes.base import check_counts
from lops_adapters.selection import makers
from lops_adapters.selection.makers import Request
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
        stratified: whether it takes the same share of every class unless told otherwise, as the
            paper describes it.
        options: names of the options of its own.

    """

    name: str
    summary: str
    make: Callable[..., Selector] = field(repr=False)
    needs_probe: bool = True
    needs_gold: bool = False
    takes_n: bool = True
    stratified: bool = False
    options: tuple[str, ...] = ()


_ONLINE = ("online",)  # watch the training pass itself, see Probe.watch
_ROWS = (
    Method("standard", "keeps everything", makers.standard, needs_probe=False, takes_n=False),
    Method("lops", "learning order by one of the four rules, looked at after every epoch", makers.lops, takes_n=False, options=_ONLINE),
    Method("lops-batch", "the same, looked at after every so many updates", makers.lops_batch, takes_n=False),
    Method("learning-order", "earliest learnt first, ties by probability when learnt", makers.watched, stratified=True, options=_ONLINE),
    Method("probability", "largest probability of the pseudo-label after the training", makers.watched, options=_ONLINE),
    Method("entropy", "smallest entropy of the mean of five passes with dropout", makers.dropout, options=("variant",)),
    Method("mc-dropout", "smallest variance of the probability in five passes with dropout", makers.dropout, options=("variant",)),
    Method("o2u-net", "smallest mean loss while the learning rate goes up and down", makers.o2u_net, options=("variant",)),
    Method("stability", "predicted right at most checkpoints", makers.watched, options=_ONLINE),
    Method("margin", "largest mean margin of the pseudo-label over the next class", makers.watched, options=_ONLINE),
    Method("random", "any", makers.random, needs_probe=False, stratified=True),
    Method("confident-learning", "not flagged as label errors by cleanlab", makers.confident_learning, options=("folds",)),
    Method("automatic", "preferred by a probe that had not seen them; n is its own", makers.automatic, takes_n=False, options=("folds",)),
    Method("optimal", "right by the gold labels: the bound", makers.optimal, needs_probe=False, needs_gold=True, takes_n=False),
)  # fmt: skip
METHODS: Mapping[str, Method] = {method.name: method for method in _ROWS}


def build(
    name: str,
    probe: Probe | str | None = None,
    *,
    n: int | None = None,
    tau: float = 0.5,
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

    Args:
        name: one of :data:`METHODS`.
        probe: a probe, or the name of a kind with its default settings; not looked at by methods
            that need none.
        n: how many samples to keep, for instance as many as LOPS kept; with as many as there are,
            or more, all are kept. Default: the fraction ``tau``, rounded up
            (``confident-learning``: what is not flagged).
        tau: fraction of all samples, or of each class; see also
            :class:`lops_adapters.core.LearningOrder`. Not looked at by ``standard``, ``automatic``,
            ``confident-learning`` and ``optimal``.
        rule: of ``lops`` and ``lops-batch``, one of :data:`lops_adapters.core.RULES`.
        every: look after every so many updates instead of after every epoch, for methods that look
            at checkpoints.
        stratified: take the same share of every class. Default: as the paper describes the method,
            see :class:`Method`. Not looked at by ``standard``, ``lops``, ``lops-batch`` and
            ``optimal``.
        gold: one gold label a sample, in the order of the samples; only for ``optimal``.
        seed: of trainings, folds and ties.
        quiet: no progress bars other than the probe's own.
        seen: told what the probe predicts, see :class:`lops_adapters.selection.Suggestions`; the
            last word on a sample is the method's own.
        strict: of ``lops`` and ``lops-batch``: raise where nothing was learnt in a class.
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
    if isinstance(probe, str):
        probe = probe_class(probe)()
    by_class = method.stratified if stratified is None else stratified
    return method.make(
        Request(name, probe, n, tau, rule, every, by_class, gold, seed, quiet, seen, strict),
        **options,
    )


def _check(
    method: Method,
    n: int | None,
    tau: float,
    rule: str,
    gold: Labels | None,
    options: Mapping[str, Any],
) -> None:
    unknown = sorted(set(options) - set(method.options))
    if unknown:
        known = ", ".join(method.options) or "none of its own"
        raise LopsError(f"{method.name} has no option {unknown[0]!r}; its options are: {known}")
    if n is not None and not method.takes_n:
        raise LopsError(
            f"{method.name} decides by itself how many to keep, and n is {n}; leave n out"
        )
    if n is not None and n < 1:
        raise LopsError(f"n is {n}; wanted a number of samples to keep, at least 1")
    if not 0 < tau <= 1:
        raise LopsError(f"tau is {tau!r}; wanted a fraction above 0 and at most 1, such as 0.5")
    if rule not in RULES:
        raise LopsError(f"rule is {rule!r}; wanted one of {', '.join(RULES)}")
    if gold is not None and not method.needs_gold:
        raise LopsError(
            f"{method.name} was given gold labels; only optimal may see them, so leave gold out"
        )
    if gold is None and method.needs_gold:
        raise LopsError(f"{method.name} is defined by gold labels; pass gold, one label a sample")
