"""Trained classifiers, read back from a run folder of any framework."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes import Probe, probe_class
from lops_adapters.runs.framework import FRAMEWORKS, named
from lops_adapters.storage import read_json, write_json

# Arms whose model :func:`load` returns if no arm is named; the best in docs/findings.md first.
WAY_OUT = "copy the folder again from where it was trained, or train again"
_PREFERRED = ("committee-documents", "committee", "lops-documents", "lops", "standard")


class TextClassifier(ABC):
    """What :func:`load` returns; each framework has its own.

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


def load(path: str | Path, *, arm: str | None = None, device: str = "auto") -> TextClassifier:
    """Return the trained classifier of a run folder, an arm's folder, or a ``model`` folder.

    Args:
        path: the folder.
        arm: which arm of a run; default: the first that exists of ``committee-documents``,
            ``committee``, ``lops-documents``, ``lops``, ``standard``, else any.
        device: ``auto``, ``cpu``, ``cuda``, ...

    Raises:
        LopsError: there is no such folder, no finished model in it, one that this version does not
            know, or one with a damaged file.
    """
    root = Path(path)
    usual = [root / name / "model" for name in _PREFERRED]
    others = sorted(root.glob("*/model"))
    tried = [root / arm / "model"] if arm else [root, root / "model", *usual, *others]
    folder = next((candidate for candidate in tried if (candidate / "lops.json").is_file()), None)
    if folder is None:
        looked = ", ".join(str(candidate / "lops.json") for candidate in tried)
        raise LopsError(
            f"no trained classifier in {root} (looked for {looked}); wanted the folder of a "
            "finished run"
        )
    stored = read_json(folder / "lops.json", WAY_OUT)
    kind = stored.get("kind")
    if not isinstance(kind, str) or kind not in FRAMEWORKS:
        raise LopsError(
            f"{folder} holds a model of kind {kind!r}; wanted one of {', '.join(FRAMEWORKS)}"
        )
    loader: type[Any] = ProbeClassifier
    if "classifier" not in stored:
        module, _, name = named(kind).model.partition(":")
        loader = getattr(import_module(module), name)
    try:
        loaded: TextClassifier = loader.load(folder, device=device)
    except LopsError:
        raise
    except Exception as error:  # the readers of several formats raise errors of their own
        raise LopsError(
            f"a file of {folder} is damaged or missing ({error!r:.200}); {WAY_OUT}"
        ) from error
    return loaded
