"""What one run of a framework is given: settings, seed, and the selectors of its arms."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from lops_adapters.core import LopsWarning, Selection
from lops_adapters.probes import Probe, probe_class
from lops_adapters.runs.arms import ADAPTIVE, LOPS, parent
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.settings import FrameworkSettings
from lops_adapters.selection import Selector, build, keep_all
from lops_adapters.selection.canonical import as_selector
from lops_adapters.selection.committee.folds import FOLDS
from lops_adapters.selection.methods.auto_keep import auto_keep
from lops_adapters.selection.methods.baselines import random_like, relabelled_like
from lops_adapters.selection.selectors import Labels

Settings = TypeVar("Settings", bound=FrameworkSettings)

# Arms that ``random`` is the control of, in this order.
CONTROLLED = ("committee", "automatic", ADAPTIVE, LOPS)


@dataclass(frozen=True)
class Job(Generic[Settings]):
    """One run: where it writes, its settings, and what else decides it.

    Attributes:
        seed: of everything random.
        gold: (n,) gold labels of the documents, only for an arm that is defined by them.
        words: names and seed words of each class, for methods that use them.
        checked: position of a document -> its class by a person, None: none of them; for methods
            that learn from checked documents.
    """

    folder: RunFolder
    settings: Settings
    seed: int
    device: str
    quiet: bool
    gold: np.ndarray | None = None
    words: Mapping[str, Sequence[str]] | None = None
    checked: Mapping[int, str | None] = field(default_factory=dict)

    def selector(
        self,
        method: str,
        probe: Callable[[], Probe],
        *,
        seed: int | None = None,
        n: int | None = None,
        positions: np.ndarray | None = None,
        per_class: bool | None = None,
        control_of: str | None = None,
        texts: Callable[[Sequence[Any]], Sequence[Any]] | None = None,
        correct: bool = False,
    ) -> Selector:
        """Return the selector of an arm, as the settings ask for it.

        Args:
            method: of the arm: ``lops``, ``lops-adaptive``, ``corrected``, a control, or a row of
                :data:`lops_adapters.selection.METHODS`; with or without the place of the arm.
            probe: builds the probe, for the methods that need one.
            seed, n, per_class: see :func:`lops_adapters.selection.build`; the seed: the run's.
            positions: (m,) of the documents that the samples are; None: other samples. By them,
                methods get the gold labels of the job, or the labels by a person.
            control_of: name of the stages, with ``{}`` for the arm, see :meth:`controlled`.
            texts: turns samples into texts, for methods that score texts and for keep ``auto``;
                default: the samples are texts or tokens.
            correct: ``committee`` corrects the labels, see
                :class:`~lops_adapters.selection.committee.committee.Committee`.
        """
        seed = self.seed if seed is None else seed
        row = self.settings.row(method)
        arm = self.controlled(control_of, method) if row.control and control_of else None
        if control_of and arm:
            other = self.folder.selection(control_of.format(arm))
            relabels = self.settings.arm(arm).relabels
            like = relabelled_like if relabels else random_like
            return as_selector(partial(like, other, arm, seed=seed), seed, relabels)
        known: dict[str, Any] = {"words": self.words, "device": self.device}
        known |= {"sure": self.settings.arm(method).sure, "count_label": False, "correct": correct}
        known["encoder"] = self.settings.committee_encoder
        options = {option: value for option, value in known.items() if option in row.options}
        gold, has_gold = None, self.gold is not None and row.needs_gold
        if positions is not None:
            gold = self.gold[positions] if has_gold else None  # type: ignore[index]
            pairs = enumerate(positions.tolist())
            checked = {i: self.checked[doc] for i, doc in pairs if doc in self.checked}
            options |= {"checked": checked} if checked and "checked" in row.takes else {}
        keep = self.settings.arm(method).keep if row.takes_keep and n is None else None
        make = partial(
            build,
            row.name,
            probe() if row.needs_probe else None,
            n=n,
            every=self.settings.updates_between_checkpoints if row.checkpoints else None,
            per_class=None if row.per_class is None else per_class,
            gold=gold,
            seed=seed,
            quiet=self.quiet,
            **options,
        )
        if row.keeps_all:
            return make()
        if isinstance(keep, str):
            linear = probe_class("linear")(quiet=self.quiet)
            automatic = auto_keep(
                lambda share: make(keep=share), linear, seed, by_class=row.by_class, texts=texts
            )
            return partial(_learnable, automatic, 0)
        least = FOLDS if row.validates else 0
        scored = make(keep=keep)
        if row.texts and texts is not None:  # the samples are something else
            by_texts = scored
            scored = lambda samples, labels: by_texts(texts(samples), labels)  # noqa: E731
        return partial(_learnable, scored, least)

    def save_model(self, arm: str, model: Any) -> None:
        """Save the trained classifier of an arm in the arm's folder."""
        self.folder.save_model(self.folder.arm(arm) / "model", model.save)

    def controlled(self, stages: str, control: str) -> str | None:
        """Return the arm whose numbers per class a control keeps.

        It is the arm that the control is named after, or the first finished one that selects where
        it does. ``stages`` is the name of the selections' stages, with ``{}`` for the arm.
        """
        _, place = self.settings.split(control)
        arms = (f"{arm}-{place}" if place else arm for arm in CONTROLLED)
        finished = (arm for arm in arms if self.folder.finished(stages.format(arm)))
        return parent(control) or next(finished, None)


def _learnable(
    selector: Selector, least: int, samples: Sequence[Any], pseudo_labels: Labels
) -> Selection:
    """Select, but keep all samples of a single class, or fewer than ``least`` samples."""
    if len(classes := set(pseudo_labels)) == 1:
        why = f"all {len(samples)} pseudo-labels are {classes.pop()!r}"
        warnings.warn(f"{why}; nothing is selected", LopsWarning, stacklevel=2)
    elif len(samples) < least:
        why = "too few samples for cross-validation"
    else:
        return selector(samples, pseudo_labels)
    whole = keep_all(samples, pseudo_labels)
    whole.stopped = f"{why}: everything is kept"
    return whole
