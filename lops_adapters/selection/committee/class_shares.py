"""How frequent the classes truly are, where the user knows it: which labels are given too often.

Notation: n samples, k classes, codes 0..k-1 of the labels.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from lops_adapters.console import listed, typed
from lops_adapters.core import LopsError
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.committee.calibration import Calibration
from lops_adapters.selection.committee.shifts import expit
from lops_adapters.surroundings import one_blas_thread

_CLOSE, _STEPS, _STEP = 1e-4, 100, 0.5
_KNOWN = 0.02  # standard deviation of shares that a user gives
_EXACT = 1e-6  # of their sum


def check_shares(shares: Any) -> None:
    """Raise a LopsError unless these are shares of classes: a dict, class -> number."""
    usable = isinstance(shares, Mapping) and all(
        isinstance(share, Real) and not isinstance(share, bool) and 0 <= float(share) < np.inf
        for share in shares.values()
    )
    if not usable or not any(shares.values()):
        raise LopsError(
            f"{typed('class_shares')} is {shares!r:.80}; wanted how frequent each class is, such "
            "as {'spam': 5, 'ham': 95}"
        )


def shares_of(
    shares: Mapping[Any, float], classes: Sequence[Hashable], codes: np.ndarray
) -> np.ndarray:
    """Return the shares of these classes, (k,), which sum to 1.

    Of all classes, numbers of any size. Of some, fractions if they sum to at most 1, else
    percentages; the other classes share what is left as the labels do, (n,) ``codes``. Raises a
    LopsError about a name that is no class, and where nothing is left.

    >>> shares_of({"spam": 5}, ["spam", "ham", "news"], np.array([0, 1, 1, 1, 2])).round(4).tolist()
    [0.05, 0.7125, 0.2375]
    """
    known = {*classes, *map(str, classes)}
    unknown = [repr(label) for label in shares if label not in known]
    if unknown:
        raise LopsError(
            f"{typed('class_shares')} names {listed(unknown, 5)}, which no row has as its label; "
            f"the classes are {listed(classes, 10)}"
        )
    found = np.array([shares.get(label, shares.get(str(label), np.nan)) for label in classes])
    given = ~np.isnan(found)
    found = np.where(given, found, 0.0)
    total = float(found.sum())
    left = (1 if total <= 1 + _EXACT else 100) - total
    if not given.all() and left <= _EXACT:
        others = listed((classes[code] for code in np.flatnonzero(~given).tolist()), 5)
        raise LopsError(
            f"{typed('class_shares')} sum to {total:g} and leave nothing for {others}; give each "
            "class a number, or some of them less than 100 in all"
        )
    rest = np.bincount(codes, minlength=len(classes)) * ~given
    found += left * rest / max(1, rest.sum())
    return np.asarray(found / found.sum())


@one_blas_thread
def tilted(
    calibration: Calibration, true: np.ndarray, codes: np.ndarray, shares: np.ndarray
) -> Calibration:
    """Return a calibration by which the true classes have these shares, as far as is plausible.

    Shifts of the table, of each class's labels, and of the class that is right where a label is
    wrong, all with the spreads of the calibration, are as small as they can be: Newton's method
    (Gauss) for the most probable ones. ``true`` are (n, k) of the posterior, ``shares`` (k,).
    """
    n, k = true.shape
    table, klass = calibration.spreads.table, calibration.spreads.klass
    moves = np.zeros((2 * k, 2 * k + 1))  # of log-odds and of classes, by standard normal numbers
    moves[:k, 0], moves[:k, 1 : k + 1], moves[k:, k + 1 :] = (
        table,
        klass * np.eye(k),
        klass * np.eye(k),
    )
    odds, logs = calibration.odds(true, codes), calibration.others(true, codes)
    labelled, certain = np.eye(k)[codes], true[np.arange(n), codes] == 1
    numbers = np.zeros(2 * k + 1)
    for _ in range(_STEPS):
        shift = moves @ numbers
        wrong = np.where(certain, 0.0, expit(odds + shift[codes]))
        others = softmax(logs + shift[k:])
        expected = ((1 - wrong) @ labelled + wrong @ others) / n
        slope = labelled * (wrong * (1 - wrong))[:, None]
        of_odds = (slope.T @ others - np.diag(slope.sum(axis=0))) / n
        weighted = others * wrong[:, None]
        of_classes = (np.diag(weighted.sum(axis=0)) - others.T @ weighted) / n
        gradient = np.vstack([of_odds, of_classes]).T @ moves / _KNOWN
        target = gradient.T @ ((shares - expected) / _KNOWN) - numbers
        step = np.linalg.solve(gradient.T @ gradient + np.eye(len(numbers)), target)
        largest = float(np.abs(moves @ step).max())
        numbers = numbers + step * min(1.0, _STEP / max(largest, 1e-9))
        if largest < _CLOSE:
            break
    shift = moves @ numbers
    return replace(calibration, offset=calibration.offset + shift[:k], favour=shift[k:])
