"""One WeSTClass run: both arms into a run folder, and the numbers about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.core import LopsError
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
from lops_adapters.westclass.pipeline import ArmResult, Prepared, prepare, run_arm
from lops_adapters.westclass.settings import PUBLISHED, WestclassSettings
from lops_adapters.westclass.tokens import PAD, flat


def run_westclass(
    dataset: Dataset,
    settings: WestclassSettings,
    run: RunFolder,
    arms: Sequence[str],
    *,
    seed: int,
    device: str,
    quiet: bool,
) -> dict[str, Any]:
    """Run the arms and return the contents of ``metrics.json``, which is written after each arm.

    Gold labels go to the evaluator and nowhere else; documents that came with a label are left out
    of all measurements. Arms that an earlier call on the same run folder finished stay in
    ``metrics.json``.

    Raises:
        LopsError: a library is missing, or the data or settings cannot work; before the long work
            wherever that is known before it.

    """
    require(
        "WeSTClass",
        ("gensim", "keras", "torch", *(["safetensors"] if settings.network == "han" else [])),
    )
    corpus = dataset.corpus
    if len(corpus.classes) < 2:
        raise LopsError(
            f"{corpus.name} has {len(corpus.classes)} class; wanted at least two to tell apart"
        )
    prepared = prepare(corpus, settings, run, seed=seed, quiet=quiet)
    write_pseudo_documents(prepared, run)
    measured = np.setdiff1d(np.arange(len(corpus)), prepared.labelled.positions)
    gold = [dataset.gold.labels[i] for i in measured] if dataset.gold and len(measured) else None
    evaluator = Evaluator(gold, corpus.classes)
    about = {
        "framework": "westclass",
        "dataset": corpus.name,
        "n_documents": len(corpus),
        "classes": list(corpus.classes),
        "pseudo_labels": {"count": len(prepared.codes), "noise": None, "of": "pseudo documents"},
        "labelled_documents": len(prepared.labelled.positions),
        "words_with_vector": len(prepared.vectors.words),
        "topic_size": [len(topic.words) for topic in prepared.topics],
        "kappa": [topic.distribution.kappa for topic in prepared.topics],
        "in_force": _in_force(prepared.settings),
        "seconds": prepared.seconds,
    }
    metrics: dict[str, Any] = {}
    for arm in arms:
        result = run_arm(arm, prepared, run, seed=seed, device=device, quiet=quiet)
        _write_tables(arm, result, prepared, run)
        metrics = add_arm(run, about, arm, _arm_metrics(result, prepared, measured, evaluator))
    return metrics


def _in_force(settings: WestclassSettings) -> dict[str, Any]:
    """Return what the mean length of the documents decided where the user did not."""
    names = PUBLISHED[settings.network, settings.length]
    return {"length": settings.length, **{name: getattr(settings, name) for name in names}}


def sample_ids(prepared: Prepared) -> list[str]:
    """Return an id for each pseudo document: its class and its number within the class, from 1."""
    classes, numbers = prepared.corpus.classes, [0] * len(prepared.corpus.classes)
    ids = []
    for code in prepared.codes.tolist():
        numbers[code] += 1
        ids.append(f"{classes[code]}-{numbers[code]}")
    return ids


def write_pseudo_documents(prepared: Prepared, run: RunFolder) -> None:
    """Write what both arms start from: the words of each topic, the pseudo documents, and their
    pseudo-labels.

    The score of a pseudo-label is the share of its class in the soft label that the network is
    trained on.
    """
    ids, classes = sample_ids(prepared), prepared.corpus.classes
    labels = [classes[code] for code in prepared.codes]
    alpha = prepared.settings.alpha
    write_pseudo_labels(
        run.path / "pseudo_labels.csv", ids, labels, [1 - alpha + alpha / len(classes)] * len(ids)
    )
    texts = (
        " ".join(word for word in flat(document) if word != PAD)
        for document in prepared.pseudo_documents
    )
    storage.write_csv(
        run.path / "pseudo_documents.csv",
        ["id", "pseudo_label", "text"],
        zip(ids, labels, texts, strict=True),
    )
    words = prepared.vectors.words
    topics = {
        label: [words[i] for i in topic.words]
        for label, topic in zip(classes, prepared.topics, strict=True)
    }
    storage.write_text(
        run.path / "topics.json", json.dumps(topics, indent=1, ensure_ascii=False) + "\n"
    )


def _write_tables(arm: str, result: ArmResult, prepared: Prepared, run: RunFolder) -> None:
    folder, corpus = run.arm(arm), prepared.corpus
    labels = [corpus.classes[code] for code in prepared.codes]
    write_selection(folder / "selection-0.csv", sample_ids(prepared), labels, result.selection)
    write_predictions(
        folder / "predictions.csv", corpus.ids, corpus.classes, result.self_trained.probabilities
    )


def _arm_metrics(
    result: ArmResult, prepared: Prepared, measured: np.ndarray, evaluator: Evaluator
) -> dict[str, Any]:
    """Return two rows: pre-training on pseudo documents, and self-training, whose pseudo-labels are
    predictions on real documents.

    Pseudo documents have no gold label. The noise of the heuristic as the classifier sees it is
    that of the second row: the share of real documents that the pre-trained classifier gets wrong.
    """
    names = np.array(prepared.corpus.classes, dtype=object)
    rows: list[dict[str, Any]] = []
    stages = {"pre-training": result.pretrained, "self-training": result.self_trained.probabilities}
    seconds = {
        "pre-training": result.seconds["selection"] + result.seconds["pretraining"],
        "self-training": result.seconds["self_training"],
    }
    for number, (stage, probabilities) in enumerate(stages.items()):
        predicted = names[probabilities.argmax(axis=1)][measured]
        rows.append(
            {
                "iteration": number,
                "stage": stage,
                **evaluator.scores(predicted),
                "seconds": seconds[stage],
            }
        )
    everything = np.arange(len(measured))
    before = evaluator.noise(everything, names[result.pretrained.argmax(axis=1)][measured])
    rows[0] |= {
        "pseudo_labels": len(prepared.codes),
        "noise": None,
        "selected_noise": None,
        **selection_metrics(result.selection),
    }
    rows[0]["seconds_selection"] = result.seconds["selection"]
    rows[1] |= {
        "pseudo_labels": len(measured),
        "noise": before,
        "selected": len(measured),
        "selected_noise": before,
    }
    trained = result.self_trained
    stopped = (
        "few documents change any more"
        if trained.converged
        else f"the limit of {prepared.settings.max_iterations} updates"
    )
    rows[1] |= {"updates": trained.iterations, "changed": list(trained.changed), "stopped": stopped}
    arm = arm_metrics(rows)
    return {
        **arm,
        "selected": rows[0]["selected"],
        "selected_noise": None,
        "noise_after_pretraining": before,
    }
