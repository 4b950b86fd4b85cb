"""dqc-toolkit's CrossValCurate on the tables of :mod:`benchmarks.real_noise`.

    python -m venv .venv-dqc && .venv-dqc/bin/pip install dqc-toolkit==0.2.0 .
    .venv-dqc/bin/python -m benchmarks.real_noise_dqc --data-dir DIR

In an environment of its own, since dqc-toolkit installs a top-level package ``tests``. Its defaults
are used: TF-IDF, logistic regression, 5 folds, probabilities divided by class shares. Tables with a
result file are skipped.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.real_noise import measured
from benchmarks.real_tables import TABLES, Table, load_table
from benchmarks.record import RESULTS, command_line, write_result
from lops_adapters.datasets import Corpus

SEEDS = 3


def one_seed(table: Table, seed: int) -> dict[str, Any]:
    """Return the measures of CrossValCurate with one seed."""
    import pandas
    from dqc import CrossValCurate

    rows = pandas.DataFrame({"text": table.texts, "label": table.labels.astype(str)})
    rows["row"] = np.arange(len(rows))
    start = time.process_time()
    curated = CrossValCurate(random_state=seed).fit_transform(rows).sort_values("row")
    seconds = time.process_time() - start
    scores = curated["label_correctness_score"].to_numpy(dtype=np.float64)
    mask = curated["is_label_correct"].to_numpy(dtype=bool)
    return {**measured(scores, mask, table), "processor_seconds": seconds}


def main() -> None:
    """Measure the tables that have no result yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--tables", default=",".join(TABLES), help="default: all")
    options = parser.parse_args()
    for name in options.tables.split(","):
        if (RESULTS / "real-noise-dqc" / f"{name}.json").exists():
            continue
        table = load_table(name, options.data_dir)
        runs = [one_seed(table, seed) for seed in range(SEEDS)]
        print(name, {key: runs[0][key] for key in ("auroc", "right_lost", "wrong_found")})
        ids = tuple(map(str, range(len(table.texts))))
        corpus = Corpus(name, ids, tuple(table.texts), tuple(sorted(set(table.labels.astype(str)))))
        write_result(
            f"real-noise-dqc/{name}", {"runs": runs}, corpus, command=command_line("real_noise_dqc")
        )


if __name__ == "__main__":
    main()
