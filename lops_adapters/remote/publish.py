"""Folders of object stores: a manifest, written last, names the output that is complete."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from lops_adapters.remote.names import is_remote
from lops_adapters.remote.path import RemotePath

MANIFEST = "manifest.json"
_RUN = re.compile(r"run-[0-9A-Za-z-]+")


def manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder; None: no such object, {}: not by this package."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    is_ours = isinstance(stored, dict) and _RUN.fullmatch(str(stored.get("folder")))
    return stored if is_ours else {}


def complete(folder: Path) -> Path:
    """Return where the output of a folder is: in a store, in the folder that it names."""
    named = manifest(folder) if is_remote(folder) else None
    return folder / named["folder"] if named else folder


@contextmanager
def published(folder: Path) -> Iterator[Path]:
    """Yield a new folder in a remote folder, to be filled; then name it in the folder's manifest.

    A store shows an object whole or not at all, but cannot show several at once. So the manifest,
    written last, says which folder is complete, and the one that it named before is deleted.
    """
    begun = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    run = cast("RemotePath", folder / f"run-{begun}-{secrets.token_hex(4)}")
    try:
        yield cast("Path", run)
        previous = manifest(folder)
        named = {"folder": run.name, "files": run.files()}
        (folder / MANIFEST).write_text(json.dumps(named, indent=2) + "\n", encoding="utf-8")
    except BaseException:
        with suppress(OSError):
            if (manifest(folder) or {}).get("folder") != run.name:
                run.discard()
        raise
    if previous:
        with suppress(OSError):  # the new output stands
            cast("RemotePath", folder / previous["folder"]).discard()
