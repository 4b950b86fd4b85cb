"""What checked rows are worth: labels, a classifier, and the interval of the noise.

    python -m benchmarks.checked --data-dir DIR
    python -m benchmarks.checked --data-dir DIR --tables crowd-news,agnews-seeds

Per table of :mod:`benchmarks.real_tables`: the members of the committee (with MiniLM) score it
once. Then gold labels play the person: 20 to 200 rows are checked, ten draws each, chosen by
``to_check``, at random, or by the least trusted rows. A table with a result file is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.real_noise import Classifier
from benchmarks.real_tables import CORPORA, REAL, Table, load_table
from benchmarks.record import measure_tables
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.selection.arbiter import learn
from lops_adapters.selection.canonical import content_order
from lops_adapters.selection.checking import check_order, next_rows, noise_rate
from lops_adapters.selection.folds import FOLDS, Folded
from lops_adapters.selection.likelihoods import class_shares, likelihoods, strengths, weakened
from lops_adapters.selection.member_table import Inputs, members_of
from lops_adapters.selection.posterior import label_distribution, least_kept, posterior_given

TABLES = (*REAL, *(f"{name}-seeds" for name in CORPORA[:2]))
COUNTS = (20, 50, 100, 150, 200)
DRAWS = 10
CLASSIFIED = (50, 150)  # counts for which a classifier is trained, in the first three draws


class Scored(NamedTuple):
    """A table as the committee sees it, in the order of its content.

    Attributes:
        classes: k names.
        codes, gold: (n,) int; gold -1: no class of the labels.
        of_members: likelihoods of every member, (n, k).
        weights: of the members.
        vectors: (n, width) of MiniLM.
        before: (n, k) probabilities of the true classes, without checked rows.
        given: of :func:`~lops_adapters.selection.posterior.label_distribution`.
        order: (n,) positions in the table.

    """

    classes: np.ndarray
    codes: np.ndarray
    gold: np.ndarray
    of_members: list[np.ndarray]
    weights: list[float]
    vectors: np.ndarray
    before: np.ndarray
    given: np.ndarray
    order: np.ndarray


def scored(table: Table, encoder: EmbeddingProbe) -> Scored:
    """Score a table by the members of the committee."""
    names, codes = np.unique(table.labels.astype(str), return_inverse=True)
    order = content_order(table.texts, codes, seed=0)
    texts, codes = [table.texts[i] for i in order.tolist()], codes[order]
    members = members_of(Inputs(texts, encoder=encoder))
    shares = class_shares(codes, len(names), FOLDS)
    labelled = Folded(texts, codes, names.tolist(), FOLDS)
    of_members = [likelihoods(member.score(labelled), shares) for member in members]
    weights = [member.weight for member in members]
    mean = np.average(of_members, axis=0, weights=weights)
    factors = strengths(mean, codes)
    of_members = [weakened(one, codes, factors) for one in of_members]
    likely = weakened(mean, codes, factors)
    given = label_distribution(likely, codes, FOLDS)
    before = posterior_given(likely, codes, given)
    code_of = {name: code for code, name in enumerate(names.tolist())}
    gold = np.array([code_of.get(str(label), -1) for label in table.gold[order]])
    vectors = encoder.vectors(texts)
    return Scored(names, codes, gold, of_members, weights, vectors, before, given, order)


def choices(data: Scored, draw: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield ways to choose rows: a name and all rows in the order of checking."""
    suggested = data.before.argmax(axis=1)
    yield "to_check", check_order(data.codes, suggested, draw)
    yield "random rows", np.random.default_rng(draw).permutation(len(data.codes))
    if draw == 0:
        right = data.before[np.arange(len(data.codes)), data.codes]
        yield "least trusted rows", np.argsort(right, kind="stable")


def probabilities(data: Scored, rows: np.ndarray) -> np.ndarray:
    """Return what the arbiter says after these rows are checked, (n, k)."""
    rows = rows[data.gold[rows] >= 0]
    true = data.gold[rows]
    arbiter = learn(data.of_members, data.codes, data.given, rows, true, data.vectors, data.weights)
    found = arbiter.probabilities(data.of_members, data.codes, data.vectors)
    found[rows] = np.eye(len(data.classes))[true]
    return found


def few_shot(data: Scored, rows: np.ndarray) -> float:
    """Return the accuracy of a logistic regression on the vectors of the checked rows alone."""
    from sklearn.linear_model import LogisticRegression

    rows = rows[data.gold[rows] >= 0]
    if len(np.unique(data.gold[rows])) < 2:
        return float((data.gold == data.gold[rows[0]]).mean())
    model = LogisticRegression(C=10, max_iter=300).fit(data.vectors[rows], data.gold[rows])
    said = model.predict(data.vectors)
    said[rows] = data.gold[rows]
    return float((said == data.gold).mean())


def corrected(data: Scored, true: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corrected codes, and the (n,) mask of kept rows."""
    right = true[np.arange(len(data.codes)), data.codes]
    right[rows] = 1
    kept = right >= least_kept(right)
    codes = np.where(kept, data.codes, true.argmax(axis=1))
    known = rows[data.gold[rows] >= 0]
    codes[known] = data.gold[known]
    return codes, kept


def run(table: Table) -> dict[str, Any]:
    """Measure one table."""
    encoder = EmbeddingProbe("minilm")
    data, classifier = scored(table, encoder), Classifier(table, encoder)
    wrong, place = data.gold != data.codes, np.argsort(data.order)
    every = np.ones(len(data.codes), dtype=bool)
    suggested = data.before.argmax(axis=1)
    runs: list[dict[str, Any]] = []
    for draw in range(DRAWS):
        for name, order in choices(data, draw):
            for count in COUNTS:
                rows = next_rows(order, count)
                codes, kept = corrected(data, probabilities(data, rows), rows)
                labels = data.codes.copy()
                labels[rows] = np.where(data.gold[rows] < 0, labels[rows], data.gold[rows])
                one: dict[str, Any] = {
                    "choice": name,
                    "rows": count,
                    "draw": draw,
                    "accuracy": float((codes == data.gold).mean()),
                    "labels_as_given": float((labels == data.gold).mean()),
                    "few_shot": few_shot(data, rows),
                }
                if name == "to_check":
                    rate = noise_rate(data.codes, suggested, rows, data.gold[rows])
                    assert rate is not None
                    one |= {"rate": rate.value, "low": rate.low, "high": rate.high}
                    if draw < 3 and count in CLASSIFIED:
                        named = data.classes[codes].astype(object)
                        one["macro_f1"] = classifier(named[place], kept[place])["balanced"]
                runs.append(one)
    nothing, kept = corrected(data, data.before.copy(), np.array([], dtype=np.int64))
    return {
        "n": len(data.codes),
        "noise": float(wrong.mean()),
        "seeds": DRAWS,
        "encoder": "minilm",
        "accuracy": {
            "labels": float((~wrong).mean()),
            "committee": float((nothing == data.gold).mean()),
        },
        "macro_f1": {
            "all": classifier(table.labels, every)["balanced"],
            "kept": classifier(table.labels, kept[place])["balanced"],
            "only right": classifier(table.labels, (~wrong)[place])["balanced"],
        },
        "runs": runs,
    }


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("checked", __doc__, TABLES, load_table, run)


if __name__ == "__main__":
    main()
