"""``checked.csv``: documents that a person has checked."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.datasets import load_dataset as load
from lops_adapters.datasets.checked import read_checked, read_given_labels
from lops_adapters.datasets.readers import find_checked

CORPUS = Corpus("toy", ("a", "b", "c", "d"), ("one", "two", "three", "four"), ("arts", "law"))


def written(folder, text, name="checked.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "id,label\na,law\nd,-\nb,arts\n",
        "row,label,id,column\n1,law,a,x\n4,,d,x\n2,arts,b,x\n",
        "id;label;checked;text\na;arts;law;t\nc;law;;t\nd;law;-;t\nb;arts;arts;t\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_is_read(tmp_path, text, encoding):
    path = written(tmp_path, text, encoding=encoding)
    assert read_checked(path, CORPUS) == {0: "law", 3: None, 1: "arts"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("row,label\n1,law\n", "has the columns 'row', 'label'; wanted 'id' and 'label'"),
        ("id,label\na,law\nx,law\n", "line 3: the id 'x' is of no document of toy; wanted ids"),
        ("id,label\na,sport\n", "line 2: 'sport' is no class of toy; wanted one of arts, law,"),
        ("id,label\na,law\na,arts\n", "the document 'a' is 'arts' here, and 'law' before"),
    ],
)
def test_what_is_refused(tmp_path, text, words):
    with pytest.raises(LopsError, match=words):
        read_checked(written(tmp_path, text), CORPUS)


@pytest.mark.parametrize(
    "text",
    [
        "id,label\nc,arts\na,law\n",
        "pseudo_label,id\narts,c\nlaw,a\n",
        'id,label,pseudo_label\nc,law,arts\n\na,arts,"law"\n',
    ],
)
def test_labels_of_every_row(tmp_path, text):
    assert list(read_given_labels(written(tmp_path, text), CORPUS).items()) == [
        (2, "arts"),
        (0, "law"),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,class\na,law\n", r"has the columns 'id', 'class'; .* \(or 'pseudo_label'\)"),
        ("id,label\n", "holds no row; wanted the columns id and label"),
        ("id,label\na,law\nb,\n", "holds a row without a label; wanted"),
        ("id,label\na\n", "line 2: found 1 fields; wanted 2"),
    ],
)
def test_labels_that_are_refused(tmp_path, text, words):
    with pytest.raises(LopsError, match=words):
        read_given_labels(written(tmp_path, text), CORPUS)


def test_documents_outside_a_sample_are_left_out(tmp_path):
    path = written(tmp_path, "id,label\na,law\nx,law\n")
    assert read_checked(path, CORPUS, sampled=True) == {0: "law"}


def test_a_missing_file(tmp_path):
    with pytest.raises(LopsError, match=r"cannot read .*no\.csv: No such file or directory"):
        read_checked(tmp_path / "no.csv", CORPUS)


def test_the_file_in_the_folder_of_the_data(tmp_path):
    assert find_checked(tmp_path / "missing") is None
    alone = written(tmp_path, "text,label\na film,arts\na trial,law\n")
    assert find_checked(tmp_path) is None
    assert len(load(tmp_path, quiet=True)) == 2  # it is the data
    for name, text in (("dataset.txt", "a film\n"), ("classes.txt", "arts\nlaw\n")):
        written(tmp_path, text, name)
    assert find_checked(tmp_path) == alone  # beside a layout
    (tmp_path / "dataset.txt").unlink()
    (tmp_path / "classes.txt").unlink()
    written(tmp_path, "id,text\na,a film\nb,a trial\n", "news.csv")
    assert find_checked(tmp_path) == alone
    assert load(tmp_path, seeds={"arts": ["film"], "law": ["trial"]}).corpus.ids == ("a", "b")
