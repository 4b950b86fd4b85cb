"""What has to be computed from predictions before a run folder is removed: whether arms differ by
more than chance.
"""

from __future__ import annotations

import argparse
import csv
import shlex
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset, load
from lops_adapters.evaluation import Significance, paired_bootstrap, paired_bootstrap_over_seeds
from lops_adapters.storage import pack_strings, unpack_strings, write_arrays


def significance(command: str, run: Path, keep: Path, data_dir: Path | None) -> dict[str, Any]:
    """Compare the last predictions of a run's arms by the paired bootstrap over documents, and keep
    them in one small file.

    Args:
        command: of the run; its data set, sample and seed are read from it.
        run: the run folder.
        keep: the ``.npz`` file that is written: ``classes``, ``gold`` and the predictions of each
            arm, as (n,) int16 places among the classes.
        data_dir: where data are looked for first.

    Returns:
        ``{"significance": {first: {second: {"micro": ..., "macro": ...}}}}``, differences being
        first minus second: lops against every other arm, and every other arm against standard.
        Empty without gold labels.

    Raises:
        LopsError: predictions that are not of the documents of the data set.

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
        files: what :func:`significance` kept, one a seed, of the same documents.

    Returns:
        As :func:`significance`, of the arms that all seeds have; empty where there are no two of
        them.

    Raises:
        LopsError: the seeds have other documents or classes.

    """
    kept = []
    for path in files:
        with np.load(path) as arrays:
            kept.append({name: arrays[name] for name in arrays.files})
    for path, other in zip(files, kept, strict=True):
        if any(not np.array_equal(other[part], kept[0][part]) for part in ("classes", "gold")):
            raise LopsError(
                f"{path} and {files[0]} are of different documents or classes; remove the older one and measure it anew"
            )
    arms = [
        name
        for name in kept[0]
        if name not in ("classes", "gold") and all(name in other for other in kept)
    ]
    n_classes = len(unpack_strings(kept[0]["classes"]))
    return {"significance": _compared(arms, partial(_all_seeds, kept, n_classes))}


def _compared(arms: Iterable[str], compare: Callable[[str, str], Significance]) -> dict[str, Any]:
    """lops against every other arm, and every other arm against standard."""
    names = list(arms)
    pairs = [("lops", arm) for arm in names if arm != "lops" and "lops" in names]
    pairs += [
        (arm, "standard")
        for arm in names
        if arm not in ("lops", "standard") and "standard" in names
    ]
    found: dict[str, Any] = {}
    for first, second in pairs:
        result = compare(first, second)
        found.setdefault(first, {})[second] = {
            "micro": result.micro._asdict(),
            "macro": result.macro._asdict(),
        }
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
    """Load the documents that a command was run on."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--dataset", default="demo")
    parser.add_argument("--max-docs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    options, _ = parser.parse_known_args(shlex.split(command))
    dataset = load(options.dataset, data_dir=data_dir, quiet=True)
    return dataset if options.max_docs is None else dataset.sample(options.max_docs, options.seed)


def predicted(path: Path, dataset: Dataset) -> list[str]:
    """Return the predicted classes of a ``predictions.csv``, one a document."""
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    if [row["id"] for row in rows] != list(dataset.corpus.ids):
        raise LopsError(
            f"{path} is not about the {len(dataset.corpus)} documents of {dataset.corpus.name}; was the data changed meanwhile?"
        )
    return [row["predicted"] for row in rows]
