"""Wrong labels found in corrupted gold labels, beside the usual recipe with cleanlab.

    python -m benchmarks.corruption --dataset agnews --data-dir DIR
    python -m benchmarks.corruption --dataset 20news-coarse --data-dir DIR

Every table holds gold labels, some of them replaced:

- ``random``: 20 % of the labels, by any other class; also on 800 and on 200 rows;
- ``pairs``: 30 % of two classes, by one other class each;
- ``rules``: the label by seed words, where a text holds some;
- ``imbalanced``: 5 % of 1,900 rows of one class and 100 of another, exchanged;
- ``rare``: 10 right rows of the first class; 20 % of the other labels, by each other.

The usual recipe is TF-IDF, logistic regression, 5-fold cross-validation and cleanlab's
``find_label_issues``. Gold labels are used for the corruption, for measuring, and for a bound:
``committee taught by gold labels`` judges the given labels by held-out views that have learnt from
gold labels. ``lost_at_recall_of_automatic`` compares rankings: the share of right labels lost if as
many wrong ones are found as by ``automatic``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.record import command_line, write_result
from lops_adapters import select
from lops_adapters.core import Selection
from lops_adapters.datasets import Dataset, load
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.pseudo_labels import string_match
from lops_adapters.selection import automatic, build, committee
from lops_adapters.selection.posterior import average, posterior

UNLIMITED = ", rare classes not limited"  # ends the names of ways without the limit
Table = tuple[list[str], np.ndarray, np.ndarray]  # texts, given labels, gold labels


def balanced(dataset: Dataset, n: int, rng: np.random.Generator) -> Table:
    """Return n rows (all, if there are fewer), as many of each class as of the others."""
    texts, gold = _columns(dataset)
    classes = dataset.corpus.classes
    parts = [rng.permutation(np.flatnonzero(gold == name))[: n // len(classes)] for name in classes]
    rows = np.concatenate(parts)
    return [texts[i] for i in rows], gold[rows].copy(), gold[rows]


def at_random(dataset: Dataset, rng: np.random.Generator, n: int = 7600) -> Table:
    """Replace 20 % of the labels of n rows by any other class."""
    texts, labels, gold = balanced(dataset, n, rng)
    _replace(labels, gold, np.arange(len(labels)), dataset.corpus.classes, rng)
    return texts, labels, gold


def in_pairs(dataset: Dataset, rng: np.random.Generator) -> Table:
    """Call 30 % of the first class the third, and 30 % of the last class the second."""
    texts, labels, gold = balanced(dataset, 7600, rng)
    classes = dataset.corpus.classes
    for before, after in ((classes[0], classes[2]), (classes[-1], classes[1])):
        labels[(gold == before) & (rng.random(len(gold)) < 0.3)] = after
    return texts, labels, gold


def by_rules(dataset: Dataset, rng: np.random.Generator) -> Table:
    """Label texts with seed words by these; other labels stay right."""
    texts, gold = _columns(dataset)
    labels, found = gold.copy(), string_match(texts, dataset.corpus.seeds)
    labels[found.positions] = found.labels
    rows = np.sort(rng.permutation(len(texts))[:7600])
    return [texts[i] for i in rows], labels[rows], gold[rows]


def imbalanced(dataset: Dataset, rng: np.random.Generator) -> Table:
    """Exchange 5 % of the labels of 1,900 rows of a class and 100 of another."""
    texts, gold = _columns(dataset)
    large, small = dataset.corpus.classes[:2]
    rows = np.concatenate(
        [
            rng.permutation(np.flatnonzero(gold == name))[:count]
            for name, count in ((large, 1900), (small, 100))
        ]
    )
    labels, other = gold[rows].copy(), {large: small, small: large}
    for i in np.flatnonzero(rng.random(len(rows)) < 0.05):
        labels[i] = other[labels[i]]
    return [texts[i] for i in rows], labels, gold[rows]


def with_rare_class(dataset: Dataset, rng: np.random.Generator) -> Table:
    """Keep 10 right rows of the first class; replace 20 % of the other labels by each other."""
    texts, labels, gold = balanced(dataset, 7600, rng)
    rare, *common = dataset.corpus.classes
    rows = np.r_[np.flatnonzero(gold == rare)[:10], np.flatnonzero(gold != rare)]
    _replace(labels, gold, rows[10:], common, rng)
    return [texts[i] for i in rows], labels[rows], gold[rows]


def _replace(
    labels: np.ndarray,
    gold: np.ndarray,
    rows: np.ndarray,
    classes: Sequence[str],
    rng: np.random.Generator,
) -> None:
    """Replace 20 % of the labels of some rows by any other of the classes, in place."""
    for i in rows[rng.random(len(rows)) < 0.2]:
        labels[i] = str(rng.choice([name for name in classes if name != gold[i]]))


def _columns(dataset: Dataset) -> tuple[tuple[str, ...], np.ndarray]:
    assert dataset.gold is not None
    return dataset.corpus.texts, np.array(dataset.gold.labels, dtype=object)


KINDS: dict[str, Callable[[Dataset, np.random.Generator], Table]] = {
    "random": at_random,
    "pairs": in_pairs,
    "rules": by_rules,
    "random-800": partial(at_random, n=800),
    "random-200": partial(at_random, n=200),
    "imbalanced": imbalanced,
    "rare": with_rare_class,
}


def usual_recipe(texts: list[str], labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the label quality and the mask of kept rows by cleanlab's usual recipe."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    _, codes = np.unique(labels, return_inverse=True)
    rows = TfidfVectorizer().fit_transform(texts)
    model = LogisticRegression(max_iter=1000)
    probabilities = cross_val_predict(model, rows, codes, cv=5, method="predict_proba")
    issues = find_label_issues(codes, probabilities, n_jobs=1)
    return get_label_quality_scores(codes, probabilities), ~issues


def taught_by_gold(
    texts: list[str], labels: np.ndarray, gold: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability that each label is right, and the mask of kept rows.

    The views are the committee's, as good as they can be: what they learn from is right.
    """
    names, codes = np.unique(labels, return_inverse=True)
    assert set(gold) == set(names)  # the columns of the views are those of the labels
    views = np.zeros((len(labels), len(names)))

    def seen(probabilities: np.ndarray, positions: np.ndarray | None = None) -> None:
        views[slice(None) if positions is None else positions] = probabilities

    build("committee", LinearProbe(), encoder="minilm", seen=seen)(texts, gold.tolist())
    found, _ = posterior(views, codes)
    right = found[np.arange(len(codes)), codes]
    return right, right >= average(right)


def measured(scores: np.ndarray, mask: np.ndarray, wrong: np.ndarray, cut: int) -> dict[str, float]:
    """Return what a ranking and a choice are worth.

    Args:
        scores: (n,), higher is more trusted.
        mask: (n,) bool, the kept rows.
        wrong: (n,) bool.
        cut: rows kept for ``noise_at_cut``, to compare rankings at equal coverage.

    """
    from sklearn.metrics import average_precision_score, roc_auc_score

    best = np.argsort(-scores, kind="stable")[:cut]
    return {
        "auroc": float(roc_auc_score(wrong, -scores)),
        "average_precision": float(average_precision_score(wrong, -scores)),
        "right_lost": float((~mask & ~wrong).sum() / (~wrong).sum()),
        "wrong_found": float((~mask & wrong).sum() / wrong.sum()),
        "noise_kept": float(wrong[mask].mean()),
        "noise_at_cut": float(wrong[best].mean()),
    }


def lost_at_recall(scores: np.ndarray, wrong: np.ndarray, recall: float) -> float:
    """Return the share of right labels lost if a ranking finds a share of the wrong ones.

    >>> lost_at_recall(np.array([0.1, 0.2, 0.3, 0.4]), np.array([True, False, True, False]), 0.6)
    0.5
    """
    suspicion = np.sort(scores[wrong])
    cut = suspicion[max(0, int(np.ceil(recall * len(suspicion) - 1e-9)) - 1)]
    return float((scores[~wrong] <= cut).mean())


def without_limit(
    probabilities: np.ndarray, codes: np.ndarray, small: np.ndarray, own: np.ndarray
) -> np.ndarray:
    """Stand in for :func:`lops_adapters.selection.automatic.strength`: no rare class is limited."""
    return np.where(small, 0.0, 1.0)


def compare(
    texts: list[str], labels: np.ndarray, gold: np.ndarray, *, unlimited: bool = False
) -> dict[str, Any]:
    """Run all methods on a table; the noise at equal coverage is at cleanlab's number of rows.

    Args:
        texts, labels, gold: the table.
        unlimited: run ours without the limit of rare classes, too.

    """
    wrong, found = labels != gold, dict[str, Any]()
    start = time.process_time()
    scores, mask = usual_recipe(texts, labels)
    cut, rankings = int(mask.sum()), {"cleanlab": scores}
    found["cleanlab"] = {
        **measured(scores, mask, wrong, cut),
        "processor_seconds": time.process_time() - start,
    }
    ways: dict[str, dict[str, Any]] = {
        "automatic": {"confidence": "automatic"},
        "committee without encoder": {"encoder": None},
        "committee": {"encoder": "minilm"},
    }
    if unlimited:
        ways |= {name + UNLIMITED: own for name, own in ways.items()}
    for name, settings in ways.items():
        start = time.process_time()
        with ExitStack() as stack:
            for room in (automatic, committee) if name.endswith(UNLIMITED) else ():
                stack.enter_context(patch.object(room, "strength", without_limit))
            selection = select(texts, labels.tolist(), "linear", **settings)
        rankings[name] = selection.confidence
        found[name] = {
            **measured(selection.confidence, selection.mask, wrong, cut),
            "processor_seconds": time.process_time() - start,
            **_estimate(selection),
        }
    start, name = time.process_time(), "committee taught by gold labels"
    rankings[name], mask = taught_by_gold(texts, labels, gold)
    seconds = time.process_time() - start
    found[name] = {**measured(rankings[name], mask, wrong, cut), "processor_seconds": seconds}
    recall = found["automatic"]["wrong_found"]
    for name, scores in rankings.items():
        found[name]["lost_at_recall_of_automatic"] = lost_at_recall(scores, wrong, recall)
    return {"n": len(labels), "noise": float(wrong.mean()), "kept_by_cleanlab": cut, "ways": found}


def _estimate(selection: Selection) -> dict[str, Any]:
    noise = getattr(selection, "noise", None)
    return {} if noise is None else {"estimate": [noise.rate, noise.low, noise.high]}


def main() -> None:
    """Compare on every kind of corruption and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="demo", help="default: demo")
    parser.add_argument("--data-dir")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"default: {','.join(KINDS)}")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    headers = "strip" if options.dataset.startswith("20news") else "keep"
    dataset = load(options.dataset, data_dir=options.data_dir, quiet=True, headers=headers)
    result = {}
    for kind in options.kinds.split(","):
        table = KINDS[kind](dataset, np.random.default_rng(options.seed))
        result[kind] = compare(*table, unlimited=kind == "rare")
        print(kind, {way: round(own["auroc"], 3) for way, own in result[kind]["ways"].items()})
    name = f"select/corruption-{dataset.corpus.name}"
    print(write_result(name, result, dataset.corpus, command=command_line("corruption")))


if __name__ == "__main__":
    main()
