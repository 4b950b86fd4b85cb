"""The small corpus that comes with the package, for first steps, examples and tests."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from lops_adapters.datasets.class_words import Names, Seeds
from lops_adapters.datasets.corpus import Dataset
from lops_adapters.datasets.readers import read_rows
from lops_adapters.datasets.rows import Columns, assemble


def load_demo(
    seeds: Seeds | str | Path | None = None,
    folder: Path | None = None,
    names: Names | str | Path | None = None,
) -> Dataset:
    """Load the demo corpus.

    Args:
        seeds: seed words, or a JSON file of them, that replace the packaged ones.
        folder: a folder with ``documents.jsonl`` and ``seeds.json``; default: the packaged one.
        names: class names, or a JSON file of them, instead of the labels.

    Returns:
        The data set, named ``demo``, with gold labels.

    """
    if folder is None:
        with as_file(files("lops_adapters.datasets").joinpath("demo")) as packaged:
            return load_demo(seeds, packaged, names)
    rows = read_rows(folder / "documents.jsonl", Columns(quiet=True))
    return assemble(rows, "demo", seeds if seeds is not None else folder / "seeds.json", names)
