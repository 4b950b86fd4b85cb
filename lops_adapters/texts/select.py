"""Texts with noisy labels in, a selection out: ``lops_adapters.select``."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lops_adapters import extras
from lops_adapters.console import aligned, percent
from lops_adapters.core import LopsError, LopsWarning, Selection
from lops_adapters.probes import Probe
from lops_adapters.probes.base import check_counts
from lops_adapters.selection import Suggestions, build
from lops_adapters.texts.choices import DECIDES_ITSELF, choose_probe, device_of, method_for
from lops_adapters.texts.reading import SEVERAL, SHOWN, read_labels, read_texts

if TYPE_CHECKING:
    from lops_adapters.report.data import SelectionPage

COLUMNS = ("lops_learnt_at", "lops_confidence", "lops_selected", "lops_suggested")
FEWEST = 10  # texts that are dealt into folds


class TextSelection(Selection):
    """A selection among texts, with what the probe would say of them. Besides what
    :class:`lops_adapters.core.Selection` holds:

    Attributes:
        texts, labels: lists of length n, as given.
        suggested: (n,) object array, the label that the probe prefers. With the automatic choice it
            is that of a probe which had not seen the text, class sizes aside, so that it differs
            from the label exactly where the text is rejected (classes kept whole, exact ties and
            ``stratified`` aside); otherwise that of the last look at the text.
        suggested_probability: (n,) float64 in [0, 1], of the suggested label.
        why: sentences: the probe, the rule, what ended the watching, what to do next.
        settings: what was asked for, and the method and rule that it came to.
        index: that of the texts, where they are a pandas column; the frame has it, too.

    """

    def __init__(
        self,
        selection: Selection,
        texts: list[str],
        labels: list[Hashable],
        seen: Suggestions,
        why: list[str],
        settings: dict[str, Any],
        index: Any = None,
    ) -> None:
        super().__init__(
            selection.mask,
            selection.learnt_at,
            selection.confidence,
            selection.per_class,
            selection.rule,
            selection.stopped,
        )
        classes = np.empty(len(selection.per_class), dtype=object)
        classes[:] = list(selection.per_class)
        self.texts, self.labels, self.why, self.settings, self.index = (
            texts,
            labels,
            why,
            settings,
            index,
        )
        self.suggested, self.suggested_probability = classes[seen.codes], seen.probability

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row a text, under the index that the texts came with.

        Its columns are text, label, lops_learnt_at (NaN: never), lops_confidence, lops_selected and
        lops_suggested.

        Raises:
            LopsError: pandas is not installed.

        """
        try:
            import pandas as pd
        except ImportError:
            raise LopsError(
                "a frame needs pandas, which is not installed; run: pip install pandas"
            ) from None
        learnt_at = np.where(np.isfinite(self.learnt_at), self.learnt_at, np.nan)
        columns = (learnt_at, self.confidence, self.mask, self.suggested.tolist())
        return pd.DataFrame(
            {"text": self.texts, "label": self.labels, **dict(zip(COLUMNS, columns, strict=True))},
            index=self.index,
        )

    def summary(self) -> str:
        """Return a table of the classes: rows, kept, the share kept, and why, where that is not the
        same for all.
        """
        rows = [["class", "rows", "kept", "share", "why"]]
        rows += [
            [str(c), str(r.count), str(r.kept), percent(r.kept / r.count), r.why]
            for c, r in self.per_class.items()
            if r.count
        ]
        n, kept = len(self.mask), len(self.kept)
        rows.append(["all", str(n), str(kept), percent(kept / n), ""])
        if len({why for *_, why in rows[1:-1]}) == 1:
            return aligned([numbers for *numbers, _ in rows])
        width = max(len(why) for *_, why in rows)
        lines = aligned([[*numbers, why.ljust(width)] for *numbers, why in rows]).splitlines()
        return "\n".join(line.rstrip() for line in lines)

    def page(
        self,
        gold: Sequence[Hashable] | None = None,
        *,
        title: str = "What LOPS kept",
        source: str = "texts given to lops_adapters.select",
        ids: Sequence[str] | None = None,
    ) -> SelectionPage:
        """Return all that a report shows.

        Args:
            gold: one gold label a text, None where it is not known; only evaluates what is selected
                already.
            title, source: shown at the top.
            ids: one id a text.

        Raises:
            LopsError: another number of gold labels or ids than of texts.

        """
        from lops_adapters.report.data import selection_page

        for name, given in (("gold labels", gold), ("ids", ids)):
            if given is not None and len(given) != len(self.mask):
                raise LopsError(
                    f"found {len(given)} {name} and {len(self.mask)} texts; wanted one a text, in the same order"
                )
        return selection_page(
            self,
            self.texts,
            self.labels,
            title=title,
            source=source,
            suggested=self.suggested,
            suggested_probability=self.suggested_probability,
            gold=gold,
            ids=ids,
            why=self.why,
            settings=self.settings,
            versions=extras.versions(),
        )

    def plot(self) -> Any:
        """Return a matplotlib Figure of the selection; LopsError where matplotlib is not installed."""
        from lops_adapters.report.plots import plot_selection

        return plot_selection(self.page())

    def report(self, path: str | Path, gold: Sequence[Hashable] | None = None) -> Path:
        """Write one self-contained HTML page and return its path; ``gold`` as for :meth:`page`."""
        from lops_adapters.report.selection_page import write_selection_page

        return write_selection_page(Path(path), self.page(gold))


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
    """Select the labels to trust among texts: probe, confidence and rule in one call.

    Args:
        texts: n strings, in a list, array, pandas column or data set column.
        labels: n class names, likewise, of one type.
        probe: ``auto`` (a transformer where a GPU is, otherwise linear), ``linear`` (TF-IDF),
            ``minilm`` (packaged transformer), the folder or hub name of an encoder, or a probe.
        confidence: what ranks the texts: learning-order (default where tau is a number),
            probability, stability, margin, mc-dropout, entropy, o2u-net, or confident-learning
            (only with tau="auto").
        rule: with learning order: one of :data:`lops_adapters.core.RULES`; default ``ranked``.
        tau: ``auto`` keeps as many of each class as a probe that has not seen them confirms; a
            number is the fraction of each class that the rule is after (``ranked``: keeps exactly
            that).
        every: look at the probe after every so many updates instead of after every epoch; only with
            a number for tau.
        stratified: keep as many in all as ``auto`` would, but the same share of every class; only
            with tau="auto".
        seed: of trainings, folds and ties.
        strict: raise instead of warning where nothing of a class is kept, or learnt.
        quiet: no progress bars.

    Returns:
        The selection, with positions in the order of ``texts``.

    Raises:
        LopsError: missing texts or labels, labels of several types, fewer than two classes,
            settings that contradict each other, an encoder that cannot be had, and what the method
            raises.

    >>> texts = ["the striker scored a late goal"] * 9 + ["the bank cut its rates"] * 9
    >>> selection = select(texts, ["sports"] * 9 + ["money"] * 8 + ["sports"], probe="linear")
    >>> selection.rejected.tolist(), selection.suggested[17]
    ([17], 'money')

    """
    method, arguments = method_for(confidence, rule, tau, every, stratified=stratified)
    check_counts(seed, every)
    read, names = read_texts(texts), read_labels(labels)
    if len(read) != len(names):
        raise LopsError(
            f"found {len(read)} texts and {len(names)} labels; wanted one label a text, in the same order"
        )
    if method in DECIDES_ITSELF.values() and len(read) < FEWEST:
        raise LopsError(
            f"found {len(read)} texts, and {method} deals them into folds; wanted at least {FEWEST}, or a number for tau"
        )
    watched, which = choose_probe(probe, len(read), quiet)
    seen = Suggestions(len(read))
    selector = build(method, watched, **arguments, seed=seed, quiet=quiet, seen=seen, strict=strict)
    selection = selector(read, names)
    if method != "lops":
        _check_kept(selection, strict)
    if method == "automatic":
        _check_chance(selection, strict)
    settings = {
        "probe": repr(watched),
        "device": device_of(watched),
        "method": method,
        "seed": seed,
    }
    settings |= {
        "confidence": confidence,
        "rule": arguments.get("rule", rule),
        "tau": tau,
        "every": every,
        "stratified": stratified,
    }
    why = [which, _how(method, arguments), f"Watching: {selection.stopped}.", *_next(selection)]
    return TextSelection(
        selection,
        read,
        names,
        seen,
        why,
        settings,
        index=texts.index if hasattr(texts, "iloc") else None,
    )


def _check_kept(selection: Selection, strict: bool) -> None:
    empty = [
        f"{label!r} ({report.count})"
        for label, report in selection.per_class.items()
        if not report.kept
    ]
    if not empty:
        return
    message = (
        f"nothing is kept of {len(empty)} of {len(selection.per_class)} classes: {', '.join(empty[:SHOWN])}. Look at these labels, or "
        "give tau a number, which keeps that share of every class"
    )
    _complain(message, strict)


def _check_chance(selection: Selection, strict: bool) -> None:
    """Complain where a probe confirms hardly more labels than one that guesses: of k classes, one
    in k.
    """
    n, kept, k = len(selection.mask), len(selection.kept), len(selection.per_class)
    if n < SEVERAL or kept * k > 1.2 * n:
        return
    message = (
        f"a probe confirms {kept} of {n} labels that it had not seen, hardly more than by guessing among {k} classes ({n // k}): the "
        "labels have little to do with the texts. Are these the right columns, and do their rows belong together?"
    )
    _complain(message, strict)


def _complain(message: str, strict: bool) -> None:
    if strict:
        raise LopsError(message)
    warnings.warn(message, LopsWarning, stacklevel=4)  # where select was called


def _how(method: str, arguments: dict[str, Any]) -> str:
    if method == "automatic" and arguments.get("stratified"):
        return (
            "Kept are as many as probes confirm that had not seen the texts (the automatic choice), the same share of every class: its "
            "best confirmed."
        )
    if method == "automatic":
        return "Kept is what a probe that had not seen the text confirms (the automatic choice): each class keeps its own share."
    if method == "confident-learning":
        return "Kept is what confident learning does not flag as a label error."
    if method == "lops":
        return f"Kept is what the probe learns first, by the rule {arguments['rule']} with tau {arguments['tau']:g}."
    return (
        f"Kept is the fraction {arguments['tau']:g} of each class that ranks highest by {method}."
    )


def _next(selection: Selection) -> list[str]:
    few = [str(label) for label, report in selection.per_class.items() if report.count == 1]
    sentences = [
        "Train the classifier on the kept rows; look through the rejected ones that the probe is surest about, and relabel or drop them."
    ]
    if few:
        sentences.append(
            f"Classes of a single row say nothing of their label: {', '.join(few[:SHOWN])}. Give them more rows, or leave them out."
        )
    return sentences
