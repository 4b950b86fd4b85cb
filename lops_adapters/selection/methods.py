"""Every selection method by name: the table, and how a selector is built from it.

A new method is one module with a ``make(request, **options) -> Select`` and one row of the table;
a new confidence is one class in ``confidences.py`` with its name there, and one row.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import RULES, LopsError, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.labels.votes import Votes
from lops_adapters.probes import Probe, probe_class
from lops_adapters.probes.base import check_counts
from lops_adapters.probes.estimator import as_probe
from lops_adapters.registry import Registry
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
from lops_adapters.selection.auto_keep import AUTO, Keep, Preferred, auto_keep
from lops_adapters.selection.canonical import in_content_order
from lops_adapters.selection.method import Method
from lops_adapters.selection.request import Request, is_fraction
from lops_adapters.selection.selectors import Labels, Select, Selector
from lops_adapters.selection.suggestions import Listener

_WATCHED: dict[str, Any] = {"checkpoints": True, "options": ("online",)}
_RULE: dict[str, Any] = {  # of the core's RULES
    **_WATCHED, "takes_n": False, "per_class": None, "timed": True, "warns": True,
    "kept": "{share} of each class that the probe learns first, by {name}",
}  # fmt: skip
_DECIDES: dict[str, Any] = {"takes_n": False, "takes_keep": False}
_SPREAD = "the same share of every class"
_ROWS = (
    Method("standard", "keeps everything", standard.make, needs_probe=False, kept="all rows",
           **_DECIDES, per_class=None, alone=True, keeps_all=True),
    Method("learning-order", "earliest learnt first, ties by probability when learnt",
           scoring.make, **{**_WATCHED, "per_class": True, "timed": True},
           kept="{share} that the probe learns first"),
    Method("released", "learning order as the authors' code: all of a class learnt when it closes",
           lops.make, **_RULE),
    Method("algorithm1", "learning order by the paper's Algorithm 1: when learnt, up to the share",
           lops.make, **_RULE),
    Method("stop-and-take-all",
           "learning order by the paper's introduction: all classes at once", lops.make, **_RULE),
    Method("ranked", "learning order by the paper's method section; stops when it is decided",
           lops.make, **_RULE, by_class=True),
    Method("probability", "largest probability of the pseudo-label after training",
           scoring.make, **_WATCHED, is_probability=True),
    Method("entropy", "smallest entropy of the mean of five passes with dropout",
           partial(dropout.make, uncertainty=dropout.entropy), options=("variant",)),
    Method("mc-dropout", "smallest variance of the probability in five passes with dropout",
           partial(dropout.make, uncertainty=dropout.mc_dropout), options=("variant",)),
    Method("o2u-net", "smallest mean loss while the learning rate goes up and down",
           o2u.make, options=("variant",)),
    Method("stability", "predicted as labelled at most checkpoints", scoring.make, **_WATCHED),
    Method("margin", "largest mean margin of the pseudo-label over the next class",
           scoring.make, **_WATCHED),
    Method("random", "random samples", random.make, needs_probe=False, per_class=True,
           control=True, kept="{share} drawn at random"),
    Method("confident-learning", "not flagged as label errors by cleanlab",
           confident.make, takes_keep=False, options=("folds",), is_probability=True,
           kept="rows that confident learning does not flag as label errors",
           kept_evenly=f"as many rows as confident learning does not flag, {_SPREAD}"),
    Method("automatic", "label probably right by a held-out probe; decides how many to keep",
           committee.make_automatic, **_DECIDES, is_probability=True,
           kept="rows most probably right; as many are rejected as the held-out probe expects to "
           "be wrong",
           kept_evenly=f"as many rows as a held-out probe expects to be right, {_SPREAD}",
           options=("folds", "sure", "count_label"), check=committee.check),
    Method("committee", "label probably right by several held-out members; decides how many",
           committee.make, needs_probe=False, **_DECIDES, texts=True, is_probability=True,
           assesses=True, takes=("votes", "groups", "checked"),
           kept="rows whose label is more probably right than wrong",
           kept_evenly=f"as many rows as the members expect to be right, {_SPREAD}",
           options=("encoder", "words", "sure", "count_label", "correct", "folds", "device",
                    "probabilities", "fitted", "assessed"), check=committee.check),
    Method("optimal", "correct by the gold labels: the upper bound",
           optimal.make, needs_probe=False, needs_gold=True, **_DECIDES, takes=("gold",),
           per_class=None, alone=True, kept="rows whose label is the gold label"),
)  # fmt: skip
METHODS = Registry("method", "lops_adapters.methods", Method, _ROWS)
_REFUSED = {  # arguments of build that few methods take: what is said by the others
    "votes": "takes one label per sample, not votes; use {others}",
    "groups": "knows no groups; leave groups out, or use {others}",
    "checked": "does not learn from checked rows; leave checked out",
    "gold": "takes no gold labels; only {others} does: leave gold out",
}


def register_method(method: Method) -> Method:
    """Add a method to :data:`METHODS` and return it; a package may name it as an entry point.

    Then commands and ``lops_adapters.select`` take its name, see docs/extend.md. Raises a LopsError
    if another method has this name.
    """
    return METHODS.register(method)


def offered() -> tuple[str, ...]:
    """Return the names of the methods that :func:`lops_adapters.select` offers."""
    return tuple(name for name, row in METHODS.items() if row.is_offered)


def build(
    method: str,
    probe: Probe | str | Any = None,
    *,
    n: int | None = None,
    keep: Keep | str | None = None,
    every: int | None = None,
    per_class: bool | None = None,
    gold: Labels | None = None,
    seed: int = 0,
    quiet: bool = True,
    seen: Listener | None = None,
    strict: bool = False,
    checked: Mapping[int, Hashable | None] | None = None,
    votes: Votes | None = None,
    groups: np.ndarray | None = None,
    **options: Any,
) -> Selector:
    """Return the selector of a method.

    The selection does not depend on the order of the rows; see
    :mod:`lops_adapters.selection.canonical`.

    Args:
        method: one of :data:`METHODS`.
        probe: a probe, the name of a kind with its default settings, or a scikit-learn classifier;
            ignored by methods without a probe.
        n: how many samples to keep, for instance as many as another method kept; all, if there are
            no more than that. Default: the fraction ``keep``, rounded up (``confident-learning``:
            what is not flagged).
        keep: fraction of all samples, or of each class. Default: 0.5. ``auto``: the share of
            labels that a held-out probe prefers, see
            :func:`~lops_adapters.selection.auto_keep.auto_keep`. With ``ranked`` it is found per
            class, and the probe's predictions are divided by the classes' shares; class ->
            fraction does the same. A method that decides how many to keep takes ``auto`` only.
        every: updates between checkpoints, for methods with checkpoints. Default: one checkpoint
            per epoch.
        per_class: keep the same share of every class. Default: as the paper describes the method,
            see :class:`Method`.
        gold: one gold label per sample, in the order of the samples; only for ``optimal``.
        seed: of trainings, folds and ties.
        quiet: no progress bars other than the probe's own.
        seen: receives what the probe predicts, see :class:`lops_adapters.selection.Suggestions`;
            the last prediction for a sample is the one the method uses.
        strict: of the rules of learning order: raise if nothing is learnt in a class.
        checked: position of a sample -> its label by a person, None: no class; only of
            ``committee``, see :class:`~lops_adapters.selection.committee.Committee`.
        votes: of several label sources for the samples; only of ``committee``. The pseudo-labels
            are then what its members are trained on, such as the majority.
        groups: (n,) int codes; samples of a group do not score each other; only of ``committee``.
        options: see :attr:`Method.options`.

    Raises:
        LopsError: what :func:`check` raises, gold labels for another method than ``optimal``,
            checked rows or votes for another than ``committee``, and what is missing.

    >>> build("random", n=2)(["a", "b", "c", "d"], ["x", "x", "y", "y"]).per_class["x"].kept
    1

    """
    check_data(method, gold=gold, votes=votes, groups=groups, checked=checked)
    select = select_by(
        method,
        probe,
        n=n,
        keep=keep,
        every=every,
        per_class=per_class,
        gold=gold,
        seed=seed,
        quiet=quiet,
        strict=strict,
        **options,
    )
    # In a framework, a class can lose all its labels.
    data = {"checked": checked or {}, "known": options.get("count_label", True)}

    def selector(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        labelled = Labelled.of(samples, pseudo_labels, votes=votes, groups=groups, **data)
        return select(labelled, seen)

    return selector


def select_by(
    method: str,
    probe: Probe | str | Any = None,
    *,
    n: int | None = None,
    keep: Keep | str | None = None,
    every: int | None = None,
    per_class: bool | None = None,
    gold: Labels | None = None,
    seed: int = 0,
    quiet: bool = True,
    strict: bool = False,
    **options: Any,
) -> Select:
    """Return a method for samples whose labels are read; arguments are as for :func:`build`."""
    row = check(method, keep=keep, every=every, per_class=per_class, n=n, options=options)
    if gold is None and row.needs_gold:
        raise LopsError(f"{method} is defined by gold labels; pass gold, one label per sample")
    check_counts(seed)
    share: Keep = 0.5 if keep is None or isinstance(keep, str) else keep
    request = Request(
        method,
        probe_class(probe)() if isinstance(probe, str) else as_probe(probe),
        n=n,
        keep=share if isinstance(share, Mapping) else float(share),
        every=every,
        per_class=bool(row.per_class if per_class is None else per_class),
        gold=gold,
        seed=seed,
        quiet=quiet,
        strict=strict,
    )
    select = row.make(request, **options)  # refuses bad options before the first selection
    if keep == AUTO and row.takes_keep and n is None:
        select = auto_keep(
            Preferred(request.probe, seed, quiet),
            lambda share: row.make(replace(request, keep=share), **options),
            row.by_class,
        )
    return select if row.alone else in_content_order(select, seed)


def check_data(method: str, **data: Any) -> None:
    """Raise a LopsError about votes, groups, checked rows or gold labels of another method."""
    known = isinstance(method, str) and method in METHODS  # others are refused by check
    takes = METHODS[method].takes if known else tuple(_REFUSED)
    for name, refusal in _REFUSED.items():
        if data.get(name) is not None and name not in takes:
            others = ", ".join(other.name for other in METHODS.values() if name in other.takes)
            raise LopsError(f"{method} {refusal.format(others=others)}")


def check(
    method: Any,
    *,
    keep: Any = None,
    every: int | None = None,
    per_class: Any = None,
    n: int | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    among: Collection[str] = METHODS,
) -> Method:
    """Return the row of a method of those ``among``, if it takes these arguments of :func:`build`.

    Raises:
        LopsError: an unknown name or option, a number out of range, and an argument that the
            method does not take.

    """
    if not isinstance(method, str) or method not in among:
        raise LopsError(f"method is {method!r:.80}; wanted one of {', '.join(among)}")
    row = METHODS[method]
    unknown = sorted(set(options) - set(row.options))
    if unknown:
        option, known = typed(unknown[0]), ", ".join(row.options) or "none of its own"
        hint = f"its options are: {known}" if option == unknown[0] else "leave it out"
        raise LopsError(f"{method} has no option {option!r}; {hint}")
    if row.check is not None:
        row.check(**options)
    if n is not None and not row.takes_n:
        raise LopsError(f"{method} decides how many to keep, and n is {n}; leave n out")
    if n is not None and n < 1:
        raise LopsError(f"n is {n}; wanted a number of samples to keep, at least 1")
    _check_keep(row, keep)
    check_counts(0, every)
    if every is not None and not row.checkpoints:
        raise LopsError(
            f"{method} has no checkpoints, and {typed('every')} is {every}; leave it out"
        )
    if per_class is not None and not isinstance(per_class, bool | np.bool_):
        raise LopsError(f"per_class is {per_class!r:.80}; wanted True, False or None")
    if per_class is not None and row.per_class is None:
        raise LopsError(
            f"{method} decides the share of each class itself; leave {typed('per_class')} out"
        )
    return row


def check_rule(method: Any, keep: Any) -> None:
    """Raise a LopsError unless these are a rule of learning order and a fraction."""
    check(method, keep=keep, among=RULES)
    if isinstance(keep, str):
        raise LopsError(
            f"{typed('keep')} is {keep!r}, which needs several trainings; wanted a fraction, such "
            "as 0.5"
        )


def _check_keep(row: Method, keep: Any) -> None:
    if isinstance(keep, Mapping):
        if not row.by_class:
            others = ", ".join(other.name for other in METHODS.values() if other.by_class)
            raise LopsError(
                f"{typed('keep')} is a fraction per class, and only {others} takes it; give one "
                "number"
            )
        return
    share = is_fraction(keep)
    if not share and keep is not None and not (isinstance(keep, str) and keep == AUTO):
        raise LopsError(
            f"{typed('keep')} is {keep!r:.80}; wanted {AUTO!r}, or a fraction above 0 and at most "
            "1, such as 0.5"
        )
    if share and not row.takes_keep:
        raise LopsError(
            f"{row.name} decides how many to keep, and {typed('keep')} is {keep}; leave it out, or "
            f"use {typed('method')} learning-order"
        )
