"""dqc-toolkit's CrossValCurate on the tables of :mod:`benchmarks.real_noise`.

    python -m venv .venv-dqc && .venv-dqc/bin/pip install dqc-toolkit==0.2.0 .
    .venv-dqc/bin/python -m benchmarks.real_noise_dqc --data-dir DIR

In an environment of its own, since dqc-toolkit installs a top-level package ``tests``. Its defaults
are used: TF-IDF, logistic regression, 5 folds, probabilities divided by class shares. Tables with a
result file are skipped.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.real_noise import measured
from benchmarks.real_tables import TABLES, Table, load_table
from benchmarks.record import measure_tables

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


def run(table: Table) -> dict[str, Any]:
    """Measure a table with all seeds."""
    return {"runs": [one_seed(table, seed) for seed in range(SEEDS)]}


def main() -> None:
    """Measure the tables that have no result yet."""
    measure_tables("real_noise_dqc", __doc__, TABLES, load_table, run)


if __name__ == "__main__":
    main()
