"""One ConWea run: both arms into a run folder, and the numbers about them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.conwea.pipeline import Iteration, Prepared, prepare, run_arm, write_tables
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.datasets import Dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.command import require
from lops_adapters.runs.files import add_arm, arm_metrics, selection_metrics
from lops_adapters.runs.folder import RunFolder

log = logging.getLogger(__name__)


def run_conwea(
    dataset: Dataset,
    settings: ConweaSettings,
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
    require("ConWea", ("gensim", "nltk", "torch", "transformers"))
    corpus = dataset.corpus
    evaluator = Evaluator(None if dataset.gold is None else dataset.gold.labels, corpus.classes)
    prepared = prepare(corpus, settings, run, seed=seed, device=device, quiet=quiet)
    metrics: dict[str, Any] = {}
    for arm in arms:
        iterations = run_arm(arm, prepared, settings, run, seed=seed, device=device, quiet=quiet)
        write_tables(arm, iterations, corpus, run)
        rows = [_iteration_metrics(item, corpus.classes, evaluator) for item in iterations]
        first = rows[0]
        about = {
            "framework": "conwea",
            "dataset": corpus.name,
            "n_documents": len(corpus),
            "classes": list(corpus.classes),
            "pseudo_labels": {
                "count": first["pseudo_labels"],
                "noise": first["noise"],
                "coverage": first["coverage"],
            },
            "seconds": prepared.seconds,
            "senses": _about_senses(prepared),
        }
        metrics = add_arm(run, about, arm, arm_metrics(rows))
    return metrics


def _about_senses(prepared: Prepared) -> dict[str, Any]:
    words = {word.partition("$")[0] for word in prepared.documents.vocabulary}
    return {
        "threshold": prepared.senses.threshold,
        "words": len(words),
        "ambiguous_words": len(prepared.senses.centres),
    }


def _iteration_metrics(
    item: Iteration, classes: Sequence[str], evaluator: Evaluator
) -> dict[str, Any]:
    labels, selection = item.pseudo_labels, item.selection
    names = np.array(classes, dtype=object)
    kept = labels.positions[selection.kept]
    return {
        "iteration": item.number,
        "pseudo_labels": len(labels),
        "coverage": labels.coverage,
        "noise": evaluator.noise(labels.positions, labels.labels),
        **selection_metrics(selection),
        "selected_noise": evaluator.noise(kept, labels.labels[selection.kept]),
        **evaluator.scores(names[item.probabilities.argmax(axis=1)]),
        "seconds": item.seconds["selection"] + item.seconds["classifier"],
        "seconds_selection": item.seconds["selection"],
        "classes_without_pseudo_labels": list(labels.empty_classes),
    }
