"""The files of a saved model: noted when it is saved, checked when it is loaded."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.storage import write_json

LIST = "files.json"  # beside lops.json: path -> its size and SHA-256
_CHUNK = 2**20
WAY_OUT = "copy the folder again from where it was trained, or train again"


def note(folder: Path) -> None:
    """Write the list of a model's files into its folder."""
    files = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    write_json(folder / LIST, {name: _described(path) for name, path in files.items()})


def check(folder: Path) -> None:
    """Compare a model's files with its list; a model without a list passes.

    Raises:
        LopsError: a file is missing or changed; it is named.

    """
    if not (folder / LIST).is_file():
        return  # saved by `save` alone, or by an older version
    noted = _read_json(folder / LIST)
    for name, described in noted.items():
        path = folder / name
        try:
            found = _described(path)
        except OSError as error:
            raise damaged(path, error.strerror or str(error)) from None
        if found != described:
            raise damaged(path, "it is not as it was saved")


def find_damaged(folder: Path) -> LopsError | None:
    """Return the error about the first file of a model that cannot be read; None: all can."""
    for path in _files(folder):
        try:
            _READERS.get(path.suffix, _read_bytes)(path)
        except LopsError as error:
            return error
        except Exception as error:  # the readers of several formats raise errors of their own
            return damaged(path, str(error) or type(error).__name__)
    return None


def damaged(path: Path, reason: str) -> LopsError:
    """Return the error about a file of a model."""
    return LopsError(f"{path} is damaged or missing ({reason:.200}); {WAY_OUT}")


def _files(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return sorted(path for path in found if path != folder / LIST)


def _described(path: Path) -> dict[str, int | str]:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def _read_json(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from None
    if not isinstance(found, dict):
        raise damaged(path, f"found a {type(found).__name__}, wanted an object")
    return found


def _read_arrays(path: Path) -> None:
    with path.open("rb") as file, np.load(file) as arrays:
        for name in arrays.files:
            arrays[name]


def _read_tensors(path: Path) -> None:
    from safetensors import safe_open  # where it is missing, the model cannot be loaded either

    with safe_open(path, "np") as tensors:
        for name in tensors.keys():  # noqa: SIM118 (no mapping)
            tensors.get_slice(name).get_shape()


def _read_zip(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        broken = archive.testzip()
    if broken is not None:
        raise zipfile.BadZipFile(f"{broken} inside it has a wrong checksum")


def _read_bytes(path: Path) -> None:
    with path.open("rb") as file:
        file.read(1)


_READERS: dict[str, Callable[[Path], object]] = {
    ".json": _read_json,
    ".npz": _read_arrays,
    ".safetensors": _read_tensors,
    ".keras": _read_zip,
}
