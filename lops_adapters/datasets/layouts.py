"""The folder layouts of ConWea, X-Class, WeSTClass, LOTClass and 20 Newsgroups."""

import filecmp
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lops_adapters.core import LopsError
from lops_adapters.datasets.newsgroups import ARCHIVE, SPLITS, read_archive, read_tree
from lops_adapters.datasets.rows import CorpusColumns, Rows
from lops_adapters.datasets.tables import read_pickle
from lops_adapters.formats.delimited import csv_records
from lops_adapters.formats.lines import raw_lines


@dataclass(frozen=True)
class Layout:
    """A folder layout.

    Attributes:
        marks: sets of file names; a folder that holds all names of one set has this layout.
        needs: the files it needs, for messages.
    """

    name: str
    marks: tuple[frozenset[str], ...]
    needs: str
    read: Callable[[Path, CorpusColumns], Rows]


def read_xclass(folder: Path, columns: CorpusColumns) -> Rows:
    """Read ``dataset.txt``, ``classes.txt`` and, if present, ``labels.txt``.

    Each class name is its own seed word. Raises a LopsError about a class index out of range, or a
    number of labels that is not the number of lines.
    """
    columns.refuse(f"{folder} (X-Class)")
    classes = _filled_lines(folder / "classes.txt")
    texts = _stripped_lines(folder / "dataset.txt", columns.quiet)
    labels = _labels(folder / "labels.txt", classes, folder / "dataset.txt", len(texts))
    return Rows(texts, labels=labels, classes=classes, seeds={name: (name,) for name in classes})


def read_lotclass(folder: Path, columns: CorpusColumns) -> Rows:
    """Read ``train.txt``, ``label_names.txt`` and, if present, ``train_labels.txt``.

    The words of a line of ``label_names.txt``, in lower case, are the seed words of a class; the
    first is its name. Without ``train_labels.txt``, ``test_labels.txt`` is used if ``test.txt``
    equals ``train.txt`` byte for byte. Raises as :func:`read_xclass`, and about a word of two
    classes.
    """
    columns.refuse(f"{folder} (LOTClass)")
    words = [line.lower().split() for line in _filled_lines(folder / "label_names.txt")]
    every = [word for line in words for word in line]
    twice = sorted({word for word in every if every.count(word) > 1})
    if twice:
        raise LopsError(
            f"{folder / 'label_names.txt'}: {', '.join(twice)} appears twice; "
            "wanted each word in one class only"
        )
    classes = [line[0] for line in words]
    texts = _stripped_lines(folder / "train.txt", columns.quiet)
    label_file = folder / "train_labels.txt"
    test = folder / "test.txt"
    tested = test.is_file() and filecmp.cmp(test, folder / "train.txt", shallow=False)
    if tested and not label_file.is_file():
        label_file = folder / "test_labels.txt"
    labels = _labels(label_file, classes, folder / "train.txt", len(texts))
    seeds = {line[0]: tuple(line) for line in words}
    return Rows(texts, labels=labels, classes=classes, seeds=seeds)


def read_westclass(folder: Path, columns: CorpusColumns) -> Rows:
    """Read ``dataset.csv`` with ``classes.txt`` and ``keywords.txt``.

    A row is class (from 1), text; or class, title, description, which are joined by ". ". The first
    word of a line of ``classes.txt`` (without that file: of ``keywords.txt``) is the name of the
    class. If the class is 0 in every row, there are no gold labels.
    """
    columns.refuse(f"{folder} (WeSTClass)")
    classes, seeds = _westclass_words(folder)
    texts, numbers = [], []
    width = 0
    for line, record in csv_records(folder / "dataset.csv", columns.quiet):
        width = width or len(record)
        where = f"{folder / 'dataset.csv'}, line {line}"
        if len(record) != width or width not in (2, 3):
            raise LopsError(
                f"{where}: {len(record)} fields; "
                "wanted class,text in every row, or class,title,description in every row"
            )
        number = record[0].strip()
        if not (number.isascii() and number.isdigit()) or int(number) > len(classes):
            raise LopsError(
                f"{where}: class {record[0]!r}; wanted a whole number from 1 to {len(classes)}"
            )
        numbers.append(int(number))
        texts.append(". ".join(record[1:]))
    if any(numbers) and not all(numbers):
        raise LopsError(
            f"{folder / 'dataset.csv'}: some classes are 0; "
            "number them from 1, or write 0 in every row"
        )
    labels = [classes[number - 1] for number in numbers] if any(numbers) else None
    return Rows(texts, labels=labels, classes=classes, seeds=seeds)


def read_newsgroups(folder: Path, columns: CorpusColumns) -> Rows:
    """Read the 20 Newsgroups archive of a folder, otherwise its unpacked tree.

    The archive goes first, since a tree unpacked by hand may be incomplete.
    """
    columns.refuse(f"{folder} (20 Newsgroups)")
    archive = folder / ARCHIVE
    if archive.is_file():
        return read_archive(archive, columns.quiet)
    return read_tree(folder, columns.quiet)


def _labels(path: Path, classes: list[str], texts: Path, n_texts: int) -> list[str] | None:
    if not path.is_file():
        return None
    numbers = _indices(path, len(classes))
    if len(numbers) != n_texts:
        raise LopsError(
            f"{path} has {len(numbers)} labels, {texts} {n_texts} lines; wanted one label per line"
        )
    return [classes[number] for number in numbers]


def _westclass_words(folder: Path) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    files = [folder / "classes.txt", folder / "keywords.txt"]
    present = [path for path in files if path.is_file()]
    if not present:
        raise LopsError(f"{folder}: classes.txt or keywords.txt is no file; wanted one of them")
    names, words = _numbered_words(present[0]), _numbered_words(present[-1])
    classes = [line[0] for line in names]
    if len(names) != len(words):
        raise LopsError(
            f"{present[0]} has {len(names)} lines, {present[-1]} {len(words)}; "
            "wanted one line per class in each"
        )
    return classes, dict(zip(classes, words, strict=True))


def _numbered_words(path: Path) -> list[tuple[str, ...]]:
    lines = []
    for number, line in enumerate(_filled_lines(path)):
        key, _, words = line.partition(":")
        class_words = tuple(word.strip() for word in words.split(","))
        if key.strip() != str(number) or ":" in words or not all(class_words):
            raise LopsError(
                f"{path}, line {number + 1}: found {line!r}; "
                f"wanted '{number}:word' or '{number}:word,word'"
            )
        lines.append(class_words)
    return lines


def _stripped_lines(path: Path, quiet: bool = False) -> list[str]:
    return [line.strip() for line in raw_lines(path, quiet)]


def _filled_lines(path: Path) -> list[str]:
    """Read a list of names or numbers, one per line; blank lines are allowed only at the end."""
    lines = _stripped_lines(path)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise LopsError(f"{path}: nothing in it; wanted one entry per line")
    if "" in lines:
        raise LopsError(f"{path}, line {lines.index('') + 1}: blank; wanted an entry in every line")
    return lines


def _indices(path: Path, n_classes: int) -> list[int]:
    """Read class indices from 0 to ``n_classes`` - 1, one per line; LopsError: another line."""
    numbers = []
    for number, line in enumerate(_filled_lines(path), 1):
        if not (line.isascii() and line.isdigit()) or int(line) >= n_classes:
            raise LopsError(
                f"{path}, line {number}: found {line!r}; "
                f"wanted a class index from 0 to {n_classes - 1}"
            )
        numbers.append(int(line))
    return numbers


LAYOUTS = (
    Layout(
        "ConWea",
        (frozenset({"df.pkl"}),),
        "df.pkl (seedwords.json next to it)",
        lambda folder, columns: read_pickle(folder / "df.pkl", columns),
    ),
    Layout(
        "X-Class",
        (frozenset({"dataset.txt", "classes.txt"}),),
        "dataset.txt, classes.txt (labels.txt)",
        read_xclass,
    ),
    Layout(
        "WeSTClass",
        (frozenset({"dataset.csv", "classes.txt"}), frozenset({"dataset.csv", "keywords.txt"})),
        "dataset.csv and classes.txt or keywords.txt",
        read_westclass,
    ),
    Layout(
        "LOTClass",
        (frozenset({"train.txt", "label_names.txt"}),),
        "train.txt, label_names.txt (train_labels.txt)",
        read_lotclass,
    ),
    Layout(
        "20 Newsgroups",
        tuple(frozenset({name}) for name in (ARCHIVE, *SPLITS)),
        f"{ARCHIVE}, or {' and '.join(SPLITS)}",
        read_newsgroups,
    ),
)
