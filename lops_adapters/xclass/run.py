"""One X-Class run: all arms into a run folder, and the numbers about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.datasets import Dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.command import require
from lops_adapters.runs.files import (
    add_arm,
    arm_metrics,
    selection_metrics,
    write_predictions,
    write_pseudo_labels,
    write_selection,
)
from lops_adapters.runs.folder import RunFolder
from lops_adapters.xclass.pipeline import ArmResult, Prepared, prepare, pseudo_label, run_arm
from lops_adapters.xclass.settings import XclassSettings


def run_xclass(
    dataset: Dataset,
    settings: XclassSettings,
    run: RunFolder,
    arms: Sequence[str],
    *,
    seed: int,
    device: str,
    quiet: bool,
) -> dict[str, Any]:
    """Run the arms and return the contents of ``metrics.json``, which is written after each arm.

    Gold labels go to the evaluator and nowhere else. Arms that an earlier call on the same run
    folder finished stay in ``metrics.json``.

    Raises:
        LopsError: a library is missing, or the data or settings cannot work; before the long work
            wherever that is known before it.

    """
    require("X-Class", ("torch", "transformers"))
    corpus = dataset.corpus
    evaluator = Evaluator(None if dataset.gold is None else dataset.gold.labels, corpus.classes)
    prepared = prepare(corpus, settings, run, seed=seed, device=device, quiet=quiet)
    half = pseudo_label(prepared, settings.confident, seed)
    write_pseudo_labels(
        run.path / "pseudo_labels.csv",
        [corpus.ids[i] for i in half.positions],
        half.labels,
        half.scores,
    )
    storage.write_text(
        run.path / "class_words.json",
        json.dumps(prepared.class_words, indent=1, ensure_ascii=False) + "\n",
    )
    about = {
        "framework": "xclass",
        "dataset": corpus.name,
        "n_documents": len(corpus),
        "classes": list(corpus.classes),
        "pseudo_labels": {
            "count": len(half),
            "noise": evaluator.noise(half.positions, half.labels),
            "coverage": half.coverage,
        },
        "documents_without_words": len(corpus) - len(prepared.readable),
        "name_vectors": prepared.name_sources,
        "words_per_class": {label: len(words) for label, words in prepared.class_words.items()},
        "stages": _stages(prepared, dataset),
        "seconds": prepared.seconds,
    }
    metrics: dict[str, Any] = {}
    for arm in arms:
        result = run_arm(arm, prepared, run, seed=seed, device=device, quiet=quiet)
        _write_tables(arm, result, prepared, run)
        metrics = add_arm(run, about, arm, arm_metrics([_row(result, corpus.classes, evaluator)]))
    return metrics


def _stages(prepared: Prepared, dataset: Dataset) -> dict[str, dict[str, float | None]]:
    """Scores of the nearest class and of the alignment, over the documents that have a word."""
    gold = None if dataset.gold is None else [dataset.gold.labels[i] for i in prepared.readable]
    evaluator = Evaluator(gold, prepared.corpus.classes)
    names = np.array(prepared.corpus.classes, dtype=object)
    stages = {"representation": prepared.represented, "alignment": prepared.alignment.codes}
    return {stage: evaluator.scores(names[codes]) for stage, codes in stages.items()}


def _row(result: ArmResult, classes: Sequence[str], evaluator: Evaluator) -> dict[str, Any]:
    labels, selection = result.pseudo_labels, result.selection
    kept = selection.kept
    return {
        "iteration": 0,
        "pseudo_labels": len(labels),
        "coverage": labels.coverage,
        "noise": evaluator.noise(labels.positions, labels.labels),
        **selection_metrics(selection),
        "selected_noise": evaluator.noise(labels.positions[kept], labels.labels[kept]),
        **evaluator.scores(np.array(classes, dtype=object)[result.probabilities.argmax(axis=1)]),
        "seconds": result.seconds["selection"] + result.seconds["classifier"],
        "seconds_selection": result.seconds["selection"],
        "classes_without_pseudo_labels": list(labels.empty_classes),
    }


def _write_tables(arm: str, result: ArmResult, prepared: Prepared, run: RunFolder) -> None:
    folder, corpus, labels = run.arm(arm), prepared.corpus, result.pseudo_labels
    ids = [corpus.ids[i] for i in labels.positions]
    write_pseudo_labels(folder / "pseudo_labels-0.csv", ids, labels.labels, labels.scores)
    write_selection(folder / "selection-0.csv", ids, labels.labels, result.selection)
    write_predictions(folder / "predictions.csv", corpus.ids, corpus.classes, result.probabilities)
