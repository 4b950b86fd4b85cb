"""How well committees rank seed-word labels: area under the noise-coverage curve, less is better.

    python -m benchmarks.areas --dataset agnews --data-dir DIR

Pseudo-labels are made by seed words. The encoder reads messages without headers. Gold labels are
used for measuring alone.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.nc_curves import ideal_area
from benchmarks.record import command_line, write_result
from lops_adapters.datasets import Corpus, Dataset, load
from lops_adapters.evaluation import area_under_noise_coverage, noise_coverage_curve
from lops_adapters.probes.linear import LinearProbe
from lops_adapters.pseudo_labels import string_match
from lops_adapters.selection import build


def ways(corpus: Corpus) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the methods that are compared, with their options."""
    words = {
        label: list(dict.fromkeys([*corpus.names[label], *corpus.seeds[label]]))
        for label in corpus.classes
    }
    return {
        "automatic": ("automatic", {}),
        "committee without encoder": ("committee", {"encoder": None}),
        "committee": ("committee", {"encoder": "minilm"}),
        "committee, class words": ("committee", {"encoder": "minilm", "words": words}),
    }


def areas(dataset: Dataset, seed: int) -> dict[str, float]:
    """Return the area of every method, of a random order, and of the best possible one."""
    corpus = dataset.corpus
    assert dataset.gold is not None
    labels = string_match(corpus.texts, corpus.seeds)
    texts = [corpus.texts[i] for i in labels.positions]
    place = {name: code for code, name in enumerate(corpus.classes)}
    codes = np.array([place[name] for name in labels.labels])
    gold = np.array([place[dataset.gold.labels[i]] for i in labels.positions])
    scores = {
        name: build(method, LinearProbe(), seed=seed, **options)(texts, labels.labels).confidence
        for name, (method, options) in ways(corpus).items()
    }
    scores["random"] = np.random.default_rng(seed).random(len(codes))
    found = {name: _area(own, codes, gold) for name, own in scores.items()}
    return found | {"best possible": ideal_area(1 / len(codes), float(np.mean(codes == gold)))}


def _area(scores: np.ndarray, codes: np.ndarray, gold: np.ndarray) -> float:
    return float(area_under_noise_coverage(noise_coverage_curve(scores, codes, gold)))


def main() -> None:
    """Measure three seeds and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="demo", help="default: demo")
    parser.add_argument("--data-dir")
    parser.add_argument("--seeds", type=int, default=3, help="runs, default: 3")
    options = parser.parse_args()
    headers = "strip" if options.dataset.startswith("20news") else "keep"
    dataset = load(options.dataset, data_dir=options.data_dir, quiet=True, headers=headers)
    runs = [areas(dataset, seed) for seed in range(options.seeds)]
    name = f"committee/areas-{dataset.corpus.name}"
    print(write_result(name, {"runs": runs}, dataset.corpus, command=command_line("areas")))


if __name__ == "__main__":
    main()
