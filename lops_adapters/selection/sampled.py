"""Verdicts on any block of a table, by a committee that was fitted to a sample of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.selection.draw import Drawn, row_ids
from lops_adapters.selection.judge import Judge, Verdict


class Sampled:
    """Judges rows inside the sample as the committee did, all others by the fitted views.

    A row equal to one of the sample (same content, same label) gets the verdict of the first of
    these. Can be pickled.

    Args:
        judge: of rows outside the sample.
        drawn: the sample.
        verdict: of the sample's rows, in their order.
        labels: (k,) uint64 keys of the classes, in the order of the judge's codes.

    """

    def __init__(self, judge: Judge, drawn: Drawn, verdict: Verdict, labels: np.ndarray) -> None:
        self.judge, self._labels = judge, labels
        self._positions, self._verdict = drawn.positions, verdict
        order = np.lexsort((drawn.positions, drawn.ids))
        self._ids, self._first = drawn.ids[order], order

    def __call__(
        self, samples: Sequence[Any], codes: np.ndarray, keys: np.ndarray, positions: np.ndarray
    ) -> Verdict:
        """Judge a block.

        Args:
            samples: m rows.
            codes: (m,) int64 class codes.
            keys: (m,) uint64 of :func:`~lops_adapters.selection.canonical.content_keys`.
            positions: (m,) int64 in the table.

        Raises:
            LopsError: what the judge raises.

        """
        ids = row_ids(keys, self._labels[codes])
        own, is_drawn = _places(self._positions, positions)
        equal, is_equal = _places(self._ids, ids)
        known = is_drawn | is_equal
        place = np.where(is_drawn, own, self._first[equal])
        new = np.flatnonzero(~known)
        found = self._verdict.at(place)
        judged = self.judge([samples[i] for i in new.tolist()], codes[new])
        for part, other in zip(found, judged, strict=True):
            part[new] = other
        return found


def _places(ordered: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each value in an ascending array, and whether it is there."""
    place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return place, ordered[place] == wanted
