"""Time and memory of each framework with its default settings, caches empty.

    python -m benchmarks.framework_costs                       the demo corpus, all frameworks
    python -m benchmarks.framework_costs --dataset agnews --max-docs 1000 --framework xclass
    python -m benchmarks.framework_costs ... --framework westclass --given max-passes=50

Each framework runs in a process of its own, on one thread, from a fresh cache folder. Other
work on the machine lengthens processor time much less than seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.record import write_result
from lops_adapters.datasets import Dataset, load_dataset

FRAMEWORKS = ("conwea", "xclass", "westclass", "lotclass")


def run(framework: str, arguments: list[str]) -> dict[str, Any]:
    """Run a framework's command and return its arms and what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "run"
        command = [sys.executable, "-m", f"lops_adapters.{framework}", *arguments]
        command += ["--preset", "quick", "--device", "cpu", "--quiet", "--output", str(output)]
        threads = {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(Path(folder) / "cache")}
        start = time.perf_counter()
        child = subprocess.Popen(command, env={**os.environ, **threads}, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        metrics, config = (
            json.loads((output / name).read_text(encoding="utf-8"))
            for name in ("metrics.json", "config.json")
        )
    peak = usage.ru_maxrss
    return {
        "framework": framework,
        "title": metrics["title"],
        "arms": list(metrics["arms"]),
        "settings": {name: config["settings"][name] for name in ("method", "keep")},
        "documents": metrics["n_documents"],
        "seconds": seconds,
        "macro_f1": {arm: found["macro_f1"] for arm, found in metrics["arms"].items()},
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": peak if sys.platform == "darwin" else peak * 1024,
    }


def main() -> None:
    """Measure frameworks on one data set and write a result for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--framework", action="append", choices=FRAMEWORKS)
    parser.add_argument("--dataset", default="demo", help="(default: demo)")
    parser.add_argument("--data-dir")
    parser.add_argument("--max-docs", type=int, metavar="N")
    parser.add_argument(
        "--given", nargs="+", default=[], metavar="OPTION=VALUE", help="options of the framework"
    )
    options = parser.parse_args()
    dataset: Dataset = load_dataset(options.dataset, data_dir=options.data_dir)
    arguments = ["--dataset", options.dataset]
    arguments += [] if options.data_dir is None else ["--data-dir", options.data_dir]
    if options.max_docs is not None:
        dataset = dataset.sample(options.max_docs, 0)
        arguments += ["--max-docs", str(options.max_docs)]
    arguments += [word for given in options.given for word in f"--{given}".split("=")]
    corpus = dataset.corpus
    for name in options.framework or FRAMEWORKS:
        cost = {**run(name, arguments), "given": options.given}
        place = "-".join([f"speed/costs-{corpus.name}-{name}", *options.given]).replace("=", "-")
        print(write_result(place, cost, corpus))


if __name__ == "__main__":
    main()
