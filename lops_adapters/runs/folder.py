"""The run folder: what a run writes, and how a stopped run is resumed from it."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters import remote, storage, surroundings
from lops_adapters.core import ClassReport, LopsError, Selection
from lops_adapters.runs.arms import refuse_renamed
from lops_adapters.selection import Corrected

log = logging.getLogger(__name__)
_SAME_ON_RESUME = ("framework", "settings", "seed", "dataset")


@dataclass(frozen=True)
class RunFolder:
    """A folder that a run fills: tables at its top, one folder per arm, stages under ``work``.

    A *stage* is a piece of work whose result is stored when it is complete. Stages are
    deterministic given the settings: a run killed inside one repeats that stage and ends with the
    same result as an uninterrupted run. Its file holds a digest of the run's settings and of its
    arrays, so that a stage of another run, or one that was changed, is not taken for this run's.
    """

    path: Path
    settings: str = ""  # that a stage has to be from, as JSON

    @classmethod
    def open(cls, path: Path, config: dict[str, Any], *, resume: bool) -> RunFolder:
        """Start a run in ``path``, or resume the one that is there.

        LopsError: the folder holds a run and ``resume`` is false, holds something else, was started
        with other settings or data, or cannot be made.
        """
        run = cls(path, same_on_resume(config))
        stored = path / "config.json"
        if stored.exists():
            if not resume:
                raise LopsError(
                    f"{path} already holds a run; give --resume to continue it, or another --output"
                )
            try:
                _hold(stored, path)
            except OSError as error:
                raise LopsError(f"{stored} cannot be read ({error.strerror})") from None
            _compare(storage.read_json(stored, "give another --output"), config, path)
            for leftover in list(path.rglob(".*.tmp")):  # of a process killed while it wrote
                storage.discard(leftover)
        elif path.exists() and not _is_unstarted(path):
            raise LopsError(f"{path} exists and holds no run; give another --output")
        else:
            try:
                path.mkdir(parents=True, exist_ok=True)
                storage.write_json(stored, config)
                storage.restore(stored)
                _hold(stored, path)
            except OSError as error:
                raise LopsError(
                    f"{path} cannot be written ({error.strerror}); give another --output"
                ) from None
        _made(run.work)
        return run

    def discard_unstarted(self) -> None:
        """Remove the folder of a run that failed before its first stage was stored."""
        if not any(self.work.iterdir()) and not (self.path / "metrics.json").exists():
            self.work.rmdir()
            (self.path / "config.json").unlink()
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def arm(self, name: str) -> Path:
        """Return the folder of one arm; it is made if missing."""
        return _made(self.path / name)

    @property
    def work(self) -> Path:
        """Folder of the finished stages."""
        return self.path / "work"

    def stage(
        self, name: str, compute: Callable[[], dict[str, np.ndarray]]
    ) -> tuple[dict[str, np.ndarray], float]:
        """Return the arrays of a stage and the seconds it took; a finished stage is read."""
        path = self.work / f"{name}.npz"
        if not path.exists():
            log.info("stage %s", name)
            start = time.perf_counter()
            arrays = compute()
            arrays["seconds"] = np.array(time.perf_counter() - start)
            with self._writing():
                storage.write_arrays(path, **arrays, digest=self.digest(name, arrays))
        arrays = self._load(name)
        return arrays, float(arrays.pop("seconds"))

    def _load(self, name: str) -> dict[str, np.ndarray]:
        path = self.work / f"{name}.npz"
        try:
            with remote.opened(path) as file, np.load(file) as stored:
                arrays = {key: stored[key] for key in stored.files}
            fits = np.array_equal(arrays.pop("digest"), self.digest(name, arrays))
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
            raise LopsError(
                f"{path} cannot be read ({error!s:.200}); delete it and resume: it is made again"
            ) from None
        if not fits:
            raise LopsError(
                f"{path} is of another run, or was changed; delete it and resume: it is made again"
            )
        return arrays

    def digest(self, name: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return a hash of the run's settings, a stage's name and its arrays, (32,) uint8."""
        digest = hashlib.blake2b(f"{self.settings}\n{name}\n".encode(), digest_size=32)
        for key in sorted(arrays):
            array = np.ascontiguousarray(arrays[key])
            digest.update(f"{key} {array.dtype.str} {array.shape}\n".encode())
            digest.update(array.reshape(-1).view(np.uint8).data)
        return np.frombuffer(digest.digest(), dtype=np.uint8)

    def finished(self, name: str) -> bool:
        """Return whether a stage is finished."""
        return (self.work / f"{name}.npz").exists()

    def selection(self, name: str) -> Selection:
        """Return the selection of a finished stage."""
        return selection_from(self._load(name))

    def select(self, name: str, compute: Callable[[], Selection]) -> tuple[Selection, float]:
        """Return a selection as a stage."""
        arrays, seconds = self.stage(name, lambda: selection_arrays(compute()))
        return selection_from(arrays), seconds

    def save_model(self, folder: Path, write: Callable[[Path], object]) -> None:
        """Let ``write`` fill a new folder, which replaces ``folder`` when it is complete."""
        with self._writing(), storage.replacing_folder(folder) as partial:
            write(partial)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LopsError(
                f"{self.path} cannot be written ({error.strerror or error}); "
                "make room or give access, then resume the run"
            ) from error


def same_on_resume(config: dict[str, Any]) -> str:
    """Return the part of ``config.json`` that a run may not change, as JSON."""
    same = {key: storage.plain(config.get(key)) for key in _SAME_ON_RESUME}
    return json.dumps(same, sort_keys=True)


def free_folder(base: Path, *, resume: bool) -> Path:
    """Return ``base``, base-2, base-3, ...: the last that exists to resume, else the first free."""
    number, path, newest = 1, base, base
    while path.exists():
        number, newest = number + 1, path
        path = base.with_name(f"{base.name}-{number}")
    return newest if resume else path


def describe(
    framework: str, settings: dict[str, Any], seed: int, corpus: Any, device: str
) -> dict[str, Any]:
    """Return the contents of ``config.json``: what is needed to repeat a run."""
    data = {
        "name": corpus.name,
        "documents": len(corpus),
        "classes": list(corpus.classes),
        "seeds": {label: list(words) for label, words in corpus.seeds.items()},
        "names": {label: list(words) for label, words in corpus.names.items()},
        "sha256": corpus.checksum,
    }
    command = " ".join([f"python -m lops_adapters.{framework}", *sys.argv[1:]])
    return surroundings.describe(command, framework, settings, seed, data, device)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise LopsError(f"{folder} is no folder; move it away and resume") from None
    return folder


def _is_unstarted(path: Path) -> bool:
    """Return whether a folder is empty, or of a run killed while it wrote its first file."""
    return path.is_dir() and all(
        entry.name.startswith(".config.json.") and entry.suffix == ".tmp"
        for entry in path.iterdir()
    )


# Descriptor of config.json of the run in progress: its lock lasts as long as the process.
_held: list[int] = []


def _hold(stored: Path, path: Path) -> None:
    while _held:
        os.close(_held.pop())
    with remote.opened(stored) as file:
        _held.append(os.dup(file.fileno()))
    if not storage.lock(_held[0]):
        raise LopsError(
            f"another process is writing {path}; wait until it ends, or give another --output"
        )


def _compare(stored: dict[str, Any], config: dict[str, Any], path: Path) -> None:
    now = json.loads(json.dumps(storage.plain(config)))
    refuse_renamed(stored.get("settings"), now.get("settings"), path)
    for key in _SAME_ON_RESUME:
        old, new, where = stored.get(key), now.get(key), key
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            inner = next(name for name in {**old, **new} if old.get(name) != new.get(name))
            old, new, where = old.get(inner), new.get(inner), f"{key}.{inner}"
        raise LopsError(
            f"{path} was started with {where} = {old!r}, not {new!r}; resume with the same "
            "options, or give another --output"
        )
    for name, old in _noted(stored, "versions").items():
        if old != now["versions"].get(name):
            new = now["versions"].get(name)
            log.warning("resumed with %s %s, started with %s: numbers may differ", name, new, old)
    threads = _noted(stored, "threads")
    other = [name for name, old in threads.items() if old != now["threads"].get(name)]
    if other:
        log.warning(
            "resumed with threads %s, started with %s: numbers may differ in the last digits",
            ", ".join(f"{name} {now['threads'].get(name)}" for name in other),
            ", ".join(f"{name} {threads[name]}" for name in other),
        )


def _noted(stored: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a note of ``config.json`` about the surroundings; {} if an older one has none."""
    note = stored.get(key)
    return note if isinstance(note, dict) else {}


def selection_arrays(selection: Selection) -> dict[str, np.ndarray]:
    """Return a selection as number arrays that :func:`selection_from` reads back."""
    notes = {
        "rule": selection.rule,
        "stopped": selection.stopped,
        "per_class": [[label, *report] for label, report in selection.per_class.items()],
    }
    arrays = {
        "mask": selection.mask,
        "learnt_at": selection.learnt_at,
        "confidence": selection.confidence,
        "notes": storage.pack_strings([json.dumps(storage.plain(notes))]),
    }
    if isinstance(selection, Corrected):
        for name in ("labels", "before"):
            arrays[name] = storage.pack_strings(getattr(selection, name).tolist())
    return arrays


def selection_from(arrays: dict[str, np.ndarray]) -> Selection:
    """Return the selection stored by :func:`selection_arrays`."""
    notes = json.loads(storage.unpack_strings(arrays["notes"])[0])
    per_class = {label: ClassReport(*report) for label, *report in notes["per_class"]}
    selection = Selection(
        arrays["mask"],
        arrays["learnt_at"],
        arrays["confidence"],
        per_class,
        notes["rule"],
        notes["stopped"],
    )
    if "labels" in arrays:
        # Older runs have no labels from before.
        both = (arrays.get(name, arrays["labels"]) for name in ("labels", "before"))
        labels = [np.array(storage.unpack_strings(packed), dtype=object) for packed in both]
        return Corrected(selection, *labels)
    return selection


def slug(text: str) -> str:
    """Return a name fit for a folder.

    >>> slug("my data/News!")
    'my-data-News'
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-") or "run"
