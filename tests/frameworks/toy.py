"""A fifth framework in one file: String-Match, the selector, a linear classifier.

The suite registers it for its tests. It shows what a framework has to say, and nothing else.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lops_adapters import console
from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.probes import Probe, probe_class
from lops_adapters.pseudo_labels import PseudoLabels, string_match
from lops_adapters.runs.command import command
from lops_adapters.runs.iterations import IteratedFramework
from lops_adapters.runs.models import ProbeClassifier
from lops_adapters.runs.rounds import Iteration
from lops_adapters.runs.settings import AT_LEAST_ONE, FrameworkSettings, setting
from lops_adapters.selection import trusted_positions


@dataclass(frozen=True, kw_only=True)
class ToySettings(FrameworkSettings):
    """Settings of the toy; the probe ``same`` is a fresh classifier."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"quick": {}, "paper": {"epochs": 20}}

    epochs: int = setting(4, "epochs of classifier and probe", within=AT_LEAST_ONE)


class Prepared(NamedTuple):
    """What both arms share."""

    corpus: Corpus
    pseudo_labels: PseudoLabels
    seconds: dict[str, float]


class Toy(IteratedFramework[ToySettings]):
    """String-Match, a selection among its pseudo-labels, one training."""

    name = "toy"
    title = "Toy"
    summary = "A toy with LOPS."
    examples = (("", "the embedded demo corpus"),)
    settings = ToySettings
    modules = ()
    words = "seeds.json"

    def prepare(self, corpus, job):
        """Match seed words."""
        labels = string_match(
            corpus.texts, {label: corpus.seeds.get(label, []) for label in corpus.classes}
        )
        if len(set(labels.labels)) < 2:
            raise LopsError(f"found {len(labels)} pseudo-labels of one class; wanted two classes")
        return Prepared(corpus, labels, {})

    def run_arm(self, arm, prepared, job):
        """Select and train."""
        corpus, labels, _ = prepared
        build = partial(_classifier, job)
        selector = job.selector(arm, build, positions=labels.positions)
        samples = [corpus.texts[i] for i in labels.positions]
        selection, select_seconds = job.folder.select(
            f"{arm}-selection", partial(selector, samples, labels.labels)
        )

        def train() -> dict[str, np.ndarray]:
            kept = trusted_positions(selection, labels.labels)
            codes = [corpus.classes.index(label) for label in labels.labels[kept]]
            classifier = build()
            classifier.fit([samples[i] for i in kept], codes, len(corpus.classes), seed=job.seed)
            model = ProbeClassifier("toy", corpus.classes, classifier)
            job.folder.save_model(job.folder.arm(arm) / "model", model.save)
            return {"probabilities": classifier.predict_proba(corpus.texts)}

        arrays, train_seconds = job.folder.stage(f"{arm}-classifier", train)
        seconds = {"selection": select_seconds, "classifier": train_seconds}
        return [Iteration(0, labels, selection, arrays["probabilities"], seconds)]


def _classifier(job) -> Probe:
    return probe_class("linear")(epochs=job.settings.epochs, batch_size=8, learning_rate=0.3)


TOY = Toy()
main = command(TOY)

if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
