"""What the expected time of a run is made from: processor time, in units of a fixed piece of work.

    python -m benchmarks.budget --data-dir DIR      300 and 1,000 documents of AG News

The preset quick with its usual arms, caches empty, one thread. A size that has a result is skipped.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported

from benchmarks.framework_costs import run
from benchmarks.record import RESULTS, write_result
from lops_adapters.datasets import load_dataset
from lops_adapters.runs.budget import unit_seconds

SIZES, FRAMEWORKS = (300, 1000), ("xclass", "conwea", "westclass")


def main() -> None:
    """Measure every framework on every size and write a result for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", required=True)
    data_dir = parser.parse_args().data_dir
    whole = load_dataset("agnews", data_dir=data_dir)
    for size in SIZES:
        arguments = ["--dataset", "agnews", "--data-dir", data_dir, "--max-docs", str(size)]
        corpus = whole.sample(size, 0).corpus
        for name in FRAMEWORKS:
            place = f"speed/budget-{size}-{name}"
            if (RESULTS / f"{place}.json").exists():
                continue
            before = unit_seconds(time.process_time)
            cost = run(name, arguments)
            after = unit_seconds(time.process_time)
            print(write_result(place, {**cost, "unit_seconds": (before + after) / 2}, corpus))


if __name__ == "__main__":
    main()
