"""One self-training run: all arms into a run folder, and the numbers about them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.files import (
    add_arm,
    arm_metrics,
    selection_metrics,
    write_predictions,
    write_pseudo_labels,
    write_selection,
)
from lops_adapters.runs.folder import RunFolder
from lops_adapters.selection import METHODS
from lops_adapters.self_training.pipeline import Iteration, prepare, run_arm
from lops_adapters.self_training.settings import SelfTrainingSettings

log = logging.getLogger(__name__)


def run_self_training(
    dataset: Dataset,
    settings: SelfTrainingSettings,
    run: RunFolder,
    arms: Sequence[str],
    *,
    seed: int,
    device: str,
    quiet: bool,
) -> dict[str, Any]:
    """Run the arms and return the contents of ``metrics.json``, which is written after each arm.

    Gold labels go to the evaluator, and to the one method that is defined by them; to nothing else.
    Methods that have to be told how many to keep run last, whatever the order given. Arms that an
    earlier call on the same run folder finished stay in ``metrics.json``.

    Raises:
        LopsError: a library is missing, or the data or settings cannot work; before the long work
            wherever that is known before it.

    """
    corpus = dataset.corpus
    gold = None if dataset.gold is None else np.array(dataset.gold.labels, dtype=object)
    _check(arms, settings, dataset)
    evaluator = Evaluator(None if dataset.gold is None else dataset.gold.labels, corpus.classes)
    prepared = prepare(corpus, settings, run, device=device, quiet=quiet)
    initial = prepared.pseudo_labels
    write_pseudo_labels(
        run.path / "pseudo_labels.csv",
        [corpus.ids[i] for i in initial.positions],
        initial.labels,
        initial.scores,
    )
    about = {
        "framework": "self_training",
        "dataset": corpus.name,
        "n_documents": len(corpus),
        "classes": list(corpus.classes),
        "pseudo_labels": {
            "count": len(initial),
            "noise": evaluator.noise(initial.positions, initial.labels),
            "coverage": initial.coverage,
        },
        "seconds": {"pseudo_labels": prepared.seconds},
    }
    metrics: dict[str, Any] = {}
    sizes: list[int] | None = None
    for arm in sorted(arms, key=lambda name: METHODS[name].takes_n):
        method = METHODS[arm]
        if method.takes_n:
            log.info(
                "%s: keeps as many as %s",
                arm,
                "lops trains on" if sizes else f"tau says, {settings.tau:g} of the pseudo-labels",
            )
        rows = []
        for item in run_arm(
            arm,
            prepared,
            run,
            seed=seed,
            device=device,
            quiet=quiet,
            sizes=sizes,
            gold=gold if method.needs_gold else None,
        ):
            rows.append(_row(item, corpus.classes, evaluator))
            _write_tables(arm, item, corpus, run)
        if arm == "lops" and settings.n_from == "lops":
            sizes = [row["trained_on"] for row in rows]
        metrics = add_arm(run, about, arm, arm_metrics(rows))
    return metrics


def _check(arms: Sequence[str], settings: SelfTrainingSettings, dataset: Dataset) -> None:
    lonely = [arm for arm in arms if METHODS[arm].takes_n]
    if lonely and settings.n_from == "lops" and "lops" not in arms:
        raise LopsError(
            f"{lonely[0]} keeps as many as lops, which is not among the methods; add lops, or set n_from to 'tau'"
        )
    blind = [arm for arm in arms if METHODS[arm].needs_gold]
    if blind and dataset.gold is None:
        raise LopsError(
            f"{blind[0]} is defined by gold labels, and {dataset.corpus.name} has none; leave that method out"
        )


def _row(item: Iteration, classes: Sequence[str], evaluator: Evaluator) -> dict[str, Any]:
    labels, selection = item.pseudo_labels, item.selection
    kept = selection.kept
    return {
        "iteration": item.number,
        "pseudo_labels": len(labels),
        "initial": item.n_initial,
        "coverage": labels.coverage,
        "noise": evaluator.noise(labels.positions, labels.labels),
        **selection_metrics(selection),
        "n": item.n,
        "selected_noise": evaluator.noise(labels.positions[kept], labels.labels[kept]),
        "trained_on": item.n_trained,
        **evaluator.scores(np.array(classes, dtype=object)[item.probabilities.argmax(axis=1)]),
        "rejected": item.n_rejected,
        "bootstrapped": len(item.bootstrapped),
        "seconds": item.seconds["selection"] + item.seconds["classifier"],
        "seconds_selection": item.seconds["selection"],
        "classes_without_pseudo_labels": list(labels.empty_classes),
    }


def _write_tables(arm: str, item: Iteration, corpus: Corpus, run: RunFolder) -> None:
    """Write the selection of an iteration, what it bootstrapped, and its predictions, which the
    next iteration's replace.
    """
    folder, labels, added = run.arm(arm), item.pseudo_labels, item.bootstrapped
    write_selection(
        folder / f"selection-{item.number}.csv",
        [corpus.ids[i] for i in labels.positions],
        labels.labels,
        item.selection,
    )
    ids = [corpus.ids[i] for i in added.positions]
    write_pseudo_labels(folder / f"bootstrapped-{item.number}.csv", ids, added.labels, added.scores)
    write_predictions(folder / "predictions.csv", corpus.ids, corpus.classes, item.probabilities)
