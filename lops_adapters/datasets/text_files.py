"""A folder of text files, one document per file."""

from pathlib import Path

from lops_adapters.datasets.lines import readable
from lops_adapters.datasets.rows import CorpusColumns, Rows

# Files of the layouts: a folder with some of them is an incomplete layout, not two documents.
_OF_LAYOUTS = {
    *("classes.txt", "dataset.txt", "labels.txt", "keywords.txt", "label_names.txt"),
    *("train.txt", "train_labels.txt", "test.txt", "test_labels.txt"),
}


def text_files(folder: Path) -> list[Path]:
    """Return the text files of a folder in alphabetical order; none if it has fewer than two."""
    files = sorted(path for path in folder.glob("*.txt") if path.is_file())
    names = {path.name for path in files}
    return files if len(files) > 1 and not names & _OF_LAYOUTS else []


def read_text_files(folder: Path, columns: CorpusColumns) -> Rows:
    """Read each text file of a folder as a document; its name without ``.txt`` is the id.

    Raises a LopsError if a column is named, or a file is not UTF-8.
    """
    columns.refuse(f"{folder} (text files)")
    texts = []
    for path in (files := text_files(folder)):
        with readable(path):
            texts.append(path.read_bytes().decode("utf-8-sig"))
    return Rows(texts, ids=[path.stem for path in files])
