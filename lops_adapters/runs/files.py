"""What a run writes: tables of pseudo-labels, selections and predictions, and metrics.

Metrics hold what checked documents say of the pseudo-labels. Also: which documents to check next.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.core import LopsError, Selection
from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.settings import STANDARD
from lops_adapters.selection import Corrected, corrected
from lops_adapters.selection.committee.checking import check_order, next_rows, noise_rate
from lops_adapters.selection.selectors import encode

METRICS, TO_CHECK = "metrics.json", "to_check.csv"
_COUNT = 50  # documents to check


def write_pseudo_labels(path: Path, ids: Sequence[str], labels: PseudoLabels) -> None:
    """Write the pseudo-labels of documents, by position among ``ids``, the ids of all documents."""
    labelled = [ids[i] for i in labels.positions]
    write_sample_labels(path, labelled, labels.labels, labels.scores)


def write_sample_labels(
    path: Path, ids: Iterable[str], labels: Iterable[Any], scores: Iterable[float]
) -> None:
    """Write one CSV file: sample id, pseudo-label, score."""
    storage.write_csv(
        path,
        ["id", "pseudo_label", "score"],
        zip(ids, labels, (f"{score:g}" for score in scores), strict=True),
    )


def write_selection(
    path: Path, ids: Iterable[str], labels: Iterable[Any], selection: Selection
) -> None:
    """Write one CSV file: sample id, pseudo-label, epoch it was learnt at, confidence, selected.

    ``learnt_at`` is empty for a sample that was never learnt; ``selected`` is 1 or 0. A selection
    that corrects labels has a further column with all labels after it, ``corrected``.
    """
    learnt = [f"{time:g}" if np.isfinite(time) else "" for time in selection.learnt_at]
    confidence = [f"{value:.6g}" for value in selection.confidence]
    header = ["id", "pseudo_label", "learnt_at", "confidence", "selected"]
    columns = [ids, labels, learnt, confidence, selection.mask.astype(int)]
    if isinstance(selection, Corrected):
        header, columns = [*header, "corrected"], [*columns, selection.labels]
    storage.write_csv(path, header, zip(*columns, strict=True))


def write_predictions(
    path: Path, ids: Sequence[str], classes: Sequence[str], probabilities: np.ndarray
) -> None:
    """Write one CSV file: n document ids, their classes by (n, k) probabilities, and these."""
    best = zip(ids, probabilities.argmax(axis=1), probabilities.max(axis=1), strict=True)
    rows = ((name, classes[label], f"{probability:.6f}") for name, label, probability in best)
    storage.write_csv(path, ["id", "predicted", "probability"], rows)


def write_to_check(
    path: Path, corpus: Corpus, labels: PseudoLabels, checked: Sequence[int], seed: int
) -> None:
    """Write documents for a person to check: drawn at random, spread over the pseudo-labels.

    Those at the positions ``checked`` are checked already.
    """
    codes = encode(labels.labels, labels.classes)
    order = check_order(codes, codes, seed)
    done = np.flatnonzero(np.isin(labels.positions, list(checked))).tolist()
    chosen = labels.positions[next_rows(order, _COUNT, done)]
    label_of = dict(zip(labels.positions.tolist(), labels.labels, strict=True))
    rows = ((corpus.ids[i], label_of[i], "", corpus.texts[i]) for i in chosen.tolist())
    storage.write_csv(path, ["id", "label", "checked", "text"], rows, encoding="utf-8-sig")


def noise_metrics(
    evaluator: Evaluator, positions: np.ndarray, labels: Sequence[str] | np.ndarray
) -> dict[str, Any]:
    """Return what ``metrics.json`` says of the noise of (n,) pseudo-labels at (n,) positions.

    It is by the gold and the checked labels of the evaluator.
    """
    metrics: dict[str, Any] = {"noise": evaluator.noise(positions, labels)}
    if not evaluator.checked:
        return metrics
    classes = list(dict.fromkeys(labels))
    codes, code_of = encode(labels, classes), {label: code for code, label in enumerate(classes)}
    checked = [(i, p) for i, p in enumerate(positions.tolist()) if p in evaluator.checked]
    rows = np.array([i for i, _ in checked], dtype=np.int64)
    true = np.array([code_of.get(evaluator.checked[p], -1) for _, p in checked], dtype=np.int64)
    every = noise_rate(codes, codes, rows, true)
    metrics["checked_noise"] = None if every is None else every._asdict()
    metrics["checked_noise_per_class"] = {}
    for label in sorted(classes):
        rate = noise_rate(codes, codes, rows, true, codes == code_of[label])
        if rate is not None:
            metrics["checked_noise_per_class"][label] = rate._asdict()
    return metrics


def selection_metrics(selection: Selection) -> dict[str, Any]:
    """Return what ``metrics.json`` says of a selection in an iteration."""
    return {
        "selected": len(selection.kept),
        "rule": selection.rule,
        "stopped": selection.stopped,
        "per_class": {
            str(label): report._asdict() for label, report in selection.per_class.items()
        },
    }


def iteration_metrics(
    item: Any, positions: np.ndarray, predicted: np.ndarray, evaluator: Evaluator
) -> dict[str, Any]:
    """Return what ``metrics.json`` says of an :class:`~lops_adapters.runs.rounds.Iteration`.

    Its pseudo-labels are at (n,) ``positions`` among the evaluator's documents, which have the
    ``predicted`` names. Checked documents measure the first iteration only: they decide what later
    ones begin with.
    """
    labels, selection = item.pseudo_labels.labels, item.selection
    noise, kept = noise_metrics(evaluator, positions, labels), selection.kept
    trained = corrected(selection, labels)[kept]
    return {
        "iteration": item.number,
        "pseudo_labels": len(labels),
        **(noise if item.number == 0 else {"noise": noise["noise"]}),
        **selection_metrics(selection),
        "selected_noise": evaluator.noise(positions[kept], trained),
        "corrected": int((trained != labels[kept]).sum()),
        **evaluator.scores(predicted),
        "seconds": item.seconds["selection"] + item.seconds["classifier"],
        "seconds_selection": item.seconds["selection"],
    }


def arm_metrics(iterations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return an arm's entry in ``metrics.json``: the last results, and all iterations."""
    last = iterations[-1]
    return {
        **{key: last[key] for key in ("micro_f1", "macro_f1", "selected", "selected_noise")},
        "seconds": sum(item["seconds"] for item in iterations),
        "iterations": list(iterations),
    }


def finished_arms(run: RunFolder) -> dict[str, Any]:
    """Return the arms in ``metrics.json``, none before the first is finished."""
    path = run.path / METRICS
    if not path.exists():
        return {}
    arms = storage.read_json(path, "delete it and resume").get("arms", {})
    whole = isinstance(arms, dict) and all(
        isinstance(arm, dict) and isinstance(arm.get("iterations"), list) for arm in arms.values()
    )
    if not whole:
        raise LopsError(f"{path} is damaged (arms without iterations); delete it and resume")
    return dict(arms)


def add_arm(
    run: RunFolder, about: dict[str, Any], arm: str, result: dict[str, Any]
) -> dict[str, Any]:
    """Add an arm, of :func:`arm_metrics`, to ``metrics.json`` and return its contents.

    Finished arms stay. ``about`` is everything in the file besides the arms.
    """
    arms = {**finished_arms(run), arm: result}
    metrics = {
        **about,
        "arms": {
            name: arms[name] for name in sorted(arms, key=lambda name: (name != STANDARD, name))
        },
    }
    storage.write_json(run.path / METRICS, metrics)
    return metrics
