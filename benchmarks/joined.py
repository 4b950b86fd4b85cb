"""What runs of several frameworks on the same documents give together.

    python -m benchmarks.joined --data-dir DIR --runs FOLDER

``FOLDER`` holds finished runs named FRAMEWORK-2000-DATA-seedS, such as those of the protocol
``rounds`` and of self-training with ``--encoder minilm``. For each data set and seed of which four
frameworks are there, the last predictions of their arm ``committee`` (``committee-documents``) are
votes: of a majority, where ties go to the first class, and of ``select`` with the texts. Gold
labels only measure. Finished ones are skipped.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, command_line, write_result
from lops_adapters import select
from lops_adapters.datasets import Corpus, load_dataset
from lops_adapters.evaluation import Evaluator

FRAMEWORKS = ("conwea", "xclass", "westclass", "self_training")


def predictions(run: Path) -> dict[str, str]:
    """Return the last predictions of the committee's arm, by document."""
    arm = next(run / name for name in ("committee", "committee-documents") if (run / name).is_dir())
    with (arm / "predictions.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["predicted"] for row in csv.DictReader(file)}


def measured(runs: list[Path], data_dir: Path, seed: int) -> tuple[dict[str, Any], Corpus]:
    """Return macro-F1 of each run, of the majority and of ``select``, and the documents."""
    name = json.loads((runs[0] / "config.json").read_text(encoding="utf-8"))["dataset"]["name"]
    dataset = load_dataset(name, data_dir=data_dir, quiet=True)
    assert dataset.gold is not None
    said = [predictions(run) for run in runs]
    rows = [i for i, key in enumerate(dataset.corpus.ids) if all(key in one for one in said)]
    ids = tuple(dataset.corpus.ids[i] for i in rows)
    texts = tuple(dataset.corpus.texts[i] for i in rows)
    evaluator = Evaluator([dataset.gold.labels[i] for i in rows])
    votes = [[one[key] for one in said] for key in ids]

    def f1(labels: Any) -> float:
        found = evaluator.scores(labels)["macro_f1"]
        assert found is not None
        return found

    found = {
        run.name.partition("-")[0]: f1(each)
        for run, each in zip(runs, zip(*votes, strict=True), strict=True)
    }
    majority = [max(sorted(set(row)), key=Counter(row).__getitem__) for row in votes]
    joined = select(list(texts), votes, seed=seed).labels
    result = {"runs": found, "majority": f1(majority), "select": f1(joined)}
    return result, Corpus(name, ids, texts, dataset.corpus.classes)


def main() -> None:
    """Join the runs that are there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="folder of finished runs")
    options = parser.parse_args()
    for first in sorted(options.runs.glob(f"{FRAMEWORKS[0]}-2000-*-seed?")):
        rest = first.name.removeprefix(FRAMEWORKS[0])
        runs = [options.runs / f"{framework}{rest}" for framework in FRAMEWORKS]
        name, seed = f"joined/{rest[1:]}", int(rest.rpartition("seed")[2])
        finished = all((run / "metrics.json").is_file() for run in runs)
        if finished and not (RESULTS / f"{name}.json").exists():
            result, corpus = measured(runs, options.data_dir, seed)
            print(write_result(name, result, corpus, seed=seed, command=command_line("joined")))


if __name__ == "__main__":
    main()
