"""How a selector is built from a method's row, and from what is asked of it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.labels.votes import Votes
from lops_adapters.probes import Probe, probe_class
from lops_adapters.probes.base import check_counts
from lops_adapters.probes.estimator import as_probe
from lops_adapters.selection.canonical import in_content_order
from lops_adapters.selection.method_table import METHODS, check
from lops_adapters.selection.methods.auto_keep import AUTO, Keep, Preferred, auto_keep
from lops_adapters.selection.request import Request
from lops_adapters.selection.selectors import Labels, Select
from lops_adapters.selection.suggestions import Listener

_REFUSED = {  # arguments of build that few methods take: what is said by the others
    "votes": "takes one label per sample, not votes; use {others}",
    "groups": "knows no groups; leave groups out, or use {others}",
    "checked": "does not learn from checked rows; leave checked out",
    "gold": "takes no gold labels; only {others} does: leave gold out",
}


@dataclass(frozen=True)
class MethodSelector:
    """What :func:`build` returns; its ``select`` takes samples whose labels are read."""

    select: Select
    data: Mapping[str, Any]
    seen: Listener | None = None

    def __call__(self, samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        """Return positions into ``samples``; raise what the method raises."""
        return self.select(Labelled.of(samples, pseudo_labels, **self.data), self.seen)


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
) -> MethodSelector:
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
            :func:`~.auto_keep.auto_keep`. With ``ranked`` it is found per
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
            ``committee``, see :class:`~lops_adapters.selection.committee.committee.Committee`.
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
    # In a framework, a class can lose all its labels.
    data = {"checked": checked or {}, "known": options.get("count_label", True)}
    ordered = select if row.alone else in_content_order(select, seed)
    return MethodSelector(ordered, {"votes": votes, "groups": groups, **data}, seen)


def check_data(method: str, **data: Any) -> None:
    """Raise a LopsError about votes, groups, checked rows or gold labels of another method."""
    known = isinstance(method, str) and method in METHODS  # others are refused by check
    takes = METHODS[method].takes if known else tuple(_REFUSED)
    for name, refusal in _REFUSED.items():
        if data.get(name) is not None and name not in takes:
            others = ", ".join(other.name for other in METHODS.values() if name in other.takes)
            raise LopsError(f"{method} {refusal.format(others=others)}")
