"""Several labels per text: a selection for each class, joined."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.console import aligned, percent
from lops_adapters.core import LopsError
from lops_adapters.texts.result import TextSelection
from lops_adapters.texts.select import select


@dataclass(frozen=True)
class MultilabelSelection:
    """Which decisions to trust, among n texts and k classes.

    Attributes:
        classes: k names.
        given: (n, k) bool, the text has the label; False, too, where nothing is known.
        known: (n, k) bool, the text was decided on for the class.
        mask: (n, k) bool, the decision is trusted, whether it gives the label or not.
        confidence: (n, k) float64, larger is more trusted, comparable within one class; NaN: not
            known, or not judged.
        suggested: (n, k) bool, the more probable decision.
        kept: sorted positions of texts all of whose decisions are known and trusted, int64.
        rejected: sorted positions of texts with a decision that is known and not trusted, int64.
        selections: class -> its selection, labels True and False; a class that all or none of the
            texts have is not judged, and has no entry.

    """

    classes: list[Hashable]
    given: np.ndarray
    known: np.ndarray
    mask: np.ndarray
    confidence: np.ndarray
    suggested: np.ndarray
    kept: np.ndarray
    rejected: np.ndarray
    selections: dict[Hashable, TextSelection]

    def labels(self) -> list[list[Hashable]]:
        """Return the trusted labels of each text, in the order of the classes."""
        trusted = self.given & self.mask
        return [[self.classes[c] for c in np.flatnonzero(row).tolist()] for row in trusted]

    def summary(self) -> str:
        """Return a table: per class, the labels, trusted ones, and texts that lack the label."""
        rows = [["class", "labels", "kept", "share", "suggested besides"]]
        for c, name in enumerate(self.classes):
            labels = int(self.given[:, c].sum())
            kept = int((self.given & self.mask)[:, c].sum())
            lacking = self.suggested & ~self.given & self.known & ~self.mask
            share = percent(kept / labels if labels else None)
            rows.append([str(name), str(labels), str(kept), share, str(int(lacking[:, c].sum()))])
        return aligned(rows)


def select_multilabel(
    texts: Sequence[str] | None,
    labels: Any,
    *,
    classes: Sequence[Hashable] | None = None,
    **choice: Any,
) -> MultilabelSelection:
    """Select the labels to trust where a text can have several, by one selection per class.

    Each class is selected for by itself: its labels are "has it" and "has it not".

    Args:
        texts: n strings; None with ``embeddings``.
        labels: n collections of class names; or an (n, k) matrix of 0 and 1, -1 or NaN where
            nothing is known; or a pandas DataFrame of these.
        classes: all class names. Default: those that occur, sorted; of a matrix, 0..k-1; of a
            frame, its columns.
        choice: as for :func:`lops_adapters.select`: method, keep, probe, sure, encoder,
            embeddings, seed, strict, quiet and the others that do not depend on the classes.

    Raises:
        LopsError: labels of another kind or number, no class that can be judged, and what
            :func:`lops_adapters.select` raises.

    >>> texts = ["a late goal"] * 9 + ["a bank cut rates"] * 9 + ["the club's bank, a goal"] * 9
    >>> labels = [["sport"]] * 8 + [["sport", "money"]] + [["money"]] * 9 + [["sport", "money"]] * 9
    >>> found = select_multilabel(texts, labels, encoder=None)
    >>> found.rejected.tolist(), found.labels()[8]
    ([8], ['sport'])

    """
    wrong = {"words", "pred_probs", "soft_labels", "abstain"} & set(choice)
    if wrong:
        raise LopsError(f"{sorted(wrong)[0]} is for one label per text; leave it out")
    names, given, known = _read(labels, classes)
    if texts is not None and len(texts) != len(given):
        raise LopsError(f"found {len(texts)} texts and {len(given)} rows of labels; wanted as many")
    mask, suggested = known.copy(), given.copy()
    confidence = np.full(given.shape, np.nan)
    selections: dict[Hashable, TextSelection] = {}
    for c, name in enumerate(names):
        at = known[:, c]
        if len(np.unique(given[at, c])) < 2:
            continue
        pairs = zip(given[:, c].tolist(), at.tolist(), strict=True)
        decided = [label if decided else None for label, decided in pairs]
        found = select(texts, decided, **choice)
        selections[name] = found
        mask[:, c], confidence[:, c] = found.mask, found.confidence
        suggested[at, c] = found.suggested[at].astype(bool)
    if not selections:
        raise LopsError(
            f"each of the {len(names)} classes is given to all texts or to none; wanted classes "
            "that some texts have"
        )
    whole = (mask & known).all(axis=1)
    return MultilabelSelection(
        classes=names,
        given=given,
        known=known,
        mask=mask,
        confidence=confidence,
        suggested=suggested,
        kept=np.flatnonzero(whole).astype(np.int64),
        rejected=np.flatnonzero((known & ~mask).any(axis=1)).astype(np.int64),
        selections=selections,
    )


def _read(
    labels: Any, classes: Sequence[Hashable] | None
) -> tuple[list[Hashable], np.ndarray, np.ndarray]:
    """Return the classes, the labels, and where they are known, both (n, k) bool."""
    columns = list(getattr(labels, "columns", ()))
    if not columns and getattr(labels, "ndim", 1) != 2:
        return _read_lists(labels, classes)
    try:
        matrix = np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError):
        raise LopsError("labels hold something else than 0, 1, -1 and NaN") from None
    known = ~(np.isnan(matrix) | (matrix == -1))
    if not np.isin(matrix[known], (0, 1)).all():
        odd = matrix[known][~np.isin(matrix[known], (0, 1))][0]
        raise LopsError(f"labels hold {odd:g}; wanted 0 or 1, and -1 or NaN where nothing is known")
    names = list(classes) if classes is not None else columns or list(range(matrix.shape[1]))
    if len(names) != matrix.shape[1]:
        raise LopsError(
            f"found {len(names)} classes and {matrix.shape[1]} columns of labels; wanted as many"
        )
    return names, (matrix == 1) & known, known


def _read_lists(
    labels: Any, classes: Sequence[Hashable] | None
) -> tuple[list[Hashable], np.ndarray, np.ndarray]:
    rows = list(labels)
    for position, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__iter__"):
            raise LopsError(
                f"the labels at position {position} are {row!r:.60}; wanted a list of class names, "
                "or a matrix of 0 and 1"
            )
    found = {label for row in rows for label in row}
    names: list[Any] = sorted(found, key=str) if classes is None else list(classes)
    unknown = sorted(map(str, found - set(names)))
    if unknown:
        raise LopsError(f"labels hold {unknown[0]!r}, which is not among the classes")
    place = {name: c for c, name in enumerate(names)}
    given = np.zeros((len(rows), len(names)), dtype=bool)
    for i, row in enumerate(rows):
        given[i, [place[label] for label in row]] = True
    return names, given, np.ones_like(given)
