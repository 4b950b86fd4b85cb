"""A committee that was fitted to the sample of a table and assesses its other rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import tie_hash
from lops_adapters.selection.committee.assessment import Assessment, FittedCommittee
from lops_adapters.tables.draw import Drawn, row_ids


class SampleCommittee:
    """Assesses any block of a table by a committee that was fitted to a sample of its rows.

    Rows of the sample, and rows equal to one of them (same content, label or votes, and group; the
    first of these), keep what the committee said of the sample. Can be pickled.

    Args:
        committee, drawn: the committee and the sample.
        assessment: of the sample's rows, in their order, with the codes of the table.
        labels: (k,) uint64 keys of the table's classes.
        places: (c,) int64 codes of the committee's classes in the table; default: the same codes.
        groups: (n,) int64 codes of the sample's groups, -1: none; None: no groups.
    """

    def __init__(
        self,
        committee: FittedCommittee,
        drawn: Drawn,
        assessment: Assessment,
        labels: np.ndarray,
        places: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> None:
        self.committee, self._labels = committee, labels
        self._places = np.arange(len(committee.classes)) if places is None else places
        self._positions, self._assessment = drawn.positions, assessment
        ids = _with_groups(drawn.ids, groups)
        self._first = np.lexsort((drawn.positions, ids))
        self._ids = ids[self._first]

    def __call__(
        self,
        samples: Sequence[Any],
        codes: np.ndarray,
        keys: np.ndarray,
        positions: np.ndarray,
        groups: np.ndarray | None = None,
    ) -> Assessment:
        """Assess a block; raises what the committee raises.

        Codes of m samples are (m,) int64; or votes, (m, sources) with the codes of the committee,
        then ``drawn`` has ids of :func:`vote_ids`. Keys are (m,) uint64 of
        :func:`~lops_adapters.selection.canonical.content_keys`, positions (m,) int64 in the table,
        groups (m,) int64 codes as of the sample.
        """
        drawn, is_drawn = _searched(self._positions, positions)
        one_label = codes.ndim == 1
        ids = row_ids(keys, self._labels[codes]) if one_label else vote_ids(keys, codes)
        equal, is_equal = _searched(self._ids, _with_groups(ids, groups))
        new = np.flatnonzero(~(is_drawn | is_equal))
        assessment = self._assessment.at(np.where(is_drawn, drawn, self._first[equal]))
        of_groups = None if groups is None else groups[new]
        of_new = self.committee([samples[i] for i in new.tolist()], codes[new], of_groups)
        suggested, labels = self._places[of_new.suggested], self._places[of_new.labels]
        of_new = of_new._replace(suggested=suggested, labels=labels)
        for part, unseen in zip(assessment, of_new, strict=True):
            part[new] = unseen
        return assessment


def vote_ids(keys: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """Return (m,) uint64 numbers by content and votes, from (m,) keys and (m, sources) codes."""
    for of_source in votes.T:
        keys = row_ids(keys, of_source.astype(np.uint64))
    return keys


def _with_groups(ids: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return ids that differ between groups, (n,) uint64."""
    return ids if groups is None else tie_hash(ids ^ (groups + 1).astype(np.uint64), 3)


def _searched(ordered: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first place of each value in an ascending array, and whether it is there."""
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return places, ordered[places] == values
