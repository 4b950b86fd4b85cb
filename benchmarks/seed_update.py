"""Why ``--faithful`` of ConWea loses its seed words: the published update after predictions that
are right (``gold``), of a TF-IDF classifier (``linear``), or of the HAN as in the original.

    python -m benchmarks.seed_update --predictions gold --data-dir DIR

Words are not split into senses, so that no encoder is needed. The numbers go into
``results/faithful/seed-update-*.json``.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.record import command_line, write_result
from lops_adapters.conwea import seeds as seed_words
from lops_adapters.conwea.classifier import build_classifier, reads_texts, word_vectors
from lops_adapters.conwea.contextual import ContextualCorpus, contextualise
from lops_adapters.conwea.senses import Senses
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.conwea.tokens import tokenize
from lops_adapters.datasets import Dataset, load_dataset
from lops_adapters.evaluation import Evaluator

PREDICTIONS = ("gold", "linear", "han")


def measure(
    dataset: Dataset, predictions: str, settings: ConweaSettings, iterations: int, seed: int
) -> dict[str, Any]:
    """Return pseudo-labels, their noise, seed words and macro-F1 of each iteration."""
    corpus, truth = dataset.corpus, np.array(dataset.gold.labels)  # type: ignore[union-attr]
    gold = np.searchsorted(corpus.classes, truth)
    tokens = tokenize(corpus.texts)
    whole = Senses(0.0, {}, np.full(len(tokens.word_id), -1, dtype=np.int32))
    documents = contextualise(tokens, whole)
    vectors = word_vectors(documents, settings, seed) if predictions == "han" else None
    samples: Any = corpus.texts if reads_texts("same", settings) else documents.documents
    seeds, rows = seed_words.initial_seeds(documents, corpus.seeds), []
    for number in range(iterations):
        labels = seed_words.pseudo_label(documents, seeds)
        row: dict[str, Any] = {
            "pseudo_labels": len(labels),
            "noise": float((labels.codes != gold[labels.positions]).mean()),
            "seed_words": seeds,
        }
        predicted = gold
        if predictions != "gold":
            classifier = build_classifier(vectors, settings, "cpu")
            train = [samples[i] for i in labels.positions]
            classifier.fit(train, labels.codes, len(corpus.classes), seed=seed + number)
            predicted = classifier.predict_proba(samples).argmax(axis=1)
            row |= Evaluator(truth).scores(np.array(corpus.classes)[predicted])
        rows.append(row)
        seeds = _updated(documents, seeds, predicted, number)
    return {"predictions": predictions, "iterations": rows}


def _updated(
    documents: ContextualCorpus, seeds: seed_words.Seeds, predicted: np.ndarray, number: int
) -> seed_words.Seeds:
    scores = seed_words.scores(documents, predicted, len(seeds))
    if number == 0:
        return seed_words.disambiguate(documents, seeds, scores, faithful=True)
    return seed_words.expand(documents, seeds, scores, predicted, number, faithful=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--predictions", choices=PREDICTIONS, required=True)
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--max-words", type=int, default=30, help="last words that the HAN reads")
    parser.add_argument("--vector-words", type=int, default=1, help="as of the framework")
    options = parser.parse_args()
    of_han = {"max_words": options.max_words, "vector_words": options.vector_words}
    settings = ConweaSettings(**{**ConweaSettings.WHEN_FAITHFUL, **of_han}, faithful=True)
    if options.predictions == "linear":
        settings = ConweaSettings(classifier="linear")
    loaded = load_dataset("20news-coarse", data_dir=options.data_dir, quiet=True)
    sample = loaded.sample(options.documents, 0)
    found = measure(sample, options.predictions, settings, options.iterations, seed=0)
    name = f"seed-update-{options.predictions}-{options.documents}"
    if options.predictions == "han":
        name += f"-{options.max_words}-{options.vector_words}"
    path = write_result(
        f"faithful/{name}",
        {**found, "settings": {"classifier": options.predictions}},
        sample.corpus,
        command=command_line("seed_update"),
    )
    print(path)
