"""Classifiers of texts: one function builds them from settings, and a run saves them as models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.console import typed
from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC
from lops_adapters.probes import FAST, Probe, probe_class, text_probe
from lops_adapters.runs.settings import FrameworkSettings
from lops_adapters.storage import read_json, write_json

WAY_OUT = "copy the folder again from where it was trained, or train again"
# Encoder of the vectors -> encoder that is fine-tuned where settings name none, as in X-Class.
_PAIRED = {"bert-base-uncased": "bert-base-cased"}


def build_classifier(
    settings: FrameworkSettings,
    device: str,
    *,
    probing: bool = False,
    quiet: bool = True,
    recipe: Mapping[str, Any] | None = None,
) -> Probe:
    """Return the untrained classifier of the settings; LopsError: an unknown encoder, no library.

    Args:
        settings: their ``classifier`` is one of :data:`~lops_adapters.probes.FAST`, an encoder to
            fine-tune, or None, the one of the vectors.
        device: of an encoder.
        probing: the probe of the settings instead; ``same`` is a copy of the classifier.
        quiet: no progress bar.
        recipe: epochs and sizes; default: ``settings.recipe(probing)``.
    """
    chosen = settings.recipe(probing) if recipe is None else recipe
    encoder: str = getattr(settings, "encoder", STATIC)
    kind: str | None = getattr(settings, "classifier", None)
    if probing and settings.probe != "same":
        kind, chosen = settings.probe, {"max_tokens": chosen["max_tokens"]}
    elif kind not in FAST:
        _refuse_misspelt(kind)
        kind, encoder = "transformer", kind or _PAIRED.get(encoder, encoder)
    return text_probe(kind, encoder=encoder, device=device, quiet=quiet, **chosen)


def _refuse_misspelt(classifier: str | None) -> None:
    known = (*FAST, "minilm")
    near = get_close_matches(classifier or "", known, n=1, cutoff=0.75)
    if classifier and near and near[0] != classifier and not Path(classifier).exists():
        raise LopsError(
            f"{typed('classifier')} is {classifier!r}; did you mean {near[0]!r}? Wanted "
            f"{', '.join(known)}, or the folder or hub name of an encoder"
        )


class TextClassifier(ABC):
    """What :func:`lops_adapters.load` returns; each framework has its own.

    Attributes:
        classes: class names, in the order of probability columns.
    """

    classes: Sequence[str]

    def predict_proba(self, texts: Sequence[str]) -> np.ndarray:
        """Return class probabilities, (n, k) float32.

        Raises:
            LopsError: one string instead of a list, or a list that holds something else.
        """
        if isinstance(texts, str):
            raise LopsError("found one string; wanted a list of texts")
        wrong = [text for text in texts if not isinstance(text, str)]
        if wrong:
            raise LopsError(
                f"found {wrong[0]!r} among the texts; wanted strings ('' for an empty text)"
            )
        return self._probabilities(texts)

    def predict(self, texts: Sequence[str]) -> list[str]:
        """Return n class names."""
        return [self.classes[code] for code in self.predict_proba(texts).argmax(axis=1)]

    @abstractmethod
    def _probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return what :meth:`predict_proba` does, for strings."""


@dataclass
class ProbeClassifier(TextClassifier):
    """A trained probe that reads texts, and its class names.

    Attributes:
        kind: name of the framework that trained it.
        classes: class names, in the order of probability columns.
        classifier: the trained probe.
    """

    kind: str
    classes: Sequence[str]
    classifier: Probe

    def _probabilities(self, texts: Sequence[str]) -> np.ndarray:
        return self.classifier.predict_proba(texts)

    def save(self, folder: Path) -> None:
        """Write the model into an existing empty folder."""
        inner = folder / "classifier"
        inner.mkdir()
        self.classifier.save(inner)
        write_json(
            folder / "lops.json",
            {"kind": self.kind, "classes": list(self.classes), "classifier": self.classifier.kind},
        )

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> ProbeClassifier:
        """Read what :meth:`save` wrote."""
        stored = read_json(folder / "lops.json", WAY_OUT)
        return cls(
            stored["kind"],
            stored["classes"],
            probe_class(stored["classifier"]).load(folder / "classifier", device=device),
        )
