"""Texts with noisy labels in, a selection out: ``lops_adapters.select``."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.probes import Probe
from lops_adapters.probes.base import check_counts
from lops_adapters.selection import Suggestions, build
from lops_adapters.texts.choices import DECIDES_ITSELF, choose_probe, device_of, method_for
from lops_adapters.texts.explain import complaints, reasons
from lops_adapters.texts.reading import read_labels, read_texts
from lops_adapters.texts.result import TextSelection

FEWEST = 10  # texts, for cross-validation


def select(
    texts: Sequence[str],
    labels: Sequence[Hashable],
    probe: Probe | str = "auto",
    *,
    confidence: str | None = None,
    rule: str | None = None,
    tau: float | str = "auto",
    every: int | None = None,
    stratified: bool = False,
    seed: int = 0,
    strict: bool = False,
    quiet: bool = True,
) -> TextSelection:
    """Select the texts whose labels to trust.

    Args:
        texts: n strings, in a list, array, pandas column or data set column.
        labels: n class names, likewise, of one type.
        probe: ``auto`` (a transformer if there is a GPU, otherwise linear), ``linear`` (TF-IDF),
            ``minilm`` (packaged transformer), the folder or hub name of an encoder, or a probe.
        confidence: what ranks the texts: learning-order (default if tau is a number), probability,
            stability, margin, mc-dropout, entropy, o2u-net, or confident-learning (only with
            tau="auto").
        rule: one of :data:`lops_adapters.core.RULES`, instead of a ranking; needs a number for tau.
        tau: ``auto`` keeps the labels that a held-out probe agrees with; a number is the fraction
            to keep of each class (``rule``: as the rule reads it).
        every: updates between checkpoints of the probe; needs a number for tau. Default: one
            checkpoint per epoch.
        stratified: keep the same total as ``auto`` would, but the same share of every class; only
            with tau="auto".
        seed: of trainings, folds and ties.
        strict: raise instead of warning about a class without kept or learnt texts, or about labels
            unrelated to the texts.
        quiet: no progress bars.

    Returns:
        The selection, with positions in the order of ``texts``.

    Raises:
        LopsError: missing texts or labels, labels of several types, fewer than two classes,
            settings that contradict each other, an unavailable encoder, and what the method raises.

    >>> texts = ["the striker scored a late goal"] * 9 + ["the bank cut its rates"] * 9
    >>> selection = select(texts, ["sports"] * 9 + ["money"] * 8 + ["sports"], probe="linear")
    >>> selection.rejected.tolist(), selection.suggested[17]
    ([17], 'money')

    """
    method, arguments = method_for(confidence, rule, tau, every, stratified=stratified)
    check_counts(seed, every)
    read, names = read_texts(texts), read_labels(labels)
    _check_lengths(len(read), len(names), method)
    watched, which = choose_probe(probe, len(read), quiet)
    seen = Suggestions(len(read))
    selector = build(method, watched, **arguments, seed=seed, quiet=quiet, seen=seen, strict=strict)
    selection = selector(read, names)
    for message in complaints(selection, method):
        if strict:
            raise LopsError(message)
        warnings.warn(message, LopsWarning, stacklevel=2)
    settings: dict[str, Any] = {
        "probe": repr(watched),
        "device": device_of(watched),
        "method": method,
        "seed": seed,
        "confidence": confidence,
        "rule": rule,
        "tau": tau,
        "every": every,
        "stratified": stratified,
    }
    why = [which, *reasons(selection, method, arguments)]
    index = texts.index if hasattr(texts, "iloc") else None
    return TextSelection(selection, read, names, seen, why, settings, index=index)


def _check_lengths(n_texts: int, n_labels: int, method: str) -> None:
    if n_texts != n_labels:
        raise LopsError(
            f"found {n_texts} texts and {n_labels} labels; wanted one label per text, in the same "
            "order"
        )
    if method in DECIDES_ITSELF.values() and n_texts < FEWEST:
        raise LopsError(
            f"found {n_texts} texts, and {method} uses cross-validation; wanted at least {FEWEST}, "
            "or a number for tau"
        )
