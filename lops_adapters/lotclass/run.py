"""One LOTClass run: all arms into a run folder, and the numbers about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.datasets import Dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.lotclass.engine import Engine
from lops_adapters.lotclass.pipeline import (
    SELECTS_AT,
    ArmResult,
    Prepared,
    check_refreshes,
    prepare,
    run_arm,
)
from lops_adapters.lotclass.processes import join
from lops_adapters.lotclass.settings import LotclassSettings
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


def run_lotclass(
    dataset: Dataset,
    settings: LotclassSettings,
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
    require("LOTClass", ("torch", "transformers", "accelerate"))
    corpus = dataset.corpus
    evaluator = Evaluator(None if dataset.gold is None else dataset.gold.labels, corpus.classes)
    if any(SELECTS_AT.get(arm) == "refresh" for arm in arms):
        check_refreshes(settings, len(corpus))
    engine = Engine(device)
    join(run, engine)
    prepared = prepare(corpus, settings, run, engine, seed=seed, quiet=quiet)
    rows, labels = prepared.indicative.documents, prepared.labels
    write_pseudo_labels(
        run.path / "pseudo_labels.csv", _ids(prepared), labels, np.diff(prepared.indicative.starts)
    )
    storage.write_text(
        run.path / "category_vocabulary.json",
        json.dumps(prepared.vocabularies, indent=1, ensure_ascii=False) + "\n",
    )
    about = {
        "framework": "lotclass",
        "dataset": corpus.name,
        "n_documents": len(corpus),
        "classes": list(corpus.classes),
        "pseudo_labels": {
            "count": len(rows),
            "noise": evaluator.noise(rows, labels),
            "coverage": len(np.unique(rows)) / len(corpus),
            "of": "rows (a document and one class it speaks of)",
        },
        "masked_accuracy": prepared.language_model.accuracy,
        "name_sources": prepared.documents.sources,
        "words_per_class": {label: len(words) for label, words in prepared.vocabularies.items()},
        "processes": engine.processes,
        "seconds": prepared.seconds,
    }
    metrics: dict[str, Any] = {}
    for arm in arms:
        result = run_arm(arm, prepared, run, seed=seed, quiet=quiet)
        _write_tables(arm, result, prepared, run)
        metrics = add_arm(run, about, arm, _arm_metrics(result, prepared, evaluator))
    return metrics


def _ids(prepared: Prepared) -> list[str]:
    return [prepared.corpus.ids[i] for i in prepared.indicative.documents]


def _write_tables(arm: str, result: ArmResult, prepared: Prepared, run: RunFolder) -> None:
    folder, corpus = run.arm(arm), prepared.corpus
    write_selection(folder / "selection-0.csv", _ids(prepared), prepared.labels, result.selection)
    refreshes = result.self_trained.refreshes if SELECTS_AT.get(arm) == "refresh" else []
    for number, refresh in enumerate(refreshes, start=1):
        ids, labels = (
            [corpus.ids[i] for i in refresh.documents],
            [corpus.classes[code] for code in refresh.codes],
        )
        write_selection(folder / f"selection-{number}.csv", ids, labels, refresh.selection)
    write_predictions(
        folder / "predictions.csv", corpus.ids, corpus.classes, result.self_trained.probabilities
    )


def _arm_metrics(result: ArmResult, prepared: Prepared, evaluator: Evaluator) -> dict[str, Any]:
    """Return two rows: masked category prediction on the rows, and self-training on the documents.

    The pseudo-labels of the second are the targets of all refreshes, and its numbers are over
    these; a document is in it as often as it was refreshed.
    """
    names = np.array(prepared.corpus.classes, dtype=object)
    rows, labels, kept = prepared.indicative.documents, prepared.labels, result.selection.kept
    first = {
        "iteration": 0,
        "stage": "masked category prediction",
        "pseudo_labels": len(rows),
        "noise": evaluator.noise(rows, labels),
        **selection_metrics(result.selection),
        "selected_noise": evaluator.noise(rows[kept], labels[kept]),
        **evaluator.scores(names[result.category.argmax(axis=1)]),
        "seconds": result.seconds["selection"] + result.seconds["category"],
        "seconds_selection": result.seconds["selection"],
    }
    trained = result.self_trained
    documents = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(refresh.documents for refresh in trained.refreshes)]
    )
    codes = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(refresh.codes for refresh in trained.refreshes)]
    )
    mask = np.concatenate(
        [np.zeros(0, dtype=bool), *(refresh.selection.mask for refresh in trained.refreshes)]
    )
    second = {
        "iteration": 1,
        "stage": "self-training",
        "pseudo_labels": len(documents),
        "noise": evaluator.noise(documents, names[codes]) if len(documents) else None,
        "selected": int(mask.sum()),
        "selected_noise": evaluator.noise(documents[mask], names[codes][mask])
        if mask.any()
        else None,
        **evaluator.scores(names[trained.probabilities.argmax(axis=1)]),
        "seconds": result.seconds["self_training"],
        "updates": trained.updates,
        "refreshes": [
            _refresh_metrics(refresh.selection, refresh.agreement) for refresh in trained.refreshes
        ],
    }
    arm = arm_metrics([first, second])
    return {**arm, "selected": first["selected"], "selected_noise": first["selected_noise"]}


def _refresh_metrics(selection: Any, agreement: float) -> dict[str, Any]:
    return {"agreement": agreement, **selection_metrics(selection)}
