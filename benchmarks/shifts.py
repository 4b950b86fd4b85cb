"""Learn how far tables differ from what other tables teach; see selection/committee/shifts.py.

    python -m benchmarks.shifts --data-dir DIR

Per table with wrong labels that somebody gave (``GIVEN`` of :mod:`benchmarks.real_tables`), at most
1,200 rows, members with the default encoder, and coefficients that all other families of tables
give: how far the estimate of the noise is from the truth; the loss of the suggested classes for
each exponent; and the log loss of the rows that are not checked after 10, 20 and 50 rows in the
order of :func:`~lops_adapters.selection.committee.checking.check_order` are checked, four draws,
for the spreads that a search by coordinates visits. ``benchmarks.calibration fit`` takes from
``results/calibration/shifts.json`` what is best on average of all families but one, or of all.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import committed, left_out, of_kind, weighted
from benchmarks.calibration_tables import Item
from benchmarks.real_tables import GIVEN, Table, load_table, origin
from benchmarks.record import command_line, write_result
from lops_adapters.datasets import Corpus
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.probes.regression import softmax
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.committee import calibration as package
from lops_adapters.selection.committee.calibration import Calibration, calibration_of, diagnose
from lops_adapters.selection.committee.checking import check_order
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.member_table import TEXTS, Inputs, members_of
from lops_adapters.selection.committee.posterior import label_distribution, posterior_given
from lops_adapters.selection.committee.scores import score
from lops_adapters.selection.committee.shifts import Frame, Shifts, Spreads, expit, integrated

MOST, COUNTS, DRAWS = 1200, (10, 20, 50), 4
EVENNESS = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0)
START = Spreads(1.0, 1.0, 0.5, 1.0)
STEPS = (1.5, 1.25)  # factors of the search, one after the other


class Case(NamedTuple):
    """A table and its posterior, in the order of its content.

    Attributes:
        true: (n, k) of the posterior.
        codes, gold: (n,) of labels, and of gold labels; gold -1: no class of the labels; -2: not
            known.
        vectors: (n, width).
        calibration: by all other families; its spreads do not count.
        usable: (n,) bool, a gold label and a class that competes.

    """

    true: np.ndarray
    codes: np.ndarray
    gold: np.ndarray
    vectors: np.ndarray
    calibration: Calibration
    usable: np.ndarray

    @property
    def wrong(self) -> np.ndarray:
        """Which labels are wrong, (n,) bool."""
        return np.asarray(self.codes != self.gold)


def case_of(table: Table, learnt: dict[str, Any]) -> Case:
    """Score a sample of a table by the members; ``learnt``: coefficients of texts."""
    chosen = np.random.default_rng(0).permutation(len(table.texts))[:MOST]
    names, codes = np.unique(table.labels[chosen].astype(str), return_inverse=True)
    order = content_order([table.texts[i] for i in chosen], codes, 0)
    chosen, codes = chosen[order], codes[order]
    texts, encoder = [table.texts[i] for i in chosen], EmbeddingProbe("static", quiet=True)
    folded = Folded(texts, codes, names.tolist(), FOLDS, 0)
    scores = score(members_of(Inputs(texts, encoder=encoder)), folded)
    truth = label_distribution(scores.likely, codes, FOLDS)
    true = posterior_given(scores.likely, codes, truth)
    of_class = np.bincount(codes, minlength=len(names))
    every = {**package.coefficients(), TEXTS: learnt}
    with patch.object(package, "coefficients", lambda: every):
        calibration = calibration_of(diagnose(scores.choices, scores.likely, codes), of_class)
    code_of = {"": -2, **{name: code for code, name in enumerate(names.tolist())}}
    gold = np.array([code_of.get(str(label), -1) for label in table.gold[chosen]])
    usable = (gold > -2) & ~scores.mean.small[codes]
    return Case(true, codes, gold, np.asarray(encoder.vectors(texts)), calibration, usable)


def residual(case: Case) -> float:
    """Return what has to be added to the log-odds for the true share of wrong labels."""
    odds, share = case.calibration.odds(case.true, case.codes)[case.usable], case.wrong[case.usable]
    low, high = -9.0, 9.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(odds + middle).mean() < share.mean() else (low, middle)
    return low


def loss_of_classes(case: Case, evenness: float) -> float | None:
    """Return the mean loss of the true classes of wrong labels; None: there is no choice."""
    rows = np.flatnonzero(case.usable & case.wrong & (case.gold >= 0))
    if case.true.shape[1] < 3 or not len(rows):
        return None
    calibration = replace(case.calibration, evenness=evenness)
    logs = calibration.others(case.true[rows], case.codes[rows])
    return float(-np.log(softmax(logs)[np.arange(len(rows)), case.gold[rows]]).mean())


def loss_of_labels(case: Case, spreads: Spreads) -> float:
    """Return the mean log loss of the rows that are not checked."""
    odds, k = case.calibration.odds(case.true, case.codes), case.true.shape[1]
    rows = Frame.of(spreads, k, odds, case.vectors).rows(odds, case.codes, case.vectors)
    losses = []
    for draw in range(DRAWS):
        order = check_order(case.codes, draw, 1 - expit(odds))
        order = order[case.usable[order]]
        for count in COUNTS:
            shifts = Shifts.learn(rows[order[:count]], case.wrong[order[:count]], k)
            others = order[count:]
            probability = np.clip(integrated(*shifts.odds(rows[others])), 0.002, 0.998)
            wrong = case.wrong[others]
            losses.append(-np.log(np.where(wrong, probability, 1 - probability)).mean())
    return float(np.mean(losses))


def searched(cases: dict[str, Case]) -> dict[str, dict[str, float]]:
    """Return per table the loss for each visited value of the spreads."""
    visited: dict[Spreads, dict[str, float]] = {}

    def mean(spreads: Spreads) -> float:
        if spreads not in visited:
            visited[spreads] = {n: loss_of_labels(case, spreads) for n, case in cases.items()}
        return weighted(visited[spreads])

    best = START
    for step in STEPS:
        for name in Spreads._fields:
            value = getattr(best, name)
            tried = [best._replace(**{name: round(value * by, 3)}) for by in (1, step, 1 / step)]
            best = min(tried, key=mean)
            print(f"{best}: {mean(best):.5f}", flush=True)
    return {
        n: {" ".join(map(str, one)): round(losses[n], 6) for one, losses in visited.items()}
        for n in cases
    }


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    options = parser.parse_args()
    learnt = left_out(of_kind(committed("tables"), TEXTS), {Item(name).family for name in GIVEN})
    cases = {
        name: case_of(load_table(name, options.data_dir), learnt[Item(name).family])
        for name in GIVEN
    }
    spreads = searched(cases)
    result = {
        name: {
            "family": Item(name).family,
            "origin": origin(name),
            "residual": round(residual(case), 4),
            "evenness": {str(one): loss_of_classes(case, one) for one in EVENNESS},
            "spreads": spreads[name],
        }
        for name, case in cases.items()
    }
    corpus = Corpus("calibration", tuple(result), tuple(result), ("right", "wrong"))
    write_result("calibration/shifts", result, corpus, command=command_line("shifts"))


if __name__ == "__main__":
    main()
