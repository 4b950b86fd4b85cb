"""One ConWea run: both arms into a run folder, and the numbers about them."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.arguments import ARMS
from lops_adapters.conwea.pipeline import Iteration, Prepared, prepare, run_arm, write_pseudo_labels, write_tables
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.core import LopsError
from lops_adapters.datasets import Dataset
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs import RunFolder

log = logging.getLogger(__name__)


def run_conwea(
    dataset: Dataset, settings: ConweaSettings, run: RunFolder, arms: Sequence[str], *, seed: int, device: str, quiet: bool
) -> dict[str, Any]:
    """Run the arms and return the contents of ``metrics.json``, which is written after each arm.

    Gold labels go to the evaluator and nowhere else. Arms that an earlier call on the same run folder finished stay in ``metrics.json``.

    Raises:
        LopsError: a library is missing, or the data or settings cannot work; before the long work wherever that is known before it.

    """
    for module in ("gensim", "nltk", "torch", "transformers"):
        if find_spec(module) is None:
            raise LopsError(f"ConWea needs {module}, which is not installed; run: pip install 'lops_adapters[conwea]'")
    corpus = dataset.corpus
    evaluator = Evaluator(None if dataset.gold is None else dataset.gold.labels, corpus.classes)
    prepared = prepare(corpus, settings, run, seed=seed, device=device, quiet=quiet)
    metrics: dict[str, Any] = {
        "framework": "conwea",
        "dataset": corpus.name,
        "n_documents": len(corpus),
        "classes": list(corpus.classes),
        "pseudo_labels": {},
        "seconds": prepared.seconds,
        "senses": _about_senses(prepared),
        "arms": {},
    }
    finished = _finished_arms(run)
    for arm in arms:
        iterations = run_arm(arm, prepared, settings, run, seed=seed, device=device, quiet=quiet)
        write_tables(arm, iterations, corpus, run)
        finished[arm] = _arm_metrics(iterations, corpus.classes, evaluator)
        metrics["arms"] = {name: finished[name] for name in ARMS if name in finished}
        first = finished[arm]["iterations"][0]
        metrics["pseudo_labels"] = {"count": first["pseudo_labels"], "noise": first["noise"], "coverage": first["coverage"]}
        storage.write_json(run.path / "metrics.json", metrics)
    write_pseudo_labels(run.path / "pseudo_labels.csv", iterations[0].pseudo_labels, corpus.ids)
    return metrics


def _finished_arms(run: RunFolder) -> dict[str, Any]:
    path = run.path / "metrics.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))["arms"]) if path.exists() else {}


def _about_senses(prepared: Prepared) -> dict[str, Any]:
    words = {word.partition("$")[0] for word in prepared.documents.vocabulary}
    return {"threshold": prepared.senses.threshold, "words": len(words), "ambiguous_words": len(prepared.senses.centres)}


def _arm_metrics(iterations: Sequence[Iteration], classes: Sequence[str], evaluator: Evaluator) -> dict[str, Any]:
    rows = [_iteration_metrics(item, classes, evaluator) for item in iterations]
    last = rows[-1]
    return {
        "micro_f1": last["micro_f1"],
        "macro_f1": last["macro_f1"],
        "seconds": sum(row["seconds"] for row in rows),
        "selected": last["selected"],
        "selected_noise": last["selected_noise"],
        "iterations": rows,
    }


def _iteration_metrics(item: Iteration, classes: Sequence[str], evaluator: Evaluator) -> dict[str, Any]:
    labels, selection = item.pseudo_labels, item.selection
    names = np.array(classes, dtype=object)
    f1 = evaluator.f1(names[item.probabilities.argmax(axis=1)])
    kept = labels.positions[selection.kept]
    return {
        "iteration": item.number,
        "pseudo_labels": len(labels),
        "coverage": labels.coverage,
        "noise": evaluator.noise(labels.positions, labels.labels),
        "selected": len(kept),
        "selected_noise": evaluator.noise(kept, labels.labels[selection.kept]),
        "micro_f1": None if f1 is None else f1.micro,
        "macro_f1": None if f1 is None else f1.macro,
        "seconds": item.seconds["selection"] + item.seconds["classifier"],
        "seconds_selection": item.seconds["selection"],
        "rule": selection.rule,
        "stopped": selection.stopped,
        "per_class": {str(label): report._asdict() for label, report in selection.per_class.items()},
        "classes_without_pseudo_labels": list(labels.empty_classes),
    }
