"""A framework in one file: String-Match, a selection, a linear classifier."""

from dataclasses import dataclass
from typing import Any, ClassVar

from lops_adapters.core import LopsError
from lops_adapters.probes import probe_class
from lops_adapters.pseudo_labels import string_match
from lops_adapters.runs.classifiers import ProbeClassifier
from lops_adapters.runs.framework import Framework
from lops_adapters.runs.settings import FrameworkSettings, setting
from lops_adapters.runs.stages import Prepared, Samples, Stage
from lops_adapters.selection import trusted_positions


@dataclass(frozen=True, kw_only=True)
class ToySettings(FrameworkSettings):
    """Each field is an option of the command, with its default per preset."""

    PRESETS: ClassVar[dict[str, Any]] = {"quick": {}, "paper": {"epochs": 20}}

    epochs: int = setting(4, "epochs of classifier and probe")


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
        """What all arms share: the pseudo-labels, stored as samples."""
        seeds = {label: corpus.seeds.get(label, []) for label in corpus.classes}
        labels = string_match(corpus.texts, seeds)
        if len(set(labels.labels)) < 2:
            raise LopsError("found labels of one class; give seed words of two")
        samples = Samples.documents(labels, corpus)
        return Prepared(corpus=corpus, samples=samples, seconds={})

    def run_arm(self, arm, prepared, job):
        """Select and train: one stage."""
        corpus, labels = prepared.corpus, prepared.samples.labels
        positions = prepared.samples.positions
        texts = [corpus.texts[i] for i in positions]

        def classifier():
            sizes = {"epochs": job.settings.epochs, "batch_size": 8}
            return probe_class("linear")(**sizes, learning_rate=0.3)

        # What standard, lops, committee and every other arm do differently.
        selector = job.selector(arm, classifier, positions=positions)
        selection, select_seconds = job.folder.select(
            f"{arm}-selection", lambda: selector(texts, labels)
        )

        def train():
            kept = trusted_positions(selection, labels)
            model, codes = classifier(), prepared.samples.codes[kept]
            kept_texts = [texts[i] for i in kept]
            model.fit(kept_texts, codes, len(corpus.classes), seed=job.seed)
            job.save_model(arm, ProbeClassifier("toy", corpus.classes, model))
            return {"probabilities": model.predict_proba(corpus.texts)}

        # A resumed run reads a finished stage from its folder.
        arrays, train_seconds = job.folder.stage(f"{arm}-classifier", train)
        yield Stage(
            samples=prepared.samples,
            selection=selection,
            probabilities=arrays["probabilities"],
            seconds={"selection": select_seconds, "classifier": train_seconds},
        )


TOY = Toy()
