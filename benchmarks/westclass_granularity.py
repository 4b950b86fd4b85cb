"""What a selection keeps of WeSTClass's pseudo documents, by the interval between checkpoints.

Gold labels are not used: the question is whether the rule filters at all. Settings are those of
`python -m lops_adapters.westclass --preset quick`.

    python -m benchmarks.westclass_granularity --dataset agnews --data-dir DIR [--seeds 3]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import write_result
from lops_adapters.core import Selection
from lops_adapters.datasets import load_dataset
from lops_adapters.runs.folder import RunFolder, describe
from lops_adapters.runs.job import Job
from lops_adapters.selection import Lops
from lops_adapters.westclass.classifier import build_probe
from lops_adapters.westclass.pipeline import Prepared, prepare
from lops_adapters.westclass.settings import WestclassSettings

INTERVALS = (None, 4, 2, 1)


def measure(prepared: Prepared, every: int | None, rule: str, seed: int) -> dict[str, Any]:
    """Return what one selection keeps, overall and per class, and when the last one was learnt."""
    probe = build_probe(prepared.vectors, prepared.settings, "cpu")
    labels = np.array(prepared.corpus.classes, dtype=object)[prepared.codes]
    selection: Selection = Lops(probe, method=rule, every=every, seed=seed)(
        prepared.pseudo_documents, labels
    )
    shares = {
        str(label): report.kept / report.count for label, report in selection.per_class.items()
    }
    learnt = selection.learnt_at[np.isfinite(selection.learnt_at)]
    return {
        "every": every,
        "rule": rule,
        "seed": seed,
        "kept": float(selection.mask.mean()),
        "kept_by_class": shares,
        "last_learnt_at": float(learnt.max()) if len(learnt) else None,
    }


def main() -> None:
    """Measure all intervals and both rules on one data set and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="agnews")
    parser.add_argument("--data-dir")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    corpus = load_dataset(options.dataset, data_dir=options.data_dir, quiet=True).corpus
    settings = WestclassSettings.preset("quick")
    rows = []
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            run = RunFolder.open(
                Path(folder) / "run",
                describe("westclass", settings.as_dict(), seed, corpus, "cpu"),
                resume=False,
            )
            prepared = prepare(corpus, Job(run, settings, seed, "cpu", quiet=True))
            for rule in ("released", "ranked"):
                rows += [measure(prepared, every, rule, seed) for every in INTERVALS]
                print(*rows[-len(INTERVALS) :], sep="\n")
    n_samples = settings.per_class * len(corpus.classes)
    numbers = {
        "rows": rows,
        "seeds": options.seeds,
        "updates_per_epoch": -(-n_samples // settings.batch_size),
        "network": settings.network,
    }
    print(write_result(f"frameworks/westclass-granularity-{options.dataset}", numbers, corpus))


if __name__ == "__main__":
    main()
