"""Documents that a person has checked: what they say of pseudo-labels, and which ones come next."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.datasets import Corpus
from lops_adapters.evaluation import Evaluator
from lops_adapters.pseudo_labels import PseudoLabels
from lops_adapters.selection.checking import check_order, next_rows, noise_rate
from lops_adapters.selection.selectors import encode

TO_CHECK = "to_check.csv"
_COUNT = 50


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
