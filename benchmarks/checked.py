"""What checked rows are worth, from none to fifty: decisions, labels, classifiers, the range.

    python -m benchmarks.checked --data-dir DIR
    python -m benchmarks.checked --data-dir DIR --tables crowd-news,agnews-seeds

Per table of :mod:`benchmarks.real_tables` with labels that somebody gave, and with gold labels
only: the members of the committee, with the default encoder, score a sample of at most 1,200 rows
once; what other tables teach comes from all other families. Then gold labels play the person:
0 to 50 rows are checked, 12 draws each, in the order of ``to_check``, at random, as ActiveLab
chooses them (once), or with 5 and 10 % of wrong answers. A row whose gold label no row has is
checked as "no class"; rows without a gold label are not checked, and do not count.

All numbers are means over the draws. ``accuracy`` and the rivals' are of all rows, checked ones
included; ``gain``, ``corrected``, ``found``, ``right_lost`` and ``auroc`` are of the others. Rivals
that train, and the classifier of :mod:`benchmarks.real_noise` on ``train.csv``, have three draws.
Tables without wrong labels have no rivals. A table with a result file is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.calibration_tables import Item
from benchmarks.real_noise import Classifier, coefficients
from benchmarks.real_noise_cleanlab import cleanlab_corrected
from benchmarks.real_tables import GIVEN, TABLES, Table, load_table, origin
from benchmarks.record import measure_tables
from lops_adapters.labels.labelled import Labelled
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection import Choice
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.committee import calibration
from lops_adapters.selection.committee.belief import believe
from lops_adapters.selection.committee.checking import check_order, next_rows
from lops_adapters.selection.committee.committee import decide
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.member_table import TEXTS, Inputs, members_of
from lops_adapters.selection.committee.scores import Scores, score
from lops_adapters.selection.outcome import Outcome

MOST, COUNTS, DRAWS = 1200, (5, 10, 20, 50), 12
TRAINED = 3  # draws of what trains
SLIPS = (0.05, 0.1)
NONE = np.array([], dtype=np.int64)
CLEAN = tuple(name for name in TABLES if Item(name).kind == "clean")


class Scored(NamedTuple):
    """A sample of a table and its committee, in the order of its content.

    Attributes:
        table: the sample.
        classes: k names.
        codes, gold: (n,) int; gold -1: no class of the labels; -2: not known.
        scores: of the committee.
    """

    table: Table
    classes: np.ndarray
    codes: np.ndarray
    gold: np.ndarray
    scores: Scores

    @property
    def known(self) -> np.ndarray:
        """Which rows have a gold label, (n,) bool."""
        return np.asarray(self.gold > -2)

    def accuracy(self, codes: np.ndarray) -> float:
        """Return the share of right codes, of (n,)."""
        return float((codes == self.gold)[self.known].mean())


def scored(table: Table, encoder: EmbeddingProbe) -> Scored:
    """Score a sample of a table by the members of the committee."""
    rows = np.random.default_rng(0).permutation(len(table.texts))[:MOST]
    names, codes = np.unique(table.labels[rows].astype(str), return_inverse=True)
    order = content_order([table.texts[i] for i in rows], codes, seed=0)
    rows, codes = rows[order], codes[order]
    texts = [table.texts[i] for i in rows]
    table = table._replace(texts=texts, labels=table.labels[rows], gold=table.gold[rows])
    code_of = {"": -2, **{name: code for code, name in enumerate(names.tolist())}}
    gold = np.array([code_of.get(str(label), -1) for label in table.gold])
    folded = Folded(texts, codes, names.tolist(), FOLDS, 0)
    members = members_of(Inputs(texts, encoder=encoder))
    return Scored(table, names, codes, gold, score(members, folded, vectors=True))


def decided(data: Scored, rows: np.ndarray, answers: np.ndarray, **given: Any) -> Outcome:
    """Return the outcome after (m,) rows got these answers; ``given``: of the choice."""
    checked = dict(zip(rows.tolist(), answers.tolist(), strict=True))
    labelled = Labelled(data.table.texts, data.codes, data.classes.tolist(), checked=checked)
    scores, choice = data.scores, Choice(**given)
    if not checked:
        scores = replace(scores, vectors=np.zeros((len(data.codes), 0)))
    return decide(scores, believe(scores, labelled, TEXTS, choice), labelled, choice)[0]


def slipped(data: Scored, rows: np.ndarray, share: float, draw: int) -> np.ndarray:
    """Return answers of a person of whom a share is wrong, by any other class."""
    rng, k = np.random.default_rng(1000 + draw), len(data.classes)
    answers, slips = data.gold[rows].copy(), rng.random(len(rows)) < share
    answers[slips] = (answers[slips] + 1 + rng.integers(0, k - 1, int(slips.sum()))) % k
    return answers


def measured(data: Scored, outcome: Outcome, rows: np.ndarray) -> dict[str, float | None]:
    """Return what an outcome is worth after these rows are checked."""
    from sklearn.metrics import roc_auc_score

    others = data.known.copy()
    others[rows] = False
    wrong, rejected = (data.gold != data.codes)[others], ~outcome.mask[others]
    codes = outcome.corrected(has_checks=bool(len(rows)))
    right, doubt = (codes == data.gold)[others], 1 - outcome.confidence[others]
    found: dict[str, float | None] = {
        "accuracy": data.accuracy(codes),
        "gain": float((rejected & wrong).mean() - (rejected & ~wrong).mean()),
        "corrected": float(right.mean() - (~wrong).mean()),
        "found": float((rejected & wrong).sum() / max(1, wrong.sum())),
        "right_lost": float((rejected & ~wrong).sum() / max(1, (~wrong).sum())),
        "auroc": float(roc_auc_score(wrong, doubt)) if 0 < wrong.mean() < 1 else None,
    }
    if outcome.noise is not None:
        truth = float((data.gold != data.codes)[data.known].mean())
        value, low, high, _ = outcome.noise.total
        found |= {"rate": value, "low": low, "high": high, "holds": float(low <= truth <= high)}
        found["within"] = float(truth / 2 <= value <= 2 * truth)
    return found


def few_shot(data: Scored, rows: np.ndarray) -> float:
    """Return the accuracy of a logistic regression on the vectors of the checked rows alone."""
    from sklearn.linear_model import LogisticRegression

    rows = rows[data.gold[rows] >= 0]
    said = np.full(len(data.codes), data.gold[rows[0]] if len(rows) else 0)
    if len(np.unique(data.gold[rows])) > 1:
        model = LogisticRegression(C=10, max_iter=300)
        model.fit(data.scores.vectors[rows], data.gold[rows])
        said = model.predict(data.scores.vectors)
    said[rows] = data.gold[rows]
    return data.accuracy(said)


def alone(data: Scored, rows: np.ndarray) -> np.ndarray:
    """Return the codes of the labels, (n,), in which checked rows are corrected."""
    codes = data.codes.copy()
    codes[rows] = data.gold[rows]
    return codes


def cleanlab(data: Scored, rows: np.ndarray) -> float:
    """Return the accuracy after cleanlab, in 5 folds, whose labels have checked rows corrected."""
    codes = alone(data, rows)
    codes[codes < 0] = data.codes[codes < 0]
    names, codes = np.unique(codes, return_inverse=True)
    table = data.table._replace(labels=codes)
    said = names[cleanlab_corrected(data.scores.vectors, table, 0)[2].astype(int)]
    said[rows] = data.gold[rows]
    return data.accuracy(said)


def by_activelab(data: Scored) -> np.ndarray:
    """Return the positions in the order of ActiveLab, by logistic regression in 5 folds."""
    from cleanlab.multiannotator import get_active_learning_scores
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model, codes = LogisticRegression(max_iter=1000), data.codes
    likely = cross_val_predict(model, data.scores.vectors, codes, cv=folds, method="predict_proba")
    return np.argsort(get_active_learning_scores(codes[:, None], likely)[0], kind="stable")


def orders(
    data: Scored, right: np.ndarray, draw: int, noisy: bool
) -> Iterator[tuple[str, float, np.ndarray]]:
    """Yield ways to check: a name, the share of wrong answers, rows with a gold label in order."""
    own = check_order(data.codes, draw, right)
    ways = [("to_check", 0.0, own)]
    if noisy:
        ways += [(f"{share:.0%} wrong answers", share, own) for share in SLIPS]
        ways.append(("random rows", 0.0, np.random.default_rng(draw).permutation(len(right))))
    if noisy and draw == 0:
        ways.append(("ActiveLab's rows", 0.0, by_activelab(data)))
    for name, slips, order in ways:
        yield name, slips, order[data.known[order]]


def checks(
    data: Scored, right: np.ndarray, noisy: bool, classifier: Classifier | None
) -> dict[str, Any]:
    """Return the measures per way to check and count; ``right``: (n,) before any check."""
    runs: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for draw in range(DRAWS):
        for name, slips, order in orders(data, right, draw, noisy):
            for count in COUNTS:
                rows = next_rows(order, count)
                outcome = decided(data, rows, slipped(data, rows, slips, draw))
                one = measured(data, outcome, rows)
                if noisy and name == "to_check":
                    one |= rivals(data, rows, trains=draw < TRAINED)
                    one |= trained(data, outcome, classifier if draw < TRAINED else None)
                runs.setdefault(name, {}).setdefault(str(count), []).append(one)
    return {
        name: {count: means(some) for count, some in counts.items()}
        for name, counts in runs.items()
    }


def rivals(data: Scored, rows: np.ndarray, *, trains: bool) -> dict[str, float]:
    """Return the accuracy of other ways to use the checked rows; ``trains``: also of slow ones."""
    found = {"alone": data.accuracy(alone(data, rows))}
    if trains:
        found |= {"few-shot": few_shot(data, rows), "cleanlab": cleanlab(data, rows)}
    return found


def means(runs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the mean of each measure over the runs that have it."""
    names = sorted({name for run in runs for name, value in run.items() if value is not None})
    values = ([run[name] for run in runs if run.get(name) is not None] for name in names)
    return {
        name: round(float(np.mean(of_runs)), 6) for name, of_runs in zip(names, values, strict=True)
    }


def trained(data: Scored, outcome: Outcome, classifier: Classifier | None) -> dict[str, float]:
    """Return macro-F1 of a classifier on ``train.csv``, if there is one."""
    if classifier is None:
        return {}
    codes = outcome.corrected(has_checks=True)
    weights = np.where(codes == data.codes, outcome.confidence, outcome.probability)
    labels, rows = data.classes[codes].astype(object), codes >= 0
    return {"macro_f1": classifier(labels, rows, weights + 1e-3)["balanced"]}


def unchecked(data: Scored, nothing: Outcome, name: str) -> dict[str, Any]:
    """Return the measures without checked rows of a table of ``GIVEN``, by what else is known."""
    counts = np.bincount(data.gold[data.gold >= 0], minlength=len(data.classes))
    shares = dict(zip(data.classes.tolist(), counts.tolist(), strict=True))
    ways = {
        "class shares": decided(data, NONE, NONE, class_shares=shares),
        "who labelled": decided(data, NONE, NONE, labelled_by=origin(name)),
    }
    return {way: {"0": means([measured(data, outcome, NONE)])} for way, outcome in ways.items()}


def run(table: Table) -> dict[str, Any]:
    """Measure one table."""
    encoder, learnt = EmbeddingProbe("static"), coefficients(table.name)
    noisy = table.name in GIVEN
    with patch.object(calibration, "coefficients", lambda: learnt):
        data = scored(table, encoder)
        classifier = Classifier(data.table, encoder) if noisy and table.test_texts else None
        nothing = decided(data, NONE, NONE)
        ways = checks(data, nothing.confidence, noisy, classifier)
        start = measured(data, nothing, NONE)
        if noisy:
            start |= {"cleanlab": cleanlab(data, NONE), **trained(data, nothing, classifier)}
            ways |= unchecked(data, nothing, table.name)
        ways["to_check"]["0"] = means([start])
    right = data.gold == data.codes
    result: dict[str, Any] = {
        "n": len(right),
        "noise": float((~right)[data.known].mean()),
        "draws": DRAWS,
        "ways": ways,
    }
    if classifier is not None:
        arms = {"all": np.ones(len(right), dtype=bool), "only right": right}
        labels = data.table.labels
        result["macro_f1"] = {name: classifier(labels, m)["balanced"] for name, m in arms.items()}
    return result


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("checked", __doc__, (*GIVEN, *CLEAN), load_table, run)


if __name__ == "__main__":
    main()
