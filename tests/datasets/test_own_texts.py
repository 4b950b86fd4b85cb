"""Texts without labels: the classes come from their names, and documents can be text files."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset as load
from lops_adapters.datasets.checked import read_checked
from lops_adapters.datasets.readers import find_checked

TABLE = "text\nA goal\nShares fell\n"
NAMES = {"business": ("business", "economy"), "sports": ("sports",)}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"sports": "sports", "business": ["business", "economy"]}', NAMES),
        ('["sports", "business"]', {"business": ("business",), "sports": ("sports",)}),
    ],
)
def test_the_classes_of_a_table_without_labels_are_the_names(put, content, expected):
    folder = put("mine", {"texts.csv": TABLE, "names.json": content})
    for path in (folder, folder / "texts.csv"):
        dataset = load(path)
        assert dataset.gold is None
        assert dict(dataset.corpus.names) == expected
        assert dataset.corpus.classes == ("business", "sports")


@pytest.mark.parametrize(
    "names", ["sports, business", ["sports", "business"], {"sports": "sports", "business": "trade"}]
)
def test_the_classes_can_be_given_in_place_of_a_file(put, names):
    corpus = load(put("mine", {"texts.csv": TABLE}), names=names).corpus
    assert corpus.classes == ("business", "sports")
    assert corpus.names["sports"] == ("sports",)


def test_names_of_the_caller_rename_the_classes_of_the_file(put):
    folder = put("mine", {"texts.csv": TABLE, "names.json": '["sports", "business"]'})
    assert load(folder, names={"sports": "games"}).corpus.names == {
        "business": ("business",),
        "sports": ("games",),
    }
    with pytest.raises(LopsError, match="names for arts, which the classes do not contain"):
        load(folder, names="arts,sports")


def test_seed_words_and_labels_say_the_classes_before_names_do(put):
    seeds = {"texts.csv": TABLE, "seeds.json": '{"sports": ["goal"], "business": ["shares"]}'}
    assert load(put("seeds", {**seeds, "names.json": '{"sports": "games"}'})).corpus.names == {
        "business": ("business",),
        "sports": ("games",),
    }
    with pytest.raises(LopsError, match=r"names for arts, .* not contain \(business, sports\)"):
        load(put("more", {**seeds, "names.json": '["arts"]'}))
    labelled = put("labels", {"texts.csv": "text,label\nA goal,sports\nA play,arts\n"})
    with pytest.raises(LopsError, match=r"names for business, .* not contain \(arts, sports\)"):
        load(labelled, names="business,sports")


def test_a_folder_of_text_files(put):
    files = {"b.txt": "\ufeffShares\nfell\n", "a.txt": "A goal", "c.txt": "", "sub/d.txt": "no"}
    folder = put("mine", {**files, "names.json": '["sports", "business"]'})
    corpus = load(folder).corpus
    assert corpus.ids == ("a", "b", "c")
    assert corpus.texts == ("A goal", "Shares\nfell\n", "")
    assert corpus.classes == ("business", "sports")
    put("mine", {"checked.csv": "id,label\nb,business\n"})
    assert read_checked(find_checked(folder), load(folder).corpus) == {1: "business"}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"dataset.txt": "a\nb\n", "more.txt": "c"}, "no known layout"),
        ({"notes.txt": "a"}, r"texts: two or more \.txt files"),
        ({"a.txt": "a", "b.txt": b"\xff"}, r"b\.txt: a text that is not UTF-8"),
    ],
)
def test_text_files_that_are_not_read(put, files, message):
    with pytest.raises(LopsError, match=message):
        load(put("mine", files))
