"""What checked rows are worth: labels, a classifier, and the interval of the noise.

    python -m benchmarks.checked --data-dir DIR
    python -m benchmarks.checked --data-dir DIR --tables crowd-news,agnews-seeds

Per table of :mod:`benchmarks.real_tables`: the members of the committee, with the default encoder,
score it once, and the calibration is what all other families of tables give. Then gold labels play
the person: 5 to 150 rows are checked, 12 draws each, chosen by ``to_check``, at random, or as
the least trusted rows. Accuracy counts the checked rows; ``gain``, ``found`` and ``auroc`` are of
the others. A row whose gold label no row has is checked as "no class"; rows without a
gold label are not checked, and do not count. A table with a result file is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.real_noise import Classifier, coefficients
from benchmarks.real_tables import GIVEN, Table, load_table
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
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.member_table import TEXTS, Inputs, members_of
from lops_adapters.selection.committee.scores import score
from lops_adapters.selection.outcome import Outcome

COUNTS = (5, 10, 20, 50, 100, 150)
DRAWS = 12
CLASSIFIED = (50, 150)  # for these, other choices too, and a classifier in the first three draws


class Remembered(Member):
    """A member that scores once."""

    def __init__(self, member: Member) -> None:
        self.name, self.weight, self.read = member.name, member.weight, member.read
        self._member = member
        self._scores: np.ndarray | None = None

    def score(self, labelled: Folded) -> np.ndarray:
        """Return the probabilities, (n, k)."""
        if self._scores is None:
            self._scores = self._member.score(labelled)
        return self._scores.copy()

    def score_unseen(self, samples: Any, groups: np.ndarray | None = None) -> np.ndarray:
        """Return the probabilities of unseen samples, (m, k)."""
        return self._member.score_unseen(samples, groups)

    def vectors(self, samples: Any) -> np.ndarray | None:
        """Return the member's vectors, (m, width)."""
        return self._member.vectors(samples)


class Scored(NamedTuple):
    """A table and its committee, in the order of its content.

    Attributes:
        texts: n of them.
        classes: k names.
        codes, gold: (n,) int; gold -1: no class of the labels; -2: not known.
        members: of the committee.
        vectors: (n, width) of the encoder.
        before: (n,) probabilities that labels are right, without checked rows.
        order: (n,) positions in the table.

    """

    texts: list[str]
    classes: np.ndarray
    codes: np.ndarray
    gold: np.ndarray
    members: Sequence[Member]
    vectors: np.ndarray
    before: np.ndarray
    order: np.ndarray


def scored(table: Table, encoder: EmbeddingProbe) -> Scored:
    """Score a table by the members of the committee."""
    names, codes = np.unique(table.labels.astype(str), return_inverse=True)
    order = content_order(table.texts, codes, seed=0)
    texts, codes = [table.texts[i] for i in order.tolist()], codes[order]
    members = [Remembered(member) for member in members_of(Inputs(texts, encoder=encoder))]
    code_of = {"": -2, **{name: code for code, name in enumerate(names.tolist())}}
    gold = np.array([code_of.get(str(label), -1) for label in table.gold[order]])
    vectors = encoder.vectors(texts)
    data = Scored(texts, names, codes, gold, members, vectors, np.zeros(0), order)
    return data._replace(before=decided(data, np.array([], dtype=np.int64)).confidence)


def decided(data: Scored, rows: np.ndarray) -> Outcome:
    """Return the outcome after these rows are checked."""
    checked = dict(zip(rows.tolist(), data.gold[rows].tolist(), strict=True))
    labelled = Labelled(data.texts, data.codes, data.classes.tolist(), checked=checked)
    choice = Choice()
    scores = score(data.members, Folded.of(labelled, FOLDS, 0), vectors=len(rows) > 0)
    return decide(scores, believe(scores, labelled, TEXTS, choice), labelled, choice)[0]


def choices(data: Scored, draw: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield ways to choose rows: a name and all rows with a gold label in the order of checking."""
    ways = {
        "to_check": check_order(data.codes, draw, data.before),
        "random rows": np.random.default_rng(draw).permutation(len(data.codes)),
    }
    if draw == 0:
        ways["least trusted rows"] = np.argsort(data.before, kind="stable")
    for name, order in ways.items():
        yield name, order[data.gold[order] > -2]


def few_shot(data: Scored, rows: np.ndarray, known: np.ndarray) -> float:
    """Return the accuracy of a logistic regression on the vectors of the checked rows alone."""
    from sklearn.linear_model import LogisticRegression

    rows = rows[data.gold[rows] >= 0]
    if len(np.unique(data.gold[rows])) < 2:
        return float((data.gold == data.gold[rows[0]])[known].mean())
    model = LogisticRegression(C=10, max_iter=300).fit(data.vectors[rows], data.gold[rows])
    said = model.predict(data.vectors)
    said[rows] = data.gold[rows]
    return float((said == data.gold)[known].mean())


def of_others(data: Scored, outcome: Outcome, rows: np.ndarray) -> dict[str, float | None]:
    """Return what rejecting is worth on the rows that are not checked."""
    from sklearn.metrics import roc_auc_score

    others = data.gold > -2
    others[rows] = False
    wrong, rejected = (data.gold != data.codes)[others], ~outcome.mask[others]
    doubt = 1 - outcome.confidence[others]
    return {
        "gain": float((rejected & wrong).mean() - (rejected & ~wrong).mean()),
        "found": float((rejected & wrong).sum() / max(1, wrong.sum())),
        "right_lost": float((rejected & ~wrong).sum() / max(1, (~wrong).sum())),
        "auroc": float(roc_auc_score(wrong, doubt)) if 0 < wrong.mean() < 1 else None,
    }


def one_run(
    data: Scored, classifier: Classifier | None, name: str, order: np.ndarray, count: int, draw: int
) -> dict[str, Any]:
    """Measure one draw of checked rows."""
    known, place = data.gold > -2, np.argsort(data.order)
    rows = next_rows(order, count)
    outcome = decided(data, rows)
    codes = outcome.corrected(has_checks=True)
    assert outcome.noise is not None
    value, low, high, _ = outcome.noise.total
    labels = data.codes.copy()
    labels[rows] = np.where(data.gold[rows] < 0, labels[rows], data.gold[rows])
    one: dict[str, Any] = {
        "choice": name,
        "rows": count,
        "draw": draw,
        "accuracy": float((codes == data.gold)[known].mean()),
        "labels_as_given": float((labels == data.gold)[known].mean()),
        "few_shot": few_shot(data, rows, known),
        "rate": value,
        "low": low,
        "high": high,
        **of_others(data, outcome, rows),
    }
    if name == "to_check" and classifier is not None and draw < 3 and count in CLASSIFIED:
        named, kept = data.classes[codes].astype(object), outcome.mask
        one["macro_f1"] = classifier(named[place], kept[place])["balanced"]
    return one


def run(table: Table) -> dict[str, Any]:
    """Measure one table."""
    encoder, learnt = EmbeddingProbe("static"), coefficients(table.name)
    with patch.object(calibration, "coefficients", lambda: learnt):
        data = scored(table, encoder)
        classifier = Classifier(table, encoder) if table.test_texts else None
        runs = [
            one_run(data, classifier, name, order, count, draw)
            for draw in range(DRAWS)
            for name, order in choices(data, draw)
            for count in (COUNTS if name == "to_check" else CLASSIFIED)
        ]
        none = np.array([], dtype=np.int64)
        nothing = decided(data, none)
    known, place = data.gold > -2, np.argsort(data.order)
    right = data.gold == data.codes
    result: dict[str, Any] = {
        "n": len(data.codes),
        "noise": float((~right)[known].mean()),
        "seeds": DRAWS,
        "encoder": "static",
        "accuracy": {
            "labels": float(right[known].mean()),
            "committee": float((nothing.corrected(False) == data.gold)[known].mean()),
        },
        "unchecked": of_others(data, nothing, none),
        "runs": runs,
    }
    if classifier is not None:
        every = np.ones(len(right), dtype=bool)
        arms = {"all": every, "kept": nothing.mask[place], "only right": right[place]}
        result["macro_f1"] = {n: classifier(table.labels, m)["balanced"] for n, m in arms.items()}
    return result


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("checked", __doc__, GIVEN, load_table, run)


if __name__ == "__main__":
    main()
