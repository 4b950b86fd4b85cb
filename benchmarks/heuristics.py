"""Noise and coverage of the heuristics on a data set (the paper's tables 1 and 2).

python -m benchmarks.heuristics --dataset 20news-fine --data-dir DIR --output RUN_FOLDER
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks import commands
from lops_adapters.console import guarded, set_up_logging
from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.pseudo_labels import PseudoLabels, exclusive_string_match, string_match
from lops_adapters.storage import write_json

HEURISTICS: dict[str, Callable[..., PseudoLabels]] = {
    "string-match": string_match,
    "exclusive-string-match": exclusive_string_match,
    "exclusive-string-match, regular expressions": partial(exclusive_string_match, regex=True),
}


def measure(corpus: Corpus, gold: Sequence[str], quiet: bool) -> dict[str, Any]:
    """Return the contents of ``metrics.json``."""
    evaluator = Evaluator(gold)
    seeds = {label: corpus.seeds.get(label, ()) for label in corpus.classes}
    rows = {}
    for name, heuristic in HEURISTICS.items():
        start = time.perf_counter()
        found = heuristic(corpus.texts, seeds, quiet=quiet)
        rows[name] = {
            "count": len(found),
            "coverage": found.coverage,
            "noise": evaluator.noise(found.positions, found.labels),
            "seconds": time.perf_counter() - start,
            "empty_classes": list(found.empty_classes),
        }
    return {
        "framework": "heuristics",
        "dataset": corpus.name,
        "n_documents": len(corpus),
        "classes": list(corpus.classes),
        "heuristics": rows,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure all heuristics on one data set; returns the exit status."""
    options = commands.parser("heuristics", "Noise and coverage of heuristics.").parse_args(argv)
    set_up_logging(options.quiet)
    dataset, gold = commands.labelled(options)
    run = commands.open_run("heuristics", {}, options, dataset)
    write_json(run.path / "metrics.json", measure(dataset.corpus, gold, options.quiet))
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main)(None))
