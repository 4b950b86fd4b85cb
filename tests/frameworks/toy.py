"""A fifth framework in one file: String-Match, the selector, a linear classifier.

The suite registers it for its tests. It shows what a framework has to say, and nothing else.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from lops_adapters import console
from lops_adapters.core import LopsError
from lops_adapters.probes import Probe, probe_class
from lops_adapters.pseudo_labels import PseudoLabels, string_match
from lops_adapters.runs import stages
from lops_adapters.runs.classifiers import ProbeClassifier
from lops_adapters.runs.command import command
from lops_adapters.runs.files import label_table
from lops_adapters.runs.framework import Framework
from lops_adapters.runs.settings import FrameworkSettings, setting
from lops_adapters.runs.stages import Samples, iteration
from lops_adapters.selection import trusted_positions


@dataclass(frozen=True, kw_only=True)
class ToySettings(FrameworkSettings):
    """Settings of the toy; the probe ``same`` is a fresh classifier."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"quick": {}, "paper": {"epochs": 20}}

    epochs: int = setting(4, "epochs of classifier and probe")


@dataclass(frozen=True, kw_only=True)
class Prepared(stages.Prepared):
    """What both arms share."""

    pseudo_labels: PseudoLabels


class Toy(Framework[ToySettings]):
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
        samples = Samples.documents(labels, corpus)
        return Prepared(corpus=corpus, samples=samples, seconds={}, pseudo_labels=labels)

    def run_arm(self, arm, prepared, job):
        """Select and train."""
        corpus, labels = prepared.corpus, prepared.pseudo_labels
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
            job.save_model(arm, ProbeClassifier("toy", corpus.classes, classifier))
            return {"probabilities": classifier.predict_proba(corpus.texts)}

        arrays, train_seconds = job.folder.stage(f"{arm}-classifier", train)
        seconds, probabilities = (select_seconds, train_seconds), arrays["probabilities"]
        tables = {"pseudo_labels-0.csv": label_table(prepared.samples)}
        yield iteration(0, labels, corpus, selection, probabilities, seconds, tables=tables)


def _classifier(job) -> Probe:
    return probe_class("linear")(epochs=job.settings.epochs, batch_size=8, learning_rate=0.3)


TOY = Toy()
main = command(TOY)

if __name__ == "__main__":
    sys.exit(console.guarded(main)(None))
