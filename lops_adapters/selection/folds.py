"""Folds of cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError, tie_hash
from lops_adapters.probes.base import check_codes, check_counts


def fold_of(codes: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each sample, (n,) int64: stratified, in the order of :func:`tie_hash`.

    >>> sorted(fold_of(np.array([0, 0, 0, 1, 1, 1]), 3, seed=0)[:3].tolist())
    [0, 1, 2]
    """
    order = np.lexsort((tie_hash(np.arange(len(codes)), seed), codes))
    fold = np.empty(len(codes), dtype=np.int64)
    fold[order] = np.arange(len(codes)) % folds
    return fold


def fold_of_groups(groups: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each sample, (n,) int64: all samples of a group in one fold.

    Groups come in the order of :func:`tie_hash`, and folds have about equal sizes.

    Raises:
        LopsError: fewer groups than folds.

    >>> fold_of_groups(np.array([0, 0, 1, 1, 2, 2]), 3, seed=0).tolist()
    [2, 2, 1, 1, 0, 0]
    """
    sizes = np.bincount(groups)
    if len(sizes) < folds:
        raise LopsError(
            f"found {len(sizes)} groups; wanted at least {folds}, one per fold of cross-validation"
        )
    order = np.argsort(tie_hash(np.arange(len(sizes)), seed), kind="stable")
    middles = np.cumsum(sizes[order]) - sizes[order] / 2
    fold = np.empty(len(sizes), dtype=np.int64)
    fold[order] = middles * folds // len(groups)
    return np.asarray(fold[groups])


def splits(
    samples: Sequence[Any],
    codes: np.ndarray,
    n_classes: int,
    *,
    folds: int,
    seed: int,
    quiet: bool,
    groups: np.ndarray | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, per fold, the sorted positions of the other folds and of the fold itself.

    With ``groups``, (n,) int codes, samples of a group are in one fold; else folds are stratified.

    Raises:
        LopsError: fewer than two folds, fewer samples or groups than folds, or codes that do not
            fit the samples.

    """
    check_codes(samples, codes, n_classes)
    check_counts(seed)
    if not 2 <= folds <= len(samples):
        raise LopsError(
            f"folds is {folds}; wanted at least 2, at most the number of samples, {len(samples)}"
        )
    fold = fold_of(codes, folds, seed)
    if groups is not None:
        fold = fold_of_groups(groups, folds, seed)
    for left_out in progress(range(folds), desc="folds", unit="training", quiet=quiet):
        yield np.flatnonzero(fold != left_out), np.flatnonzero(fold == left_out)
