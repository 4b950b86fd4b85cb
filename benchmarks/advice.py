"""What to do with rejected rows: drop them, relabel the sure ones, relabel all, or keep them.

    python -m benchmarks.advice --dataset agnews --data-dir DIR

Half of the rows make a table whose labels are corrupted (``random``, ``pairs``, ``rules``, and
``seed words``: only the rows with seed words, all labelled by them); the other half measures. The
default of ``lops select`` judges the table. The hybrid classifier, and TF-IDF with logistic
regression, are trained on what each way leaves. Gold labels are used for the corruption and for
measuring alone.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.corruption import KINDS, Table
from benchmarks.record import command_line, write_result
from lops_adapters import select
from lops_adapters.datasets import Corpus, Dataset, GoldLabels, load
from lops_adapters.evaluation import f1_scores
from lops_adapters.probes import fast_probe
from lops_adapters.pseudo_labels import string_match

_RELABEL = 0.9  # the default of --relabel
_KINDS = ("random", "pairs", "rules", "seed words")


def halves(dataset: Dataset, rng: np.random.Generator) -> tuple[Dataset, list[str], np.ndarray]:
    """Return a data set of half of the documents, and texts and gold labels of the others."""
    corpus, gold = dataset.corpus, dataset.gold
    assert gold is not None
    order = rng.permutation(len(corpus.texts))
    ours, others = np.sort(order[::2]), np.sort(order[1::2])
    part = Corpus(
        corpus.name,
        tuple(corpus.ids[i] for i in ours),
        tuple(corpus.texts[i] for i in ours),
        corpus.classes,
        seeds=corpus.seeds,
        names=corpus.names,
    )
    own = GoldLabels(tuple(gold.labels[i] for i in ours))
    labels = np.array(gold.labels, dtype=object)
    return Dataset(part, own), [corpus.texts[i] for i in others], labels[others]


def by_seed_words(dataset: Dataset) -> Table:
    """Return the rows with seed words, labelled by these."""
    assert dataset.gold is not None
    found = string_match(dataset.corpus.texts, dataset.corpus.seeds)
    gold = np.array(dataset.gold.labels, dtype=object)[found.positions]
    return [dataset.corpus.texts[i] for i in found.positions], found.labels.copy(), gold


def ways(table: Table) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the rows and labels to train on, per way."""
    texts, labels, gold = table
    selection = select(texts, labels.tolist())
    kept, suggested = selection.mask, np.array(selection.suggested, dtype=object)
    sure = ~kept & (suggested != labels) & (selection.suggested_probability >= _RELABEL)
    other = ~kept & (suggested != labels)
    everything = np.ones(len(labels), dtype=bool)
    return {
        "keep all": (everything, labels),
        "drop": (kept, labels),
        "relabel the sure, drop others": (kept | sure, np.where(sure, suggested, labels)),
        "relabel all suggested, drop others": (kept | other, np.where(other, suggested, labels)),
        "relabel all suggested, keep others": (everything, np.where(other, suggested, labels)),
        "only right labels": (labels == gold, labels),
    }


def scores(table: Table, others: list[str], truth: np.ndarray) -> dict[str, dict[str, Any]]:
    """Train on what each way leaves; return rows, noise, and macro-F1 on the other half."""
    texts, _, gold = table
    classes = sorted(set(gold) | set(truth))
    found: dict[str, dict[str, Any]] = {}
    for way, (mask, labels) in ways(table).items():
        rows = np.flatnonzero(mask)
        train, codes = [texts[i] for i in rows], [classes.index(labels[i]) for i in rows]
        found[way] = {"rows": len(rows), "noise": float((labels[rows] != gold[rows]).mean())}
        for kind in ("hybrid", "linear"):
            model = fast_probe(kind, encoder="minilm", max_tokens=128, device="cpu", epochs=20)
            model.fit(train, codes, len(classes))
            predicted = model.predict_proba(others).argmax(axis=1)
            named = [classes[code] for code in predicted]
            found[way][kind] = f1_scores(truth.tolist(), named, classes).macro
    return found


def main() -> None:
    """Measure every kind of corruption and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="demo", help="default: demo")
    parser.add_argument("--data-dir")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    headers = "strip" if options.dataset.startswith("20news") else "keep"
    dataset = load(options.dataset, data_dir=options.data_dir, quiet=True, headers=headers)
    half, others, truth = halves(dataset, np.random.default_rng(options.seed))
    result = {}
    for kind in _KINDS:
        rng = np.random.default_rng(options.seed)
        table = by_seed_words(half) if kind == "seed words" else KINDS[kind](half, rng)
        result[kind] = scores(table, others, truth)
        print(kind, {way: round(own["hybrid"], 3) for way, own in result[kind].items()})
    name = f"select/advice-{dataset.corpus.name}"
    print(write_result(name, result, dataset.corpus, command=command_line("advice")))


if __name__ == "__main__":
    main()
