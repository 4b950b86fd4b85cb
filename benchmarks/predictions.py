"""Significance of differences between arms, computed before a run folder is removed."""

from __future__ import annotations

import argparse
import csv
import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.significance import Significance, paired_bootstrap, paired_bootstrap_over_seeds
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset, load_dataset
from lops_adapters.runs.arms import ADAPTIVE, LOPS, STANDARD
from lops_adapters.storage import pack_strings, unpack_strings, write_arrays


def significance(command: str, run: Path, keep: Path, data_dir: Path | None) -> dict[str, Any]:
    """Compare the last predictions of a run's arms by the paired bootstrap over documents.

    Args:
        command: of the run; names its data set, sample and seed.
        run: the run folder.
        keep: ``.npz`` file to write: ``classes``, ``gold`` and the predictions of each arm, as
            (n,) int16 places among the classes.
        data_dir: folder to look for data sets in first.

    Returns:
        ``{"significance": {first: {second: {"micro": ..., "macro": ...}}}}``: differences first
        minus second, lops (or, without it, lops-adaptive) against every other arm and every other
        arm against standard. Empty without gold labels.

    Raises:
        LopsError: the predictions are about other documents.

    """
    dataset = dataset_of(command, data_dir)
    if dataset.gold is None:
        return {}
    classes, gold = list(dataset.corpus.classes), list(dataset.gold.labels)
    arms = {
        path.parent.name: predicted(path, dataset) for path in sorted(run.glob("*/predictions.csv"))
    }
    place = {name: code for code, name in enumerate(classes)}
    codes = {
        name: np.array([place[label] for label in labels], dtype=np.int16)
        for name, labels in {"gold": gold, **arms}.items()
    }
    write_arrays(keep, classes=pack_strings(classes), **codes)
    return {"significance": _compared(arms, partial(_one_seed, codes, len(classes)))}


def significance_over_seeds(files: Sequence[Path]) -> dict[str, Any]:
    """Compare the arms of several seeds by the paired bootstrap over seeds and documents.

    Args:
        files: kept by :func:`significance`, one per seed.

    Returns:
        As :func:`significance`, for the arms that all seeds have; empty if fewer than two.

    Raises:
        LopsError: the seeds have different documents or classes.

    """
    kept = []
    for path in files:
        with np.load(path) as arrays:
            kept.append({name: arrays[name] for name in arrays.files})
    for path, other in zip(files, kept, strict=True):
        if any(not np.array_equal(other[part], kept[0][part]) for part in ("classes", "gold")):
            raise LopsError(
                f"{path} and {files[0]} are about different documents or classes; "
                "remove the older one and measure it again"
            )
    shared = set.intersection(*(set(other) for other in kept)) - {"classes", "gold"}
    arms = [name for name in kept[0] if name in shared]
    n_classes = len(unpack_strings(kept[0]["classes"]))
    return {"significance": _compared(arms, partial(_all_seeds, kept, n_classes))}


def _compared(arms: Iterable[str], compare: Callable[[str, str], Significance]) -> dict[str, Any]:
    """Compare the first learning order with every other arm, and every other with standard."""
    names = list(arms)
    first = next((arm for arm in (LOPS, ADAPTIVE) if arm in names), None)
    pairs = [(first, arm) for arm in names if arm != first] if first else []
    pairs += [
        (arm, STANDARD) for arm in names if arm not in (first, STANDARD) and STANDARD in names
    ]
    found: dict[str, Any] = {}
    for first, second in pairs:
        result = compare(first, second)
        scores = {"micro": result.micro._asdict(), "macro": result.macro._asdict()}
        found.setdefault(first, {})[second] = scores
    return found


def _one_seed(
    codes: dict[str, np.ndarray], n_classes: int, first: str, second: str
) -> Significance:
    return paired_bootstrap(codes["gold"], codes[first], codes[second], range(n_classes))


def _all_seeds(
    kept: Sequence[dict[str, np.ndarray]], n_classes: int, first: str, second: str
) -> Significance:
    one, other = ([codes[name] for codes in kept] for name in (first, second))
    return paired_bootstrap_over_seeds(kept[0]["gold"], one, other, range(n_classes))


def dataset_of(command: str, data_dir: Path | None) -> Dataset:
    """Load the documents of a command."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--dataset", default="demo")
    parser.add_argument("--max-docs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options, _ = parser.parse_known_args(shlex.split(command))
    dataset = load_dataset(options.dataset, data_dir=data_dir, quiet=True)
    return dataset if options.max_docs is None else dataset.sample(options.max_docs, options.seed)


def predicted(path: Path, dataset: Dataset) -> list[str]:
    """Return the predicted classes of a ``predictions.csv``, one per document."""
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    if [row["id"] for row in rows] != list(dataset.corpus.ids):
        raise LopsError(
            f"{path} holds other ids than the {len(dataset.corpus)} documents of "
            f"{dataset.corpus.name}; measure the cell again"
        )
    return [row["predicted"] for row in rows]
