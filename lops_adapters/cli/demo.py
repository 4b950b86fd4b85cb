"""``lops demo``: the embedded corpus, labelled by seed words, cleaned and trained on."""

import argparse
import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from lops_adapters import storage
from lops_adapters.cli import options as shared
from lops_adapters.cli import select as command
from lops_adapters.console import aligned, percent
from lops_adapters.datasets import Corpus, load_dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.labels.labelled import codes_among
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.pseudo_labels import string_match

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
    folder = parser().parse_args(arguments).output
    dataset = load_dataset("demo", quiet=True)
    corpus = dataset.corpus
    gold = np.array(dataset.gold.labels if dataset.gold else (), dtype=object)
    matched = string_match(corpus.texts, corpus.seeds, quiet=True)
    positions, labels = matched.positions, matched.labels
    right = labels == gold[positions]
    print(
        f"Demo corpus: {len(corpus)} news texts in {len(corpus.classes)} classes. Seed words label "
        f"{len(positions)} of them; {percent(float(np.mean(~right)))} of these labels are wrong.\n"
    )
    table, words, out = (folder / name for name in ("labels.csv", "words.json", "selection"))
    ids, texts = [corpus.ids[i] for i in positions], [corpus.texts[i] for i in positions]
    rows = zip(ids, texts, labels, gold[positions], strict=True)
    with _folder(folder):
        storage.write_csv(table, ["id", "text", "weak", "gold"], rows)
        storage.write_json(words, {name: [name, *corpus.seeds[name]] for name in corpus.classes})
    command_line = [str(table), "--text", "text", "--label", "weak", "--gold", "gold"]
    command_line += ["--words", str(words)]
    print(f"$ lops select {' '.join(command_line)}\n")
    command.main([*command_line, "--output", str(out), "--force", "--quiet"])
    with (out / "kept.csv").open(encoding="utf-8", newline="") as handle:
        selected = {row["id"] for row in csv.DictReader(handle)}
    kept = np.array([name in selected for name in ids])
    print("\nA linear classifier trained on these labels, tested on all texts:\n")
    print(aligned(_classifiers(corpus, gold, positions, labels, kept)))
    print("\nYour own table: lops select YOUR.csv --text COLUMN --label COLUMN")
    return 0


@contextmanager
def _folder(folder: Path) -> Iterator[None]:
    """Make a folder that goes again if nothing can be written into it, as on a full disk."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):  # something is in it
                folder.rmdir()
        raise


def _classifiers(
    corpus: Corpus, gold: np.ndarray, positions: np.ndarray, labels: np.ndarray, kept: np.ndarray
) -> list[list[str]]:
    """Return a table: what the classifier was trained on, and its macro-F1.

    ``gold`` are the (n,) classes of the corpus; ``positions`` (m,) are of texts with a label,
    ``labels`` these labels, ``kept`` (m,) bool the kept ones.
    """
    m, size, right = len(positions), int(kept.sum()), labels == gold[positions]
    evaluator = Evaluator(gold)
    parts = {
        "all labels": lambda _: np.arange(m),
        "a random part": lambda seed: np.sort(
            np.random.default_rng(seed).choice(m, size, replace=False)
        ),
        "the kept labels": lambda _: np.flatnonzero(kept),
        "the right labels": lambda _: np.flatnonzero(right),
    }
    rows = [["trained on", "labels", "wrong", "macro-F1"]]
    for name, part in parts.items():
        drawn = [part(seed) for seed in range(SEEDS)]
        wrong = [np.mean(~right[chosen]) for chosen in drawn]
        scores = []
        for seed, chosen in enumerate(drawn):
            predicted = _predicted(corpus, positions[chosen], labels[chosen], seed)
            scores.append(evaluator.scores(predicted)["macro_f1"] or 0)
        means = (percent(float(np.mean(values))) for values in (wrong, scores))
        rows.append([name, str(len(drawn[0])), *means])
    return rows


def _predicted(corpus: Corpus, positions: np.ndarray, labels: np.ndarray, seed: int) -> np.ndarray:
    codes = codes_among(labels, corpus.classes)
    classifier = LinearProbe(epochs=EPOCHS, quiet=True)
    classifier.fit([corpus.texts[i] for i in positions], codes, len(corpus.classes), seed=seed)
    names = np.array(corpus.classes, dtype=object)
    return names[classifier.predict_proba(corpus.texts).argmax(axis=1)]
