"""Self-training where classes are unequal: samples of a corpus with given shares per class.

python -m benchmarks.unequal --data-dir DIR

Files ``results/rounds/unequal-NAME-RULE-seedS.json``; finished ones are skipped. Corpora with as
many documents per class favour a rule that makes classes even.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.record import RESULTS, write_result
from lops_adapters.console import guarded, set_up_logging
from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset, GoldLabels, load_dataset
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.framework import run
from lops_adapters.runs.job import Job
from lops_adapters.self_training.framework import SELF_TRAINING
from lops_adapters.self_training.settings import SelfTrainingSettings

N, SEEDS, ARMS = 1500, (0, 1), ("standard", "committee", "random")
# Name -> corpus, and the shares of its classes in the order of the corpus.
SAMPLES: dict[str, tuple[str, Sequence[int]]] = {
    "agnews-8-4-2-1": ("agnews", (8, 4, 2, 1)),
    "agnews-1-2-4-8": ("agnews", (1, 2, 4, 8)),
    "20news-coarse-8-4-2-1-1": ("20news-coarse", (8, 4, 2, 1, 1)),
}
RULES: dict[str, dict[str, float]] = {
    "rank": {},
    "share": {"share": 0.3},
    "rate": {"learning_rate": 0.1},
    "delta": {"delta": 0.6},
}


def draw(dataset: Dataset, shares: Sequence[int], n: int, seed: int) -> Dataset:
    """Return about n documents with these shares of the classes, in the order of the corpus."""
    corpus = dataset.corpus
    if dataset.gold is None:
        raise LopsError(f"{corpus.name} has no gold labels; wanted a corpus with them")
    gold, rng, chosen = np.array(dataset.gold.labels, dtype=object), np.random.default_rng(seed), []
    for label, share in zip(corpus.classes, shares, strict=True):
        own = rng.permutation(np.flatnonzero(gold == label))
        chosen.extend(own[: round(n * share / sum(shares))].tolist())
    chosen.sort()
    ids, texts = (tuple(column[i] for i in chosen) for column in (corpus.ids, corpus.texts))
    drawn = Corpus(corpus.name, ids, texts, corpus.classes, corpus.seeds)
    return Dataset(drawn, GoldLabels(tuple(dataset.gold.labels[i] for i in chosen)))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what has no result yet; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(argv)
    set_up_logging(True)
    for name, (corpus, shares) in SAMPLES.items():
        dataset = load_dataset(corpus, data_dir=options.data_dir, quiet=True)
        for seed in SEEDS:
            drawn = draw(dataset, shares, N, seed)
            for rule, own in RULES.items():
                stem = f"rounds/unequal-{name}-{rule}-seed{seed}"
                if (RESULTS / f"{stem}.json").exists():
                    continue
                settings = SelfTrainingSettings.preset("quick", **own).settled(ARMS)
                with TemporaryDirectory() as place:
                    folder = RunFolder.open(Path(place) / "run", {"settings": {}}, resume=False)
                    job = Job(folder, settings, seed, "cpu", quiet=True)
                    found = run(SELF_TRAINING, drawn, job, ARMS)
                print(write_result(stem, found, drawn.corpus, seed=seed))
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main)(None))
