"""Every selection method by name: the table, and what its methods take.

A new method is one module with a ``make(request, **options) -> Select`` and one row of the table;
a new confidence is one class in ``confidences.py`` with its name there, and one row.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import RULES, LopsError
from lops_adapters.probes.base import check_counts
from lops_adapters.registry import Registry
from lops_adapters.selection.committee import committee
from lops_adapters.selection.methods import baselines, confidences, confident, dropout, lops, o2u
from lops_adapters.selection.methods.auto_keep import AUTO
from lops_adapters.selection.request import is_fraction
from lops_adapters.selection.selectors import Select

RANKED = "{share} that {name} ranks highest"


@dataclass(frozen=True)
class Method:
    """A row of :data:`~lops_adapters.selection.method_table.METHODS`.

    Attributes:
        name: what :func:`lops_adapters.selection.build` takes.
        summary: one line.
        make: from a checked :class:`~lops_adapters.selection.request.Request` to what selects among
            labelled samples; options are its further arguments.
        kept: what is kept, as a sentence without its full stop; ``{share}`` becomes the
            fraction, ``{name}`` the name. A method that decides how many to keep needs its own.
        kept_evenly: the same with ``per_class``, of a method that decides how many to keep.
        is_probability: whether its confidence is the probability that the label is right.
        assesses: whether it tells a :class:`~lops_adapters.selection.suggestions.Listener` how
            probable each class is, by ``settle``. Then the labels are also corrected and weighted,
            wrong labels counted, and rows named that are worth a check.
        takes: which of votes, groups, checked rows and gold labels it takes, as :func:`build`
            names them.
        needs_probe: whether a probe is trained.
        takes_n: whether it can keep exactly n samples.
        takes_keep: whether it keeps a fraction of the samples; others decide how many.
        per_class: whether it keeps the same share of every class by default, as the paper
            describes it; None: it has no choice.
        by_class: whether the fraction may differ between classes.
        checkpoints: whether it looks at the probe while that trains.
        timed: whether it notes when a sample is learnt.
        warns: whether it warns of classes of which nothing is learnt.
        texts: whether it scores texts, also where a framework's own samples are something else.
        alone: whether each row is scored by itself, so that the order of the rows cannot matter.
        keeps_all: whether it keeps everything, as the Standard arm.
        control: whether a framework gives it the numbers per class that another arm kept.
        options: names of its own options. Some say what the method can do: ``folds``, it uses
            cross-validation; ``encoder``, it has members; ``probabilities``, it takes those of a
            classifier in place of samples; ``correct``, it can correct labels; ``fitted``, it can
            score further rows; ``sure``, the least probability that it keeps.
        check: raises a LopsError about their values.

    Raises:
        LopsError: a method that decides how many to keep has no sentence of its own.
    """

    name: str
    summary: str
    make: Callable[..., Select] = field(repr=False)
    kept: str = RANKED
    kept_evenly: str = ""
    is_probability: bool = False
    assesses: bool = False
    takes: tuple[str, ...] = ()
    needs_probe: bool = True
    takes_n: bool = True
    takes_keep: bool = True
    per_class: bool | None = False
    by_class: bool = False
    checkpoints: bool = False
    timed: bool = False
    warns: bool = False
    texts: bool = False
    alone: bool = False
    keeps_all: bool = False
    control: bool = False
    options: tuple[str, ...] = ()
    check: Callable[..., None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        silent = "kept" if "{share}" in self.kept else ""
        if self.per_class is not None and not self.kept_evenly:
            silent = silent or "kept_evenly"
        if not self.takes_keep and silent:
            raise LopsError(
                f"the method {self.name!r} decides how many to keep and does not say what; give "
                f"{silent}, such as 'rows whose label ...'"
            )

    @property
    def needs_gold(self) -> bool:
        """Whether it is defined by gold labels; no other method may be given any."""
        return "gold" in self.takes

    @property
    def corrects(self) -> bool:
        """Whether it can correct labels."""
        return "correct" in self.options

    @property
    def scores_further(self) -> bool:
        """Whether it can be fitted to a sample and score further rows."""
        return "fitted" in self.options

    @property
    def has_members(self) -> bool:
        """Whether members on an encoder can also score the rows."""
        return "encoder" in self.options

    @property
    def train_on(self) -> str:
        """What a classifier gains most from, see docs/how-much.md."""
        return "on the corrected labels with their weights" if self.assesses else "on the kept rows"

    def says(self, arguments: Mapping[str, Any]) -> str:
        """Return what is kept, in words, given ``keep``, ``per_class`` and the options."""
        keep, even, sure = (arguments.get(name) for name in ("keep", "per_class", "sure"))
        even = self.per_class if even is None else even
        if not self.takes_keep:
            if even:
                return self.kept_evenly
            if sure is not None:
                return f"rows whose label is right with a probability of at least {float(sure):g}"
            return self.kept.format(name=self.name)
        share = "a share found by cross-validation,"
        if keep is not None and keep != AUTO:
            share = f"the fraction {float(keep):g}"
        sentence = self.kept.format(share=share, name=self.name)
        return f"per class, {sentence}" if even else sentence


_WATCHED: dict[str, Any] = {"checkpoints": True, "options": ("online",)}
_RULE: dict[str, Any] = {  # of the core's RULES
    **_WATCHED, "takes_n": False, "per_class": None, "timed": True, "warns": True,
    "kept": "{share} of each class that the probe learns first, by {name}",
}  # fmt: skip
_DECIDES: dict[str, Any] = {"takes_n": False, "takes_keep": False}
_SPREAD = "the same share of every class"
_ROWS = (
    Method("standard", "keeps everything", baselines.make_standard, needs_probe=False,
           kept="all rows", **_DECIDES, per_class=None, alone=True, keeps_all=True),
    Method("learning-order", "earliest learnt first, ties by probability when learnt",
           confidences.make, **{**_WATCHED, "per_class": True, "timed": True},
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
           confidences.make, **_WATCHED, is_probability=True),
    Method("entropy", "smallest entropy of the mean of five passes with dropout",
           partial(dropout.make, uncertainty=dropout.entropy), options=("variant",)),
    Method("mc-dropout", "smallest variance of the probability in five passes with dropout",
           partial(dropout.make, uncertainty=dropout.mc_dropout), options=("variant",)),
    Method("o2u-net", "smallest mean loss while the learning rate goes up and down",
           o2u.make, options=("variant",)),
    Method("stability", "predicted as labelled at most checkpoints", confidences.make, **_WATCHED),
    Method("margin", "largest mean margin of the pseudo-label over the next class",
           confidences.make, **_WATCHED),
    Method("random", "random samples", baselines.make_random, needs_probe=False, per_class=True,
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
           baselines.make_optimal, needs_probe=False, **_DECIDES, takes=("gold",),
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
