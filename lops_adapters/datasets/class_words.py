"""Seed words and names of classes: JSON files beside the data, and which names are used."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from lops_adapters.core import LopsError
from lops_adapters.datasets import published

SEED_FILES = ("seeds.json", "seedwords.json")
NAME_FILE = "names.json"
LABELS = "labels"

Seeds: TypeAlias = Mapping[str, Sequence[str]]
Names: TypeAlias = Mapping[str, str | Sequence[str]]

logger = logging.getLogger(__name__)


def load_seeds(source: Seeds | str | Path) -> Seeds:
    """Return seed words from a mapping or from a JSON file ``{class: [seed word, ...]}``.

    Raises:
        LopsError: the file is missing, not JSON, names a class twice, or holds something else.

    """
    if isinstance(source, Mapping):
        return source
    wanted = 'wanted {"class": ["seed word", ...], ...}'
    content = _read_object(Path(source), "seed words", wanted)
    if not all(map(_is_words, content.values())):
        raise LopsError(f"{source}: these are no seed words; {wanted}")
    return content


def find_seeds(folder: Path) -> Seeds | None:
    """Read ``seeds.json``, otherwise ``seedwords.json``, of a folder; None if neither exists."""
    present = [folder / name for name in SEED_FILES if (folder / name).is_file()]
    if not present:
        return None
    logger.info("seed words taken from %s", present[0])
    return load_seeds(present[0])


def load_names(source: Names | str | Path) -> dict[str, tuple[str, ...]]:
    """Return names from a mapping or a JSON file ``{class: name or [name, ...]}``.

    Raises:
        LopsError: the file is missing, not JSON, names a class twice, or holds something else.

    >>> load_names({"rec": "sports", "sci": ["science", "research"]})
    {'rec': ('sports',), 'sci': ('science', 'research')}
    """
    if isinstance(source, Mapping):
        content: dict[str, Any] = dict(source)
    else:
        wanted = 'wanted {"class": "name", ...} or {"class": ["name", ...], ...}'
        content = _read_object(Path(source), "class names", wanted)
        if not all(isinstance(own, str) or (own and _is_words(own)) for own in content.values()):
            raise LopsError(f"{source}: these are no class names; {wanted}")
    return {label: (own,) if isinstance(own, str) else tuple(own) for label, own in content.items()}


def find_names(folder: Path) -> dict[str, tuple[str, ...]] | None:
    """Read ``names.json`` of a folder; None if it does not exist."""
    path = folder / NAME_FILE
    if not path.is_file():
        return None
    logger.info("class names taken from %s", path)
    return load_names(path)


def choose_names(
    names: Names | str | Path | None, usual: Names | None, classes: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return the names to use; classes without an entry are named by their label.

    Args:
        names: ``labels`` for the labels alone; otherwise names, or a JSON file of them, that
            replace the usual ones of the classes they list.
        usual: the data set's names.
        classes: of the data set.

    >>> choose_names({"sci": "research"}, {"rec": "sports"}, ["rec", "sci"])
    {'rec': ('sports',), 'sci': ('research',)}
    >>> choose_names("labels", {"rec": "sports"}, ["rec", "sci"])
    {}
    """
    if names == LABELS:
        return {}
    renamed = {label: published.RENAMED[label] for label in classes if label in published.RENAMED}
    chosen = {**renamed, **(usual or {})}
    return load_names({**chosen, **(load_names(names) if names is not None else {})})


def _read_object(path: Path, what: str, wanted: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_pairs)
    except FileNotFoundError:
        raise LopsError(f"{path}: no such file of {what}; {wanted}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise LopsError(f"{path}: cannot be read as {what} ({error}); {wanted}") from None
    if not isinstance(content, dict):
        raise LopsError(f"{path}: these are no {what}; {wanted}")
    return content


def _is_words(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(word, str) for word in found)


class _RepeatedKeyError(ValueError):
    """A JSON object names a class twice; json would silently keep the last."""


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedKeyError(
            f"{sorted(name for name in content if names.count(name) > 1)} appear twice"
        )
    return content
