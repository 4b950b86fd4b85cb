"""Pseudo-labels from a file."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.self_training.given import read_pseudo_labels

CORPUS = Corpus("three", ["a", "b", "c"], ["x", "y", "z"], ["arts", "law"])


@pytest.fixture
def read(tmp_path):
    def write_and_read(text):
        path = tmp_path / "mine.csv"
        path.write_text(text, encoding="utf-8")
        return read_pseudo_labels(path, CORPUS)

    return write_and_read


@pytest.mark.parametrize(
    "text",
    [
        "id,label\nc,arts\na,law\n",
        "pseudo_label,id\narts,c\nlaw,a\n",
        "id,pseudo_label,score\nc,arts,0.5\na,law,2\n",
        'id,label,pseudo_label\nc,law,arts\n\na,arts,"law"\n',
    ],
)
def test_files(read, text):
    found = read(text)
    assert (found.positions.tolist(), found.labels.tolist(), found.scores.tolist()) == (
        [0, 2],
        ["law", "arts"],
        [1, 1],
    )
    assert (found.n_documents, found.classes) == (3, ("arts", "law"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"has the columns none; wanted id and pseudo_label"),
        ("id,class\na,law\n", "has the columns id, class; wanted id and pseudo_label"),
        ("a,law\nb,arts\n", "has the columns a, law"),
        ("id,label\n", "holds no pseudo-label"),
        ("id,label\na\n", "line 2: found 1 fields; wanted 2"),
        ("id,label\na,law\nb,law\na,law\n", "line 4: the id 'a' is there a second time"),
        ("id,label\nx,law\na,law\ny,law\n", r"2 ids are of no document of three \(x, y\)"),
        ("id,label\na,Law\n", "Law is no class of three; wanted some of arts, law"),
        ('id,label\n"a,law\n', "not proper CSV"),
    ],
)
def test_files_that_are_refused(read, text, words):
    with pytest.raises(LopsError, match=words):
        read(text)
