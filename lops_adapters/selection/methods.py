"""The selection methods by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.core import LopsError, Selection
from lops_adapters.probes.base import Probe
from lops_adapters.selection.selectors import Labels, Lops, Selector, keep_all


@dataclass(frozen=True)
class Method:
    """What is known of a method before it is built."""

    name: str
    summary: str
    needs_probe: bool = False
    needs_gold: bool = False
    takes_n: bool = False
    options: tuple[str, ...] = ()


METHODS: Mapping[str, Method] = {
    "standard": Method("standard", "keeps everything"),
    "lops": Method("lops", "keeps what is learnt first", needs_probe=True),
    "random": Method("random", "keeps n at random", takes_n=True),
    "optimal": Method("optimal", "keeps what is right", needs_gold=True),
}


def build(
    name: str,
    probe: Probe | None = None,
    *,
    n: int | None = None,
    tau: float = 0.5,
    rule: str = "released",
    every: int | None = None,
    stratified: bool = False,
    gold: Any = None,
    seed: int = 0,
    quiet: bool = True,
    **options: Any,
) -> Selector:
    """Return the selector of a method."""
    if name == "standard":
        return keep_all
    if name == "lops":
        assert probe is not None
        return Lops(probe, tau=tau, rule=rule, every=every, seed=seed)

    def choose(samples: Sequence[Any], pseudo_labels: Labels) -> Selection:
        whole = keep_all(samples, pseudo_labels)
        if name == "optimal":
            mask = np.asarray(pseudo_labels, dtype=object) == np.asarray(gold, dtype=object)
        elif n is not None:
            mask = np.isin(np.arange(len(samples)), np.random.default_rng(seed).choice(len(samples), size=n, replace=False))
        else:
            raise LopsError("n is None")
        return Selection(mask, whole.learnt_at, whole.confidence, whole.per_class, name, "nothing was watched")

    return choose
