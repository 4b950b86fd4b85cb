"""``metrics.json``: what gold labels and checked documents say of pseudo-labels and predictions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters import storage
from lops_adapters.core import LopsError, Selection
from lops_adapters.evaluation import Evaluator
from lops_adapters.runs.arms import STANDARD
from lops_adapters.runs.folder import RunFolder
from lops_adapters.runs.stages import Prepared, Samples, Stage
from lops_adapters.selection import corrected
from lops_adapters.selection.committee.checking import random_rate

METRICS = "metrics.json"
# Arms, the best in docs/findings.md first; those that select later before those of the same method.
BEST = [
    f"{method}{place}"
    for method in ("committee", "lops-adaptive", "lops", STANDARD)
    for place in ("-documents", "")
]


@dataclass(frozen=True)
class Measure:
    """Measures on the documents that came without a label.

    Attributes:
        measured: (m,) int64, their positions in the corpus, ascending.
    """

    evaluator: Evaluator
    measured: np.ndarray
    classes: Sequence[str]

    def prepared(self, prepared: Prepared) -> dict[str, Any]:
        """Return what ``metrics.json`` says of what all arms share."""
        samples, positions = prepared.samples, prepared.samples.positions
        labels = {"count": len(samples), **self._noise(samples)}
        if positions is not None:
            labels["coverage"] = len(np.unique(positions)) / len(prepared.corpus)
        if samples.of is not None:
            labels["of"] = samples.of
        about = {"pseudo_labels": labels, "seconds": prepared.seconds, **prepared.about}
        if prepared.predicted:
            names = np.array(self.classes, dtype=object)
            about["stages"] = {
                stage: self.evaluator.at(self._places(positions)).scores(names[codes])
                for stage, (positions, codes) in prepared.predicted.items()
            }
        return about

    def stage(self, stage: Stage, number: int) -> dict[str, Any]:
        """Return what ``metrics.json`` says of a stage, the number of its arm."""
        samples, selection = stage.samples, stage.kept
        says = stage.selection is not None and bool(selection.per_class)
        kept, noise = selection.kept, self._noise(samples)
        trained = corrected(selection, samples.labels)[kept]
        predicted = stage.probabilities[self.measured].argmax(axis=1)
        after = None
        if samples.positions is not None:
            after = self.evaluator.noise(self._places(samples.positions)[kept], trained)
        seconds = stage.seconds
        timed = {"seconds_selection": seconds["selection"]} if "selection" in seconds else {}
        return {
            "iteration": number,
            **({} if stage.name is None else {"stage": stage.name}),
            "pseudo_labels": len(samples),
            **(noise if stage.is_new else {"noise": noise["noise"]}),
            **(selection_metrics(selection) if says else {"selected": len(kept)}),
            "selected_noise": after,
            "corrected": int((trained != samples.labels[kept]).sum()),
            **self.evaluator.scores(np.array(self.classes, dtype=object)[predicted]),
            "seconds": sum(seconds.values()),
            **timed,
            **stage.extra,
        }

    def _noise(self, samples: Samples) -> dict[str, Any]:
        if samples.positions is None:
            return {"noise": None}
        return noise_metrics(self.evaluator, self._places(samples.positions), samples.labels)

    def _places(self, positions: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.measured, positions)


def noise_metrics(
    evaluator: Evaluator, positions: np.ndarray, labels: Sequence[str] | np.ndarray
) -> dict[str, Any]:
    """Return what ``metrics.json`` says of the noise of (n,) pseudo-labels at (n,) positions.

    It is by the gold and the checked labels of the evaluator.
    """
    metrics: dict[str, Any] = {"noise": evaluator.noise(positions, labels)}
    if not evaluator.checked:
        return metrics
    sizes, true = Counter(labels), evaluator.checked
    pairs = [(a, true[p]) for a, p in zip(labels, positions.tolist(), strict=True) if p in true]
    checked = Counter(label for label, _ in pairs)
    wrong = Counter(label for label, other in pairs if label != other)
    every = random_rate(wrong.total(), len(pairs), len(labels))
    metrics["checked_noise"] = None if every is None else every._asdict()
    metrics["checked_noise_per_class"] = {}
    for label in sorted(sizes):
        rate = random_rate(wrong[label], checked[label], sizes[label])
        if rate is not None:
            metrics["checked_noise_per_class"][label] = rate._asdict()
    return metrics


def selection_metrics(selection: Selection) -> dict[str, Any]:
    """Return what ``metrics.json`` says of a selection."""
    return {
        "selected": len(selection.kept),
        "rule": selection.rule,
        "stopped": selection.stopped,
        "per_class": {
            str(label): report._asdict() for label, report in selection.per_class.items()
        },
    }


def arm_metrics(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return an arm's entry: the last scores and selection, the seconds of all, all stages."""
    selected = next((row for row in reversed(rows) if "per_class" in row), rows[-1])
    return {
        **{key: rows[-1][key] for key in ("micro_f1", "macro_f1")},
        **{key: selected[key] for key in ("selected", "selected_noise")},
        "seconds": sum(row["seconds"] for row in rows),
        "iterations": list(rows),
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


def best_arm(metrics: Mapping[str, Any]) -> str:
    """Return the arm whose predictions are the labels of the run, chosen without gold labels.

    The committee is ahead in every cell of docs/findings.md.
    """
    return next((arm for arm in BEST if arm in metrics["arms"]), next(iter(metrics["arms"])))
