"""Every selection method by name: the table, and what its methods take.

A new method is one module with a ``make(request, **options) -> Select`` and one row of the table;
a new confidence is one class in ``confidences.py`` with its name there, and one row.
"""

from collections.abc import Collection, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import RULES, LopsError
from lops_adapters.probes.base import check_counts
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
from lops_adapters.selection.auto_keep import AUTO
from lops_adapters.selection.method import Method
from lops_adapters.selection.request import is_fraction

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
           optimal.make, needs_probe=False, **_DECIDES, takes=("gold",),
           per_class=None, alone=True, kept="rows whose label is the gold label"),
)  # fmt: skip
METHODS = Registry("method", "lops_adapters.methods", Method, _ROWS)


def register_method(method: Method) -> Method:
    """Add a method to :data:`METHODS` and return it; a package may name it as an entry point.

    Then commands and ``lops_adapters.select`` take its name, see docs/extend.md. Raises a LopsError
    if another method has this name.
    """
    return METHODS.register(method)


def offered() -> tuple[str, ...]:
    """Return the names of the methods that :func:`lops_adapters.select` offers."""
    return tuple(name for name, row in METHODS.items() if row.needs_probe or row.texts)


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
