"""Short texts of many classes: what a selection without a checked row keeps, and what it is worth.

    python -m benchmarks.short_texts --data-dir DIR

Gold labels, of which none, a tenth or three tenths are drawn at random again; newsgroup messages
are cut to their first words. Half of the texts, at most 4,000, are selected from, as many others
test a classifier (TF-IDF, logistic regression) that is trained on all labels, on those more
probably right than wrong, on those that are kept by default, and on as many at random. And for each
table of :mod:`benchmarks.real_noise`, of which DIR is: how many labels are more probably wrong than
right. Gold labels only measure.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real_tables import GIVEN, load_table
from benchmarks.record import command_line, write_result
from lops_adapters import select
from lops_adapters.datasets import Corpus, load_dataset

WHOLE = 1000  # words; these texts have fewer
# The first was chosen on, with 10 and 20 words.
TABLES = {
    "20news-fine": (10, 20, 60), "intents-150-names": (WHOLE,), "questions-rules": (WHOLE,),
    "20news-coarse": (10, 20), "agnews": (10,),
}  # fmt: skip
NOISE, MOST, SEED = (0.0, 0.1, 0.3), 4000, 0


def load(name: str, words: int, data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return texts of at most so many words, without headers, and their gold labels."""
    if name in ("agnews", "20news-coarse", "20news-fine"):
        dataset = load_dataset(name, data_dir=str(data_dir), quiet=True)
        assert dataset.gold is not None
        texts, gold = dataset.corpus.texts, dataset.gold.labels
    else:
        table = load_table(name, data_dir)
        texts, gold = tuple(table.texts), tuple(table.gold)
    cut = [" ".join(text.split("\n\n", 1)[-1].split()[:words]) for text in texts]
    return np.array(cut, dtype=object), np.array(gold, dtype=object)


def macro_f1(texts: np.ndarray, labels: np.ndarray, others: np.ndarray, gold: np.ndarray) -> float:
    """Return the macro-F1 on other texts of a classifier of these; 0 without two classes."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.pipeline import make_pipeline

    if len(set(labels)) < 2:
        return 0.0
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10, max_iter=1000))
    predicted = model.fit(texts, labels.astype(str)).predict(others)
    return float(f1_score(gold.astype(str), predicted, average="macro"))


def measured(texts: np.ndarray, gold: np.ndarray, noise: float) -> dict[str, Any]:
    """Return what is kept of half of the texts, and what classifiers reach on the others."""
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(gold))
    train, test = np.split(order[: 2 * min(MOST, len(order) // 2)], 2)
    labels = gold[train].copy()
    again = rng.random(len(train)) < noise
    labels[again] = rng.choice(sorted(set(gold)), again.sum())
    wrong = labels != gold[train]
    found = select(texts[train].tolist(), labels.tolist(), seed=SEED)
    by_default, probable = np.array(found.mask), np.array(found.confidence) >= 0.5
    ways = {
        "all": np.ones(len(train), dtype=bool),
        "probable": probable,
        "default": by_default,
        "random": rng.permutation(by_default),
    }
    return {
        "noise": noise,
        "rows": len(train),
        "classes": len(set(gold)),
        "wrong": float(wrong.mean()),
        "estimate": None if found.noise is None else found.noise.rate,
        "rejected": {way: float(1 - mask.mean()) for way, mask in ways.items()},
        "right_lost": {way: float(1 - mask[~wrong].mean()) for way, mask in ways.items()},
        "macro_f1": {
            way: macro_f1(texts[train][mask], labels[mask], texts[test], gold[test])
            for way, mask in ways.items()
        },
    }


def given(data_dir: Path) -> None:
    """Measure the tables with known errors and write the result."""
    doubted = {}
    for name in GIVEN:
        table = load_table(name, data_dir)
        found = select(list(table.texts), table.labels.tolist(), seed=SEED)
        doubted[name] = float((np.array(found.confidence) < 0.5).mean())
        print(name, doubted[name], flush=True)
    corpus = Corpus("given", tuple(doubted), tuple(doubted), ("right", "wrong"))
    command = command_line("short_texts")
    print(write_result("short-texts/given", {"doubted": doubted}, corpus, command=command))


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    options = parser.parse_args()
    for name, lengths in TABLES.items():
        runs = []
        for words in lengths:
            texts, gold = load(name, words, options.data_dir)
            for noise in NOISE:
                runs.append({"words": words, **measured(texts, gold, noise)})
                print(name, runs[-1], flush=True)
        corpus = Corpus(name, tuple(map(str, range(len(texts)))), tuple(texts), tuple(set(gold)))
        print(write_result(f"short-texts/{name}", {"runs": runs}, corpus, seed=SEED))
    given(options.data_dir)


if __name__ == "__main__":
    main()
