"""Trained classifiers, read back from a run folder of any framework."""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.runs.arms import arm_of_today
from lops_adapters.runs.classifiers import WAY_OUT, ProbeClassifier, TextClassifier
from lops_adapters.runs.framework import FRAMEWORKS, named
from lops_adapters.runs.metrics import BEST
from lops_adapters.storage import read_json


def load(path: str | Path, *, arm: str | None = None, device: str = "auto") -> TextClassifier:
    """Return the trained classifier of a run folder, an arm's folder, or a ``model`` folder.

    Args:
        path: the folder.
        arm: which arm of a run, by today's name; default: the first that exists of
            ``committee-documents``, ``committee``, ``lops-adaptive-documents``, ``lops-adaptive``,
            ``lops-documents``, ``lops``, ``standard``, else any. A LopsWarning says so where an
            older run calls it otherwise.
        device: ``auto``, ``cpu``, ``cuda``, ...

    Raises:
        LopsError: there is no such folder, no finished model in it, one that this version does not
            know, or one with a damaged file.
    """
    root = Path(path)
    folders = _arms_of(root)
    names = [arm] if arm else BEST
    usual = [folders.get(name, root / name) / "model" for name in names]
    others = sorted(root.glob("*/model"))
    tried = usual if arm else [root, root / "model", *usual, *others]
    folder = next((candidate for candidate in tried if (candidate / "lops.json").is_file()), None)
    if folder is None:
        looked = ", ".join(str(candidate / "lops.json") for candidate in tried)
        raise LopsError(
            f"no trained classifier in {root} (looked for {looked}); wanted the folder of a "
            "finished run"
        )
    name = folder.parent.name
    today = next((one for one, path in folders.items() if path.name == name), name)
    if today != name:
        warnings.warn(
            f"the arm {name} of this older run is {today} today", LopsWarning, stacklevel=2
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


def _arms_of(root: Path) -> dict[str, Path]:
    """Return the folders of the arms of a run, by today's names; {} if this is no run's folder."""
    config = root / "config.json"
    settings = read_json(config, WAY_OUT).get("settings") if config.is_file() else None
    if not isinstance(settings, dict):
        return {}
    return {arm_of_today(one.parent.name, settings): one.parent for one in root.glob("*/model")}
