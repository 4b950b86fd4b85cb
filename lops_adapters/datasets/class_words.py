"""Seed words and names of classes: JSON files next to the data, and which names are used."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    return _load(source, "seed words", 'wanted {"class": ["seed word", ...], ...}', _is_words)


def load_names(source: Names | str | Path) -> dict[str, tuple[str, ...]]:
    """Return names from a mapping or a JSON file ``{class: name or [name, ...]}``.

    Raises:
        LopsError: the file is missing, not JSON, names a class twice, or holds something else.

    >>> load_names({"rec": "sports", "sci": ["science", "research"]})
    {'rec': ('sports',), 'sci': ('science', 'research')}
    """
    wanted = 'wanted {"class": "name", ...} or {"class": ["name", ...], ...}'
    content = _load(source, "class names", wanted, _is_name)
    return {
        label: (names,) if isinstance(names, str) else tuple(names)
        for label, names in content.items()
    }


def find_file(folder: Path, *names: str) -> Path | None:
    """Return the first of these files that a folder has; None if it has none."""
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is not None:
        logger.info("words of the classes are read from %s", path)
    return path


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


def _load(source: Any, what: str, wanted: str, is_fine: Callable[[object], bool]) -> Any:
    """Return a mapping, or the JSON object of a file with values that are fine."""
    if isinstance(source, Mapping):
        return source
    try:
        text = Path(source).read_bytes().decode("utf-8-sig")
        content = json.loads(text, object_pairs_hook=_pairs)
    except FileNotFoundError:
        raise LopsError(f"{source}: no such file of {what}; {wanted}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise LopsError(f"{source}: cannot be read as {what} ({error}); {wanted}") from None
    if not isinstance(content, dict) or not all(map(is_fine, content.values())):
        raise LopsError(f"{source}: these are no {what}; {wanted}")
    return content


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _is_name(value: object) -> bool:
    return isinstance(value, str) or (bool(value) and _is_words(value))


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; json would silently keep the last of two values of a class."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted(name for name in content if names.count(name) > 1)
        raise ValueError(f"{twice} appear twice")
    return content
