"""``lops demo``: the embedded corpus, labelled by seed words, cleaned and trained on."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lops_adapters import storage
from lops_adapters.cli import options as shared
from lops_adapters.cli import select as command
from lops_adapters.console import aligned, percent
from lops_adapters.datasets import Dataset, load
from lops_adapters.evaluation import Evaluator
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.pseudo_labels import PseudoLabels, string_match

EPOCHS = 20  # of the classifier, as in self-training
SEEDS = 3  # trainings per row of the table
EXAMPLES = """\
  lops demo
  lops demo --output first_look"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``lops demo``."""
    parser = shared.parser(
        "demo",
        "Label the embedded corpus by seed words, choose which labels to trust, and "
        "train a classifier on them. Takes seconds; downloads nothing.",
        EXAMPLES,
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("lops-demo"),
        metavar="DIR",
        help="folder to write (default: lops-demo); an earlier demo there is replaced",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit status."""
    options = parser().parse_args(arguments)
    dataset = load("demo", quiet=True)
    corpus = dataset.corpus
    labels = string_match(corpus.texts, corpus.seeds, quiet=True)
    evaluator = Evaluator(dataset.gold.labels if dataset.gold else None, corpus.classes)
    noise = percent(evaluator.noise(labels.positions, labels.labels))
    print(
        f"Demo corpus: {len(corpus)} news texts in {len(corpus.classes)} classes. Seed words label "
        f"{len(labels)} of them; {noise} of these labels are wrong.\n"
    )
    table, words, out = (
        options.output / name for name in ("labels.csv", "words.json", "selection")
    )
    _write_table(table, dataset, labels)
    storage.write_json(words, {name: [name, *corpus.seeds[name]] for name in corpus.classes})
    given = [str(table), "--text", "text", "--label", "weak", "--gold", "gold"]
    given += ["--words", str(words)]
    print(f"$ lops select {' '.join(given)}\n")
    command.main([*given, "--output", str(out), "--force", "--quiet"])
    kept = _kept(out / "kept.csv", dataset, labels)
    print("\nA linear classifier trained on these labels, tested on all texts:\n")
    print(aligned(_classifiers(dataset, labels, kept, evaluator)))
    print("\nYour own table: lops select YOUR.csv --text COLUMN --label COLUMN")
    return 0


def _write_table(path: Path, dataset: Dataset, labels: PseudoLabels) -> None:
    corpus, gold = dataset.corpus, dataset.gold
    rows = [
        (corpus.ids[i], corpus.texts[i], label, gold.labels[i] if gold else "")
        for i, label in zip(labels.positions, labels.labels, strict=True)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.write_csv(path, ["id", "text", "weak", "gold"], rows)


def _kept(path: Path, dataset: Dataset, labels: PseudoLabels) -> np.ndarray:
    """Return the places of the kept rows among the pseudo-labels."""
    with path.open(encoding="utf-8", newline="") as handle:
        ids = {row["id"] for row in csv.DictReader(handle)}
    names = [dataset.corpus.ids[i] for i in labels.positions]
    return np.flatnonzero([name in ids for name in names])


def _classifiers(
    dataset: Dataset, labels: PseudoLabels, kept: np.ndarray, evaluator: Evaluator
) -> list[list[str]]:
    """Return a table: what the classifier was trained on, and its macro-F1."""
    positions = labels.positions
    gold = np.array(dataset.gold.labels if dataset.gold else [], dtype=object)
    rows = [["trained on", "labels", "wrong", "macro-F1"]]
    parts = {
        "all labels": lambda _: np.arange(len(labels)),
        "a random part": lambda seed: _random(len(labels), len(kept), seed),
        "the kept labels": lambda _: kept,
        "the right labels": lambda _: np.flatnonzero(labels.labels == gold[positions]),
    }
    for name, part in parts.items():
        drawn = [part(seed) for seed in range(SEEDS)]
        wrong = [evaluator.noise(positions[own], labels.labels[own]) or 0.0 for own in drawn]
        scores = [_macro_f1(dataset, labels, *numbered, evaluator) for numbered in enumerate(drawn)]
        means = (percent(float(np.mean(values))) for values in (wrong, scores))
        rows.append([name, str(len(drawn[0])), *means])
    return rows


def _random(n: int, size: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))


def _macro_f1(
    dataset: Dataset, labels: PseudoLabels, seed: int, own: np.ndarray, evaluator: Evaluator
) -> float:
    corpus = dataset.corpus
    names = np.array(corpus.classes, dtype=object)
    codes = np.array([corpus.classes.index(label) for label in labels.labels[own]])
    classifier = LinearProbe(epochs=EPOCHS, quiet=True)
    texts = [corpus.texts[i] for i in labels.positions[own]]
    classifier.fit(texts, codes, len(corpus.classes), seed=seed)
    predicted = names[classifier.predict_proba(corpus.texts).argmax(axis=1)]
    return float(evaluator.scores(predicted)["macro_f1"] or 0)
