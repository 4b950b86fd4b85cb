"""How a method selects: it is checked, and gets the samples in the order of their content."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.labels.labelled import Labelled
from lops_adapters.labels.votes import Votes
from lops_adapters.probes import Probe, probe_class
from lops_adapters.probes.estimator import as_probe
from lops_adapters.selection.canonical import in_content_order
from lops_adapters.selection.choice import AUTO, Choice, Keep
from lops_adapters.selection.method import Method
from lops_adapters.selection.method_table import METHODS, check
from lops_adapters.selection.methods.auto_keep import agreed_share
from lops_adapters.selection.outcome import Outcome
from lops_adapters.selection.selectors import Labels, Selector

_REFUSED = {  # arguments of build that few methods take: what is said by the others
    "votes": "takes one label per sample, not votes; use {others}",
    "groups": "knows no groups; leave groups out, or use {others}",
    "checked": "does not learn from checked rows; leave checked out",
    "gold": "takes no gold labels; only {others} does: leave gold out",
}
_OF_LABELS = {"count_label": True, "correct": False}  # options of few methods, with defaults
# Options of a method that are parts of a choice.
_CHOSEN = ("encoder", "words", "sure", "class_shares", "labelled_by")


def decide(
    labelled: Labelled, choice: Choice, method: Method | None = None, **options: Any
) -> Outcome:
    """Select among samples whose labels are read.

    The outcome does not depend on the order of the rows, see :mod:`.canonical`.

    Args:
        labelled: n samples, all with a label.
        choice: how to select; its probe as for :func:`build`.
        method: of a choice that is checked; default: the method of the choice.
        options: of the method's own, see :attr:`.Method.options`.

    Raises:
        LopsError: what the method does not take, and what it raises.

    >>> labelled = Labelled.of(["a", "b", "c", "d"], ["x", "x", "y", "y"])
    >>> decide(labelled, Choice("random", keep=0.5)).labels.tolist()
    [0, 0, 1, 1]
    """
    if method is None:
        checked = labelled.checked or None
        check_data(choice.method, votes=labelled.votes, groups=labelled.groups, checked=checked)
        method, choice = _ready(choice, options)
    why = ""
    if choice.keep == AUTO and method.takes_keep and choice.n is None:
        asked = choice.classifier, choice.seed, choice.quiet, method.by_class
        share, why = agreed_share(labelled, *asked)
        choice = replace(choice, keep=share)
    if method.alone:
        outcome = method(labelled, choice)
    else:
        ordered, places = in_content_order(labelled, choice.seed)
        outcome = method(ordered, choice).at(places)
    return replace(outcome, stopped=f"{why}; {outcome.stopped}") if why else outcome


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
    strict: bool = False,
    checked: Mapping[int, Hashable | None] | None = None,
    votes: Votes | None = None,
    groups: np.ndarray | None = None,
    **options: Any,
) -> Selector:
    """Return the selector of a method.

    The selection does not depend on the order of the rows; see :mod:`.canonical`.

    Args:
        method: one of :data:`METHODS`.
        probe: a probe, the name of a kind with its default settings, or a scikit-learn classifier;
            ignored by methods without a probe.
        n: how many samples to keep, for instance as many as another method kept; all, if there are
            no more than that. Default: the fraction ``keep``, rounded up (``confident-learning``:
            what is not flagged).
        keep: fraction of all samples, or of each class. Default: 0.5. ``auto``: the share of
            labels that a held-out probe prefers, see :func:`.auto_keep.agreed_share`. With
            ``ranked`` it is found per class, and the probe's predictions are divided by the
            classes' shares; class -> fraction does the same. A method that decides how many to keep
            takes ``auto`` only.
        every: updates between checkpoints, for methods with checkpoints. Default: one checkpoint
            per epoch.
        per_class: keep the same share of every class. Default: as the paper describes the method,
            see :class:`Method`.
        gold: one gold label per sample, in the order of the samples; only for ``optimal``.
        seed: of trainings, folds and ties.
        quiet: no progress bars other than the probe's own.
        strict: of the rules of learning order: raise if nothing is learnt in a class.
        checked: position of a sample -> its label by a person, None: no class; only of
            ``committee``, see :class:`.committee.Committee`.
        votes: of several label sources for the samples; only of ``committee``. The pseudo-labels
            are then what its members are trained on, such as the majority.
        groups: (n,) int codes; samples of a group do not score each other; only of ``committee``.
        options: see :attr:`.Method.options`.

    Raises:
        LopsError: what :func:`.method_table.check` raises, gold labels for another method than
            ``optimal``, checked rows or votes for another than ``committee``, and what is missing.

    >>> build("random", n=2)(["a", "b", "c", "d"], ["x", "x", "y", "y"]).per_class["x"].kept
    1
    """
    check_data(method, gold=gold, votes=votes, groups=groups, checked=checked)
    chosen = {name: options.pop(name) for name in _CHOSEN if name in options}
    choice = Choice(
        method, keep, per_class, probe, every, seed=seed, strict=strict, quiet=quiet, n=n, **chosen
    )
    row, choice = _ready(choice, options, gold)
    # In a framework, a class can lose all its labels.
    known, corrects = (getattr(row, name, value) for name, value in _OF_LABELS.items())
    data: dict[str, Any] = {"votes": votes, "groups": groups, "checked": checked or {}}

    def selector(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        labelled = Labelled.of(samples, pseudo_labels, known=known, **data)
        before = labelled.codes if corrects else None
        return decide(labelled, choice, row).selection(labelled.classes, before)

    return selector


def _ready(
    choice: Choice, options: Mapping[str, Any], gold: Labels | None = None
) -> tuple[Method, Choice]:
    method = check(choice, options)
    if method.needs_gold and gold is None:
        raise LopsError(f"{method.name} is defined by gold labels; pass gold, one label per sample")
    probe, even, given = choice.probe, choice.per_class, {"gold": gold} if gold is not None else {}
    method = replace(method, **given)
    if isinstance(probe, str):
        probe = None if probe == AUTO else probe_class(probe)()
    choice = replace(
        choice,
        probe=as_probe(probe),
        per_class=bool(method.per_class if even is None else even),
        keep=0.5 if choice.keep is None else choice.keep,
    )
    method.check_probe(choice)
    return method, choice


def check_data(method: str, **data: Any) -> None:
    """Raise a LopsError about votes, groups, checked rows or gold labels of another method."""
    known = isinstance(method, str) and method in METHODS  # others are refused by check
    takes = METHODS[method].takes if known else tuple(_REFUSED)
    for name, refusal in _REFUSED.items():
        if data.get(name) is not None and name not in takes:
            others = ", ".join(other.name for other in METHODS.values() if name in other.takes)
            raise LopsError(f"{method} {refusal.format(others=others)}")
