"""Every selection method by name: the table, and how a selector is built from it.

A new method is one module with a ``make(request, **options) -> Select`` and one row of the table;
a new confidence is one class in ``confidences.py`` with its name there, and one row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from lops_adapters.selection.request import Request, is_fraction
from lops_adapters.selection.selectors import Labels, Select, Selector
from lops_adapters.selection.suggestions import Seen


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes:
        name: what :func:`build` takes.
        summary: one line.
        make: from a checked request to what selects among labelled samples; options are its
            further arguments.
        needs_probe: whether a probe is trained.
        needs_gold: whether it is defined by gold labels; no other method may be given any.
        takes_n: whether it can keep exactly n samples.
        takes_keep: whether it keeps a fraction of the samples; others decide how many.
        per_class: whether it keeps the same share of every class by default, as the paper
            describes it; None: it has no choice.
        checkpoints: whether it looks at the probe while that trains.
        texts: whether it scores texts, also where a framework's own samples are something else.
        alone: whether each row is scored by itself, so that the order of the rows cannot matter.
        options: names of its own options.
        check: raises a LopsError about their values.

    """

    name: str
    summary: str
    make: Callable[..., Select] = field(repr=False)
    needs_probe: bool = True
    needs_gold: bool = False
    takes_n: bool = True
    takes_keep: bool = True
    per_class: bool | None = False
    checkpoints: bool = False
    texts: bool = False
    alone: bool = False
    options: tuple[str, ...] = ()
    check: Callable[..., None] | None = field(default=None, repr=False)


_WATCHED: dict[str, Any] = {"checkpoints": True, "options": ("online",)}
_RULE: dict[str, Any] = {**_WATCHED, "takes_n": False, "per_class": None}  # of the core's RULES
_ROWS = (
    Method("standard", "keeps everything", standard.make, needs_probe=False,
           takes_n=False, takes_keep=False, per_class=None, alone=True),
    Method("learning-order", "earliest learnt first, ties by probability when learnt",
           scoring.make, **{**_WATCHED, "per_class": True}),
    Method("released", "learning order as the authors' code: all of a class learnt when it closes",
           lops.make, **_RULE),
    Method("algorithm1", "learning order by the paper's Algorithm 1: when learnt, up to the share",
           lops.make, **_RULE),
    Method("stop-and-take-all",
           "learning order by the paper's introduction: all classes at once", lops.make, **_RULE),
    Method("ranked", "learning order by the paper's method section; stops when it is decided",
           lops.make, **_RULE),
    Method("probability", "largest probability of the pseudo-label after training",
           scoring.make, **_WATCHED),
    Method("entropy", "smallest entropy of the mean of five passes with dropout",
           dropout.make, options=("variant",)),
    Method("mc-dropout", "smallest variance of the probability in five passes with dropout",
           dropout.make, options=("variant",)),
    Method("o2u-net", "smallest mean loss while the learning rate goes up and down",
           o2u.make, options=("variant",)),
    Method("stability", "predicted as labelled at most checkpoints", scoring.make, **_WATCHED),
    Method("margin", "largest mean margin of the pseudo-label over the next class",
           scoring.make, **_WATCHED),
    Method("random", "random samples", random.make, needs_probe=False, per_class=True),
    Method("confident-learning", "not flagged as label errors by cleanlab",
           confident.make, takes_keep=False, options=("folds",)),
    Method("automatic", "label probably right by a held-out probe; decides how many to keep",
           committee.make_automatic, takes_n=False, takes_keep=False,
           options=("folds", "sure", "count_label"), check=committee.check),
    Method("committee", "label probably right by several held-out members; decides how many",
           committee.make, needs_probe=False, takes_n=False, takes_keep=False,
           texts=True,
           options=("encoder", "words", "sure", "count_label", "correct", "folds", "device",
                    "probabilities", "fitted", "assessed"), check=committee.check),
    Method("optimal", "correct by the gold labels: the upper bound",
           optimal.make, needs_probe=False, needs_gold=True, takes_n=False, takes_keep=False,
           per_class=None, alone=True),
)  # fmt: skip
METHODS: Mapping[str, Method] = {method.name: method for method in _ROWS}
# Of rows to check: what ``lops_adapters.select`` offers.
OFFERED = tuple(method.name for method in _ROWS if method.needs_probe or method.texts)
BY_CLASS = ("ranked",)  # methods whose fraction may differ between classes
_OF_ONE_METHOD = {  # arguments of build: the method that takes them, and what is said of others
    "votes": ("committee", "takes one label per sample, not votes; use committee"),
    "groups": ("committee", "knows no groups; leave groups out, or use committee"),
    "checked": ("committee", "does not learn from checked rows; leave checked out"),
    "gold": ("optimal", "takes no gold labels; only optimal does: leave gold out"),
}


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
    seen: Seen | None = None,
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
            method in BY_CLASS,
        )
    return select if row.alone else in_content_order(select, seed)


def check_data(method: str, **data: Any) -> None:
    """Raise a LopsError about votes, groups, checked rows or gold labels of another method."""
    for name, (owner, refusal) in _OF_ONE_METHOD.items():
        if data.get(name) is not None and method != owner:
            raise LopsError(f"{method} {refusal}")


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
        if row.name not in BY_CLASS:
            raise LopsError(
                f"{typed('keep')} is a fraction per class, and only {BY_CLASS[0]} takes it; give "
                "one number"
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
