"""Recognise the contents of a path and read them."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lops_adapters import formats
from lops_adapters.console import listed
from lops_adapters.core import LopsError
from lops_adapters.datasets import checked
from lops_adapters.datasets.class_words import (
    NAME_FILE,
    SEED_FILES,
    Names,
    Seeds,
    find_file,
    load_names,
)
from lops_adapters.datasets.corpus import Dataset
from lops_adapters.datasets.layouts import LAYOUTS, Layout
from lops_adapters.datasets.newsgroups import read_archive, strip_headers
from lops_adapters.datasets.rows import CorpusColumns, Rows, assemble, readable
from lops_adapters.datasets.tables import read_pickle, read_table
from lops_adapters.formats.files import is_table
from lops_adapters.remote import opened

# Files of the layouts: a folder with some of them is an incomplete layout, not two documents.
_OF_LAYOUTS = {
    *("classes.txt", "dataset.txt", "labels.txt", "keywords.txt", "label_names.txt"),
    *("train.txt", "train_labels.txt", "test.txt", "test_labels.txt"),
}

logger = logging.getLogger(__name__)


def read_path(
    path: Path,
    columns: CorpusColumns,
    seeds: Seeds | str | Path | None,
    names: Names | str | Path | None,
    headers: str,
) -> Dataset:
    """Read a folder or file in any known layout, recognised by its contents."""
    with readable(path):
        folder = path if path.is_dir() else path.parent
        rows = read_rows(path, columns)
        if seeds is None:
            seeds = find_file(folder, *SEED_FILES)
        usual = find_file(folder, NAME_FILE)
        rows = replace(rows, names=None if usual is None else load_names(usual))
    rows = strip_headers(rows, headers, str(path))
    return assemble(rows, name_of_path(path), seeds, names)


def read_rows(path: Path, columns: CorpusColumns) -> Rows:
    """Read a path as rows, without a search for a file of seed words; raises as ``read_path``."""
    with readable(path):
        if path.is_dir():
            return _read_folder(path, columns)
        if path.is_file():
            reader = _reader(path)
            if reader is not None:
                return reader(path, columns)
            known = [*formats.suffixes(), *_PICKLES, *_ARCHIVES]
            raise LopsError(
                f"{path}: files ending in {path.suffix or 'nothing'} are not read; "
                f"wanted {listed(known)}, or the folder of a layout of several files"
            )
    raise LopsError(f"{path}: no such file or folder; give an existing path or a registered name")


def is_recognised(path: Path) -> bool:
    """Return whether the layout of a path is known (its files may still be damaged)."""
    with readable(path):
        if path.is_dir():
            return bool(_layouts(path)) or len(_tables(path)) == 1
    return path.is_file() and _reader(path) is not None


def name_of_path(path: Path) -> str:
    """Name a data set after its file (without suffix) or folder.

    >>> name_of_path(Path("data/reviews.jsonl")), name_of_path(Path("data/20news-bydate.tar.gz"))
    ('reviews', '20news-bydate')
    """
    name = path.resolve().name.encode("utf-8", "replace").decode()  # a name need not be UTF-8
    return name[: -len(_suffix(path))] if not path.is_dir() and _suffix(path) else name


def _archive(path: Path, columns: CorpusColumns) -> Rows:
    columns.refuse(f"{path} (20 Newsgroups)")
    return read_archive(path, columns.quiet)


_ARCHIVES, _PICKLES = (".tar.gz", ".tgz", ".tar"), (".pkl", ".pickle")


def _suffix(path: Path) -> str:
    tables = [suffix + packed for suffix in formats.suffixes() for packed in ("", ".gz")]
    known = [*_ARCHIVES, *_PICKLES, *tables]
    return next((suffix for suffix in known if path.name.lower().endswith(suffix)), path.suffix)


def _reader(path: Path) -> Callable[[Path, CorpusColumns], Rows] | None:
    if _suffix(path) in _ARCHIVES:
        return _archive
    if _is_pickle(path):
        return read_pickle
    return read_table if formats.of_suffix(path) else None


def _is_pickle(path: Path) -> bool:
    return _suffix(path) in _PICKLES


def _read_folder(folder: Path, columns: CorpusColumns) -> Rows:
    layouts = _layouts(folder)
    if len(layouts) > 1:
        raise LopsError(
            f"{folder} has more than one layout: {listed(layout.name for layout in layouts)}; "
            "move each to its own folder, or give the path of one file"
        )
    if layouts:
        logger.info("%s is read as a folder of %s", folder, layouts[0].name)
        return layouts[0].read(folder, columns)
    tables = _tables(folder)
    if len(tables) == 1:
        logger.info("%s: reading %s", folder, tables[0].name)
        return read_rows(tables[0], columns)
    if text_files(folder):
        logger.info("%s: reading its text files", folder)
        return read_text_files(folder, columns)
    entries = sorted(entry.name for entry in folder.iterdir())
    needs = "; ".join(f"{layout.name}: {layout.needs}" for layout in LAYOUTS)
    raise LopsError(
        f"{folder} has no known layout. It contains: {listed(entries, 20)}. "
        f"The layouts need: {needs}; a table: exactly one CSV, TSV, JSONL, Parquet, .xlsx or "
        "pickled file (if there are several, give the path of one); texts: two or more .txt files"
    )


def _layouts(folder: Path) -> list[Layout]:
    names = {entry.name for entry in folder.iterdir()}
    return [layout for layout in LAYOUTS if any(mark <= names for mark in layout.marks)]


def _tables(folder: Path) -> list[Path]:
    readers = (read_table, read_pickle)
    files = sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and _reader(path) in readers and (_is_pickle(path) or is_table(path))
    )
    data = [path for path in files if path.name != checked.NAME]
    return data or ([] if text_files(folder) else files)


def find_checked(path: Path) -> Path | None:
    """Return ``checked.csv`` in a folder, unless it is the data."""
    table = path / checked.NAME
    if not table.is_file():
        return None
    return None if not _layouts(path) and _tables(path) == [table] else table


def text_files(folder: Path) -> list[Path]:
    """Return the text files of a folder in alphabetical order; none if it has fewer than two."""
    files = sorted(path for path in folder.glob("*.txt") if path.is_file())
    names = {path.name for path in files}
    return files if len(files) > 1 and not names & _OF_LAYOUTS else []


def read_text_files(folder: Path, columns: CorpusColumns) -> Rows:
    """Read each text file of a folder as a document; its name without ``.txt`` is the id."""
    columns.refuse(f"{folder} (text files)")
    texts = []
    for path in (files := text_files(folder)):
        with readable(path), opened(path) as file:
            texts.append(file.read().decode("utf-8-sig"))
    return Rows(texts, ids=[path.stem for path in files])
