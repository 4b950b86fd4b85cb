"""Time and memory of ``lops select`` on a CSV file, as users run it.

    python -m benchmarks.select_command --dataset agnews --data-dir DIR
    python -m benchmarks.select_command --documents 1000000
    python -m benchmarks.select_command --documents 1000000 --sources 50

The first labels a corpus by its seed words, with gold labels in a column for evaluation; the second
generates documents; the third also the votes of 50 sources, in place of labels. The result holds
time and peak memory of the whole command, and its output.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import command_line, write_result
from benchmarks.source_tables import simulated
from benchmarks.speed.generated import documents
from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, load_dataset
from lops_adapters.pseudo_labels import string_match
from lops_adapters.storage import write_csv

WIDTH, EXAMPLES = 90, 5  # characters of a text that is shown; how many are
Columns = dict[str, Sequence[Any]]


def labelled_by_seeds(name: str, data_dir: str | None) -> tuple[Corpus, Columns]:
    """Return a corpus and the columns of its pseudo-labelled documents."""
    dataset = load_dataset(name, data_dir=data_dir, quiet=True)
    if dataset.gold is None:
        raise LopsError(f"{name} has no gold labels; pass a data set that has them")
    labels = string_match(dataset.corpus.texts, dataset.corpus.seeds)
    where = labels.positions.tolist()
    texts, gold = dataset.corpus.texts, dataset.gold.labels
    return dataset.corpus, {
        "text": [texts[i] for i in where],
        "weak": labels.labels.tolist(),
        "true": [gold[i] for i in where],
    }


def voted(corpus: Corpus, labels: Sequence[str], n_sources: int) -> Columns:
    """Return columns of the documents and of the votes of sources, each on a tenth of them.

    The sources repeat 50 to 90 % of the labels; their other votes are for any other class.
    """
    code_of = {name: code for code, name in enumerate(corpus.classes)}
    accuracies = np.linspace(0.5, 0.9, n_sources).tolist()
    codes = np.array([code_of[label] for label in labels])
    votes = simulated(codes, len(corpus.classes), accuracies, coverage=0.1)
    names = np.array([*corpus.classes, ""], dtype=object)
    columns = {f"source{number}": names[column] for number, column in enumerate(votes.T, 1)}
    return {"text": corpus.texts, **columns}


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def examples(rejected: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the least trusted rows: start of the text, label, suggestion, gold label."""
    names = {"weak": "label", "lops_suggested": "suggested", "true": "gold"}
    ordered = sorted(rejected, key=lambda row: float(row["lops_confidence"]))
    return [
        {
            "text": textwrap.shorten(row["text"], WIDTH, placeholder=" ..."),
            **{to: row[name] for name, to in names.items() if name in row},
        }
        for row in ordered[:EXAMPLES]
    ]


def run(columns: Columns, name: str, keep: str) -> dict[str, Any]:
    """Run the command on the table in a temporary folder; return its output and cost."""
    asked = ["select", f"{name}.csv", "--text", "text"]
    asked += ["--label", "weak"] if "weak" in columns else ["--labels", "source*"]
    asked += ["--gold", "true"] if "true" in columns else []
    asked += [] if keep == "auto" else ["--method", "learning-order", "--keep", keep]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.csv"
        write_csv(path, list(columns), zip(*columns.values(), strict=True))
        n_bytes = path.stat().st_size
        start = time.perf_counter()
        command = [sys.executable, "-m", "lops_adapters.cli.main", *asked, "--quiet"]
        printed = subprocess.run(
            command, cwd=folder, check=True, stdout=subprocess.PIPE, encoding="utf-8"
        ).stdout
        seconds = time.perf_counter() - start
        written = path.parent / f"{name}-lops"
        page, config = (
            json.loads((written / f"{part}.json").read_text(encoding="utf-8"))
            for part in ("summary", "config")
        )
        rejected = read_rows(written / "rejected.csv") if "weak" in columns else []
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = usage.ru_maxrss
    return {
        "asked": shlex.join(["lops", *asked]),
        "tau": keep,  # as in the committed files
        "classifier": config["settings"]["probe"].partition("(")[0],
        "printed": printed,
        "examples": examples(rejected),
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": peak if sys.platform == "darwin" else peak * 1024,
        "file_bytes": n_bytes,
        **{key: page[key] for key in ("n_rows", "n_kept", "noise_before", "noise_after")},
    }


def main() -> None:
    """Measure the command on one table and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dataset", default="demo", help="with gold labels and seed words (default: demo)"
    )
    parser.add_argument("--data-dir")
    parser.add_argument("--documents", type=int, help="generate N documents instead", metavar="N")
    parser.add_argument("--sources", type=int, help="votes of M sources", metavar="M")
    parser.add_argument(
        "--keep",
        default="auto",
        help="auto, or the share that learning order keeps (default: auto)",
    )
    options = parser.parse_args()
    if options.sources is not None and options.documents is None:
        parser.error("--sources needs --documents")
    if options.documents is None:
        corpus, columns = labelled_by_seeds(options.dataset, options.data_dir)
    else:
        noise = 0.3 if options.sources is None else 0  # the sources make errors of their own
        corpus, labels = documents(options.documents, noise=noise)
        columns = {"text": corpus.texts, "weak": labels}
        if options.sources is not None:
            columns = voted(corpus, labels, options.sources)
    result = run(columns, corpus.name, options.keep)
    size = "" if options.documents is None else f"-{options.documents}"
    name = f"select-{corpus.name}{size}-tau-{options.keep}"
    if options.sources is not None:
        result["n_sources"] = options.sources
        name = f"sources{size}-{options.sources}"
    print(write_result(f"select/{name}", result, corpus, command=command_line("select_command")))


if __name__ == "__main__":
    main()
