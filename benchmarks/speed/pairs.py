"""Processor time and memory of selecting, next to an earlier state and to cleanlab's recipe.

    python -m benchmarks.speed.pairs --dataset 20news-coarse --data-dir DIR --before-dir DIR

Whole processes on a table labelled by seed words, one thread each, in turn: ``lops select`` on a
CSV file and ``select()``, both of this state and of the checkout in ``--before-dir``, and the
recipe of cleanlab on the file (TF-IDF, five-fold logistic regression, ``find_label_issues``). A
round before the first one compiles all modules and is not counted. The result holds every other
round.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.record import command_line, write_result
from benchmarks.select_command import labelled_by_seeds
from lops_adapters.storage import write_csv

HERE = Path(__file__).parents[2]
_READ = (
    "import csv; csv.field_size_limit(10**9); file = open('table.csv', encoding='utf-8', "
    "newline=''); rows = list(csv.DictReader(file)); texts = [row['text'] for row in rows]; "
    "labels = [row['weak'] for row in rows]; "
)
_COMMAND = ["-m", "lops_adapters.cli.main", "select", "table.csv", "--text", "text"]
_COMMAND += ["--label", "weak", "--quiet"]
_SELECT = ["-c", f"{_READ}from lops_adapters import select; select(texts, labels)"]
_CLEANLAB = [
    "-c",
    f"{_READ}import numpy as np; from sklearn.feature_extraction.text import TfidfVectorizer; "
    "from benchmarks.real_noise_cleanlab import Table, cleanlab_corrected; "
    "labels = np.array(labels); table = Table(texts, labels, labels, [], labels); "
    "cleanlab_corrected(TfidfVectorizer().fit_transform(texts), table, 0)",
]


def cost(
    arguments: list[str], code: Path, columns: dict[str, Any], compiled: str
) -> dict[str, float]:
    """Return processor seconds and peak bytes of a process, by the code in a folder.

    Compiled modules go to the folder ``compiled``: where Python is told to write none, every
    process would compile whatever it imports. On Linux the peak is at least what this process holds
    when the other one begins.
    """
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    bytecode = {"PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryDirectory() as folder:
        write_csv(Path(folder) / "table.csv", list(columns), zip(*columns.values(), strict=True))
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, **threads, **bytecode, "PYTHONPATH": str(code)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise SystemExit(f"{' '.join(arguments):.80} has failed, by the code in {code}")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"processor_seconds": usage.ru_utime + usage.ru_stime, "peak_bytes": peak}


def main() -> None:
    """Measure in turn and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="demo", help="with seed words (default: demo)")
    parser.add_argument("--data-dir")
    parser.add_argument("--before-dir", type=Path, required=True, help="an earlier checkout")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    corpus, columns = labelled_by_seeds(options.dataset, options.data_dir)
    before = options.before_dir.resolve()
    ways = {
        "command before": (_COMMAND, before),
        "command": (_COMMAND, HERE),
        "select() before": (_SELECT, before),
        "select()": (_SELECT, HERE),
        "cleanlab": (_CLEANLAB, HERE),
    }
    found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as compiled:
        for number in range(options.rounds + 1):
            for way, (arguments, code) in ways.items():
                found[way].append(cost(arguments, code, columns, compiled))
                print(number or "not counted", way, found[way][-1], flush=True)
    found = {way: rounds[1:] for way, rounds in found.items()}
    characters = sum(map(len, columns["text"]))
    result = {"n": len(columns["text"]), "characters": characters, "rounds": found}
    command = command_line("speed.pairs")
    print(write_result(f"speed/pairs-{options.dataset}", result, corpus, command=command))


if __name__ == "__main__":
    main()
