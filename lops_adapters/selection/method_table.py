"""Every selection method by name: the table, and what its methods take.

A new method is one module with a subclass of :class:`~.method.Method`, and one row of the table; a
new confidence is one class in ``methods/confidences.py`` with its name there, and one row.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import RULES, LopsError
from lops_adapters.probes.base import check_counts
from lops_adapters.registry import Registry
from lops_adapters.selection.choice import AUTO, Choice, is_fraction
from lops_adapters.selection.committee.committee import Automatic, Committee
from lops_adapters.selection.method import Method
from lops_adapters.selection.methods.baselines import Optimal, Random, Standard
from lops_adapters.selection.methods.confidences import Watched, WatchedOrder
from lops_adapters.selection.methods.confident import ConfidentLearning
from lops_adapters.selection.methods.dropout import ByDropout, entropy, mc_dropout
from lops_adapters.selection.methods.lops import Rule
from lops_adapters.selection.methods.o2u import O2UNet

_FIRST = "{share} of each class that the probe learns first, by {name}"
_SPREAD = "the same share of every class"
_ROWS: tuple[Method, ...] = (
    Standard("standard", "keeps everything", "all rows", per_class=None),
    WatchedOrder("learning-order", "earliest learnt first, ties by probability when learnt",
                 "{share} that the probe learns first", per_class=True),
    Rule("released", "learning order as the authors' code: all of a class learnt when it closes",
         _FIRST, per_class=None),
    Rule("algorithm1", "learning order by the paper's Algorithm 1: when learnt, up to the share",
         _FIRST, per_class=None),
    Rule("stop-and-take-all", "learning order by the paper's introduction: all classes at once",
         _FIRST, per_class=None),
    Rule("ranked", "learning order by the paper's method section; stops when it is decided",
         _FIRST, per_class=None, by_class=True),
    Watched("probability", "largest probability of the pseudo-label after training",
            is_probability=True),
    ByDropout("entropy", "smallest entropy of the mean of five passes with dropout",
              uncertainty=entropy),
    ByDropout("mc-dropout", "smallest variance of the probability in five passes with dropout",
              uncertainty=mc_dropout),
    O2UNet("o2u-net", "smallest mean loss while the learning rate goes up and down"),
    Watched("stability", "predicted as labelled at most checkpoints"),
    Watched("margin", "largest mean margin of the pseudo-label over the next class"),
    Random("random", "random samples", "{share} drawn at random", per_class=True),
    ConfidentLearning("confident-learning", "not flagged as label errors by cleanlab",
                      "rows that confident learning does not flag as label errors",
                      f"as many rows as confident learning does not flag, {_SPREAD}",
                      is_probability=True),
    Automatic("automatic", "label probably right by a held-out probe; decides how many to keep",
              "rows most probably right; as many are rejected as the held-out probe expects to be "
              "wrong", f"as many rows as a held-out probe expects to be right, {_SPREAD}",
              is_probability=True),
    Committee("committee", "label probably right by several held-out members; decides how many",
              "rows whose label is more probably right than wrong",
              f"as many rows as the members expect to be right, {_SPREAD}", is_probability=True),
    Optimal("optimal", "correct by the gold labels: the upper bound",
            "rows whose label is the gold label", per_class=None),
)  # fmt: skip
METHODS: Registry[Method] = Registry("method", "lops_adapters.methods", Method, _ROWS)


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
    choice: Choice,
    options: Mapping[str, Any] = MappingProxyType({}),
    among: Collection[str] = METHODS,
) -> Method:
    """Return the method of a choice, of those ``among``, with options of its own.

    Raises:
        LopsError: an unknown name or option, a number out of range, and what the method does not
            take.
    """
    name, n, every, per_class = choice.method, choice.n, choice.every, choice.per_class
    if not isinstance(name, str) or name not in among:
        raise LopsError(f"method is {name!r:.80}; wanted one of {', '.join(among)}")
    row = METHODS[name]
    row.check_names([*options, *choice.given])
    row = replace(row, **options)
    row.check(choice)
    if n is not None and not row.takes_n:
        raise LopsError(f"{name} decides how many to keep, and n is {n}; leave n out")
    if n is not None and n < 1:
        raise LopsError(f"n is {n}; wanted a number of samples to keep, at least 1")
    _check_keep(row, choice.keep)
    check_counts(choice.seed, every)
    if every is not None and not row.checkpoints:
        raise LopsError(f"{name} has no checkpoints, and {typed('every')} is {every}; leave it out")
    if per_class is not None and not isinstance(per_class, bool | np.bool_):
        raise LopsError(f"per_class is {per_class!r:.80}; wanted True, False or None")
    if per_class is not None and row.per_class is None:
        raise LopsError(
            f"{name} decides the share of each class itself; leave {typed('per_class')} out"
        )
    return row


def check_rule(method: str, keep: float) -> None:
    """Raise a LopsError unless these are a rule of learning order and a fraction."""
    check(Choice(method, keep), among=RULES)
    if isinstance(keep, str):
        raise LopsError(
            f"{typed('keep')} is {keep!r}, which needs several trainings; wanted a fraction, such "
            "as 0.5"
        )


def _check_keep(row: Method, keep: object) -> None:
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
