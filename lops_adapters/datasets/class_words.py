"""Seed words and names of classes: JSON files next to the data, and which names are used."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.datasets import published
from lops_adapters.remote import opened

SEED_FILES = ("seeds.json", "seedwords.json")
NAME_FILE = "names.json"
LABELS = "labels"
EXAMPLES = ("business", "sports")  # classes of a message where the data have none

Seeds: TypeAlias = Mapping[str, Sequence[str]]
Names: TypeAlias = Mapping[str, str | Sequence[str]] | Sequence[str]

logger = logging.getLogger(__name__)


def load_seeds(source: Seeds | str | Path) -> Seeds:
    """Return seed words from a mapping or from a JSON file ``{class: [seed word, ...]}``."""
    if isinstance(source, Mapping):
        return source
    expected = 'wanted {"class": ["seed word", ...], ...}'
    content = _read(source, "seed words", expected)
    if not isinstance(content, dict) or not all(map(_is_words, content.values())):
        raise LopsError(f"{source}: these are no seed words; {expected}")
    return content


def load_names(source: Names | str | Path) -> dict[str, tuple[str, ...]]:
    """Return names from a mapping or a JSON file ``{class: name or [name, ...]}``.

    Classes that are their own names can be a list instead: in Python, in the file, or as one string
    with commas. Raises as :func:`load_seeds`.

    >>> load_names({"rec": "sports", "sci": ["science", "research"]})
    {'rec': ('sports',), 'sci': ('science', 'research')}
    >>> load_names("arts, sports")
    {'arts': ('arts',), 'sports': ('sports',)}
    """
    expected = 'wanted {"class": "name", ...} or {"class": ["name", ...], ...}, or ["class", ...]'
    content: Any = source
    if isinstance(source, str) and "," in source and not Path(source).is_file():
        content = [name.strip() for name in source.split(",") if name.strip()]
    elif isinstance(source, (str, Path)):
        content = _read(source, "class names", expected)
    if content and _is_words(content):
        if len(set(content)) < len(content):
            raise LopsError(f"class names must differ; found {listed(map(repr, content))}")
        content = {name: name for name in content}
    if not isinstance(content, Mapping) or not all(map(_is_name, content.values())):
        raise LopsError(f"{source}: these are no class names; {expected}")
    return {
        label: (names,) if isinstance(names, str) else tuple(names)
        for label, names in content.items()
    }


def to_write(file: str, classes: Sequence[str]) -> str:
    """Return the sentence that says which file of words to write, ready to paste.

    >>> to_write("names.json", ["arts", "sports"])
    'write names.json next to the data: {"arts": "arts", "sports": "sports"}'
    """
    named = file == NAME_FILE
    words = {label: label if named else [label] for label in classes or EXAMPLES}
    which = file if named else f"{file}, a few words per class,"
    return f"write {which} next to the data: {json.dumps(words, ensure_ascii=False)}"


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

    ``names``: ``labels`` for the labels alone; otherwise what :func:`load_names` takes, which
    replaces the ``usual`` names, of the data set, of the classes it lists.

    >>> choose_names({"sci": "research"}, {"rec": "sports"}, ["rec", "sci"])
    {'rec': ('sports',), 'sci': ('research',)}
    >>> choose_names("labels", {"rec": "sports"}, ["rec", "sci"])
    {}
    """
    if names == LABELS:
        return {}
    renamed = {label: published.RENAMED[label] for label in classes if label in published.RENAMED}
    chosen = {} if names is None else names
    return {**load_names(renamed), **load_names(usual or {}), **load_names(chosen)}


def _read(source: str | Path, what: str, expected: str) -> Any:
    try:
        with opened(Path(source)) as file:
            return json.loads(file.read().decode("utf-8-sig"), object_pairs_hook=_pairs)
    except FileNotFoundError:
        raise LopsError(f"{source}: no such file of {what}; {expected}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise LopsError(f"{source}: cannot be read as {what} ({error}); {expected}") from None


def _is_words(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value)


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
