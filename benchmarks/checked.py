"""What checked rows are worth: labels, a classifier, and the interval of the noise.

    python -m benchmarks.checked --data-dir DIR
    python -m benchmarks.checked --data-dir DIR --tables crowd-news,agnews-seeds

Per table of :mod:`benchmarks.real_tables`: the members of the committee, with the default encoder,
score it once, and the calibration is what all other families of tables give. Then gold labels play
the person: 20 to 200 rows are checked, five draws each, chosen by ``to_check``, at random, or as
the least trusted rows. A row whose gold label no row has is checked as "no class"; rows without a
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
from lops_adapters.selection.committee.belief import believe, learnt
from lops_adapters.selection.committee.checking import check_order, next_rows, noise_rate
from lops_adapters.selection.committee.committee import decide
from lops_adapters.selection.committee.folds import FOLDS, Folded
from lops_adapters.selection.committee.member import Member
from lops_adapters.selection.committee.member_table import TEXTS, Inputs, members_of
from lops_adapters.selection.committee.scores import score

COUNTS = (20, 50, 100, 150, 200)
DRAWS = 5
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
        before: (n, k) probabilities of the true classes, without checked rows.
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
    return data._replace(before=decided(data, np.array([], dtype=np.int64))[1])


def decided(data: Scored, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (n,) kept rows and (n, k) probabilities after these rows are checked."""
    checked = dict(zip(rows.tolist(), data.gold[rows].tolist(), strict=True))
    labelled = Labelled(data.texts, data.codes, data.classes.tolist(), checked=checked)
    scores = score(data.members, Folded.of(labelled, FOLDS, 0), apart=len(rows) > 0)
    belief = believe(scores, labelled, TEXTS)
    belief = learnt(belief, scores, labelled) if checked else belief
    return decide(scores, belief, labelled, Choice())[0].mask, belief.true


def choices(data: Scored, draw: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield ways to choose rows: a name and all rows with a gold label in the order of checking."""
    each, suggested = np.arange(len(data.codes)), data.before.argmax(axis=1)
    ways = {
        "to_check": check_order(data.codes, suggested, draw),
        "random rows": np.random.default_rng(draw).permutation(len(each)),
    }
    if draw == 0:
        ways["least trusted rows"] = np.argsort(data.before[each, data.codes], kind="stable")
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


def corrected(data: Scored, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corrected codes, and the (n,) mask of kept rows."""
    kept, true = decided(data, rows)
    codes = np.where(kept, data.codes, true.argmax(axis=1))
    known = rows[data.gold[rows] >= 0]
    codes[known] = data.gold[known]
    return codes, kept


def one_run(
    data: Scored, classifier: Classifier | None, name: str, order: np.ndarray, count: int, draw: int
) -> dict[str, Any]:
    """Measure one draw of checked rows."""
    known, place = data.gold > -2, np.argsort(data.order)
    rows = next_rows(order, count)
    codes, kept = corrected(data, rows)
    labels = data.codes.copy()
    labels[rows] = np.where(data.gold[rows] < 0, labels[rows], data.gold[rows])
    one: dict[str, Any] = {
        "choice": name,
        "rows": count,
        "draw": draw,
        "accuracy": float((codes == data.gold)[known].mean()),
        "labels_as_given": float((labels == data.gold)[known].mean()),
        "few_shot": few_shot(data, rows, known),
    }
    if name == "to_check":
        suggested = data.before.argmax(axis=1)
        rate = noise_rate(data.codes, suggested, rows, data.gold[rows])
        assert rate is not None
        one |= {"rate": rate.value, "low": rate.low, "high": rate.high}
        if classifier is not None and draw < 3 and count in CLASSIFIED:
            named = data.classes[codes].astype(object)
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
        nothing, kept = corrected(data, np.array([], dtype=np.int64))
    known, place = data.gold > -2, np.argsort(data.order)
    right = data.gold == data.codes
    result: dict[str, Any] = {
        "n": len(data.codes),
        "noise": float((~right)[known].mean()),
        "seeds": DRAWS,
        "encoder": "static",
        "accuracy": {
            "labels": float(right[known].mean()),
            "committee": float((nothing == data.gold)[known].mean()),
        },
        "runs": runs,
    }
    if classifier is not None:
        every = np.ones(len(right), dtype=bool)
        arms = {"all": every, "kept": kept[place], "only right": right[place]}
        result["macro_f1"] = {n: classifier(table.labels, m)["balanced"] for n, m in arms.items()}
    return result


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("checked", __doc__, GIVEN, load_table, run)


if __name__ == "__main__":
    main()
