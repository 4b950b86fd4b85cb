"""What a committee's score means in this table: a calibration learnt from tables with gold labels.

The posterior of :mod:`.posterior` ranks the labels of a table. How often a label with a given
score is wrong differs by table: on topics, where members agree with each other and with most
labels, a disputed label is nearly always wrong; on sentiment or stance, members dispute many right
labels. Six numbers about the table predict it. With s, the log-odds that a label is wrong by the
posterior, the calibrated log-odds are a + b s; a and b are linear in these numbers. With r samples
per class, they count r^2 / (r^2 + 144), and the log-odds that are usual in other tables the rest:
numbers about few samples say little. Members hardly learn a class that is small next to others, and
dispute its labels: with c < r samples of the label's class, r (c / r)^1.5 takes the place of r.
Within a class, the order of the scores stays. What these numbers cannot tell, checked rows can: see
:mod:`.shifts`.

The coefficients, and the tables that they were learnt from, are in ``calibration.json``, which
``benchmarks/calibration.py`` writes; results on left-out tables: docs/results/calibration.md.
Members that share one vector per sample agree more than members that read texts in their own ways,
so vectors have coefficients of their own.

Notation: n samples, k classes, m members, codes 0..k-1 of the labels.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from lops_adapters import shipped
from lops_adapters.selection.committee.likelihoods import skill
from lops_adapters.selection.committee.member_table import TEXTS
from lops_adapters.selection.committee.posterior import some
from lops_adapters.selection.committee.shifts import Spreads

_LIMIT = 9.2  # of log-odds; beyond it, scores hardly differ in what they mean
_BEYOND = 1e-3  # slope there, which keeps the order
LEAST_SLOPE = 0.02
_FEW = 0.02  # added to both shares of a log ratio
_LEAST, _NEVER = 1e-6, -1e9  # of other classes; of the class of the label
# b of one member, where rows are checked or class shares known: it is too sure. Chosen among 0.25,
# 0.35, 0.5 and 1 on the tables of docs/results/sources.md, with 10 to 50 rows.
TOO_SURE = 0.35
# Samples per class at which a table and other tables count the same; chosen among 8 to 20 on
# left-out tables of 100 and 300 rows, where r / (r + 4) to r / (r + 10) lost more of what is found.
FEW_PER_CLASS = 12
# The exponent for a class that is smaller than the mean; 1 loses more right labels of such classes,
# 2 finds less in tables of 1,000 rows.
SMALLER = 1.5


class Diagnostics(NamedTuple):
    """What members say about a table, without gold labels.

    Attributes:
        skill: chance-corrected agreement of the mean with the labels, see
            :func:`~lops_adapters.selection.committee.likelihoods.skill`.
        agreement: of two members with each other, chance-corrected; mean over the pairs.
        repeats: of the labels that a member disputes, the share for which another member prefers
            the same other class; mean over ordered pairs.
        confirms: log of ``repeats`` over the share for which the other member prefers the label.
        rows: log of samples per class.
        classes: log of the classes that compete.
    """

    skill: float
    agreement: float
    repeats: float
    confirms: float
    rows: float
    classes: float


def diagnose(choices: Sequence[np.ndarray], likely: np.ndarray, codes: np.ndarray) -> Diagnostics:
    """Return the diagnostics of a table.

    ``choices`` are m >= 2 arrays of the (n,) codes that members prefer; ``likely`` (n, k) the mean
    likelihoods; ``codes`` (n,) int.

    >>> likely = np.array([[0.9, 0.1]] * 3 + [[0.2, 0.8]] * 3)
    >>> one, other = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    >>> found = diagnose([one, other], likely, np.array([0, 0, 0, 1, 1, 0]))
    >>> [round(number, 2) for number in found]
    [0.67, 0.67, 0.75, 1.05, 1.1, 0.69]
    """
    chosen = some(likely)
    labels, n = codes[chosen], len(codes)
    k = max(2, int((likely.max(axis=0) > 0).sum()))
    of_members = [choice[chosen] for choice in choices]
    agreed, repeated, confirmed = [], [], []
    for one, other in permutations(of_members, 2):
        disputed = one != labels
        disputes = max(1, int(disputed.sum()))
        agreed.append(float((one == other).mean()))
        repeated.append(int((disputed & (one == other)).sum()) / disputes)
        confirmed.append(int((disputed & (other == labels)).sum()) / disputes)
    repeats = float(np.mean(repeated))
    return Diagnostics(
        skill(likely, codes),
        (float(np.mean(agreed)) - 1 / k) / (1 - 1 / k),
        repeats,
        float(np.log((repeats + _FEW) / (np.mean(confirmed) + _FEW))),
        float(np.log(n / k)),
        float(np.log(k)),
    )


@dataclass(frozen=True)
class Calibration:
    """What other tables teach about the labels of one table.

    Attributes:
        offset, slope: a and b of the log-odds that a label is wrong, (k,) by its class.
        evenness: exponent of the probabilities of the other classes: members are too sure which
            one is right.
        spreads: of what only this table can tell.
        origins: by who labelled, what is added to the log-odds for the estimate of the noise.
        favour: (k,) log-odds of the classes where a label is wrong, see :mod:`.class_shares`.
        applies: False: the posterior counts as it is.
    """

    offset: np.ndarray
    slope: np.ndarray
    evenness: float
    spreads: Spreads
    origins: Mapping[str, float]
    favour: np.ndarray | float = 0.0
    applies: bool = True

    def odds(self, true: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the log-odds that labels are wrong, (n,); ``true``: (n, k) of a posterior."""
        return np.asarray(self.offset[codes] + self.slope[codes] * scores(true, codes))

    def others(self, true: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the log-probabilities of the other classes if labels are wrong, (n, k)."""
        each = np.arange(len(codes))
        others = np.array(true)
        others[each, codes] = 0
        others /= np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
        logs = self.evenness * np.log(np.maximum(others, _LEAST)) + self.favour
        logs[each, codes] = _NEVER
        return np.asarray(logs)


def scores(true: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the log-odds that labels are wrong, (n,), from probabilities of the true classes.

    Their order is that of the probabilities; beyond 9.2 either way they hardly grow.
    """
    each = np.arange(len(codes))
    others = np.array(true)
    others[each, codes] = 0
    right, wrong = true[each, codes], others.sum(axis=1)
    odds = np.log(np.maximum(wrong, 1e-300)) - np.log(np.maximum(right, 1e-300))
    inside = np.clip(odds, -_LIMIT, _LIMIT)
    return np.asarray(inside + _BEYOND * (odds - inside))


def calibration_of(
    diagnostics: Diagnostics | None, of_class: np.ndarray, kind: str = TEXTS, usual: float = 1.0
) -> Calibration:
    """Return the calibration of a table with these diagnostics; None: of one that has none.

    ``of_class``: samples per class, (k,); ``kind``: of the samples, ``texts`` or ``vectors``;
    ``usual``: the slope without diagnostics, which counts where checked rows or class shares do.
    """
    every = coefficients()
    spreads = Spreads(**every["spreads"])
    if diagnostics is None:
        flat = np.zeros(len(of_class)), np.full(len(of_class), usual)
        return Calibration(*flat, 1.0, spreads, every["origins"], applies=False)
    found = line(every[kind], diagnostics, of_class)
    return Calibration(*found, every["evenness"], spreads, every["origins"])


def line(
    learnt: dict[str, Any], diagnostics: Sequence[float], of_class: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and slopes of calibrated log-odds, each of the shape of ``of_class``.

    ``of_class``: how many samples have the same label. Diagnostics outside what the tables of the
    calibration had count as the nearest of these.
    """
    numbers = np.clip(diagnostics, learnt["least"], learnt["most"])
    offset, slope = (
        learnt[name] + float(numbers @ learnt[f"{name}_by"]) for name in ("offset", "slope")
    )
    per_class = float(np.exp(Diagnostics(*diagnostics).rows))
    squared = (per_class * np.minimum(1, of_class / per_class) ** SMALLER) ** 2
    own = squared / (squared + FEW_PER_CLASS**2)
    return own * offset + (1 - own) * learnt["usual"], own * max(LEAST_SLOPE, slope)


@cache
def coefficients() -> dict[str, Any]:
    """Return what ``calibration.json`` holds."""
    return dict(json.loads(shipped.data("selection/committee/calibration.json")))
