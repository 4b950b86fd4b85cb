"""The folder layouts, and how a path is recognised."""

import json
import logging
import pickle
from pathlib import Path

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import load_dataset as load

from .conftest import FRAME

INTS = (Path(__file__).parent / "fixtures" / "pandas22_arrow_ints_p5.pkl").read_bytes()
SEEDS = json.dumps({"sports": ["goal", "game"], "business": ["markets"]})


# ConWea


def test_conwea_folder(put):
    dataset = load(put("mine", {"df.pkl": FRAME, "seedwords.json": SEEDS}))
    assert dataset.corpus.name == "mine"
    assert dataset.corpus.texts[:2] == ("A goal, a game.", "")
    assert dataset.corpus.classes == ("business", "sports")
    assert dataset.corpus.seeds["sports"] == ("goal", "game")
    assert dataset.corpus.ids == ("0", "1", "2", "3")
    assert dataset.gold.labels == ("sports", "sports", "business", "business")


def test_conwea_frame_with_sentences_and_whole_number_labels(put):
    dataset = load(
        put("mine", {"df.pkl": INTS, "seedwords.json": '{"0": ["markets"], "1": ["goal"]}'})
    )
    assert dataset.corpus.texts[0] == "A goal, a game."
    assert dataset.gold.labels == ("1", "1", "0", "0")


def test_conwea_labels_must_have_seed_words(put):
    with pytest.raises(
        LopsError, match=r"gold labels business are not among the classes \(sports\)"
    ):
        load(put("mine", {"df.pkl": FRAME, "seedwords.json": '{"sports": ["goal"]}'}))


def test_a_frame_without_seed_words_has_the_classes_of_its_labels(put):
    corpus = load(put("mine", {"df.pkl": FRAME})).corpus
    assert (corpus.classes, dict(corpus.seeds)) == (("business", "sports"), {})


# X-Class

XCLASS = {
    "dataset.txt": "a goal\n\n  markets fell \n",
    "classes.txt": "sports\nbusiness\n",
    "labels.txt": "0\n0\n1\n",
}


def test_xclass_folder(put):
    dataset = load(put("mine", XCLASS))
    assert dataset.corpus.texts == ("a goal", "", "markets fell")
    assert dataset.corpus.classes == ("business", "sports")
    assert dataset.corpus.seeds == {"business": ("business",), "sports": ("sports",)}
    assert dataset.gold.labels == ("sports", "sports", "business")


def test_xclass_without_labels_and_with_seed_words_beside(put):
    files = {name: content for name, content in XCLASS.items() if name != "labels.txt"}
    dataset = load(put("mine", {**files, "seeds.json": SEEDS}))
    assert dataset.gold is None
    assert dataset.corpus.seeds["sports"] == ("goal", "game")
    assert load(put("mine", files), seeds={"sports": ["match"]}).corpus.seeds == {
        "sports": ("match",)
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels.txt": "0\n1\n"}, r"labels\.txt has 2 labels, .*dataset\.txt 3 lines"),
        (
            {"labels.txt": "0\n1\n2\n"},
            r"labels\.txt, line 3: found '2'; wanted a class index from 0 to 1",
        ),
        ({"labels.txt": "0\n-1\n1\n"}, r"labels\.txt, line 2: found '-1'"),
        ({"labels.txt": "0\n\n1\n"}, r"labels\.txt, line 2: blank"),
        ({"classes.txt": ""}, r"classes\.txt: nothing in it"),
        ({"classes.txt": "sports\nsports\n"}, "class names must differ"),
        (
            {"dataset.txt": b"fine\n\xe9t\xe9\n\n"},
            r"dataset\.txt, line 2: byte 0xe9 at position 0 .* not UTF-8",
        ),
    ],
)
def test_bad_xclass_folder(put, changes, message):
    with pytest.raises(LopsError, match=message):
        load(put("mine", {**XCLASS, **changes}))


def test_only_a_line_feed_ends_a_document_and_a_byte_order_mark_is_no_text(put):
    texts = "\ufeffone\u2028still one\r\ntwo\rstill two\x0c\x85x"
    corpus = load(put("mine", {"dataset.txt": texts, "classes.txt": "\ufeffa\r\nb"})).corpus
    assert corpus.texts == ("one\u2028still one", "two\rstill two\x0c\x85x")
    assert corpus.classes == ("a", "b")


# WeSTClass

WESTCLASS = {
    "dataset.csv": '1,"A ""goal""",today\n2,Markets,"fell,\nagain"\n',
    "classes.txt": "0:sports\n1:business\n",
    "keywords.txt": "0:goal,game\n1:markets,oil\n",
}


def test_westclass_folder(put):
    dataset = load(put("mine", WESTCLASS))
    assert dataset.corpus.texts == ('A "goal". today', "Markets. fell,\nagain")
    assert dataset.corpus.seeds == {"business": ("markets", "oil"), "sports": ("goal", "game")}
    assert dataset.gold.labels == ("sports", "business")


def test_westclass_with_one_text_column_no_labels_and_keywords_only(put):
    dataset = load(
        put("mine", {"dataset.csv": "0,one\n0,two\n", "keywords.txt": WESTCLASS["keywords.txt"]})
    )
    assert dataset.corpus.texts == ("one", "two")
    assert dataset.corpus.classes == ("goal", "markets")
    assert dataset.gold is None


def test_westclass_with_class_names_only_uses_them_as_seed_words(put):
    dataset = load(
        put("mine", {"dataset.csv": "1,one\n", "classes.txt": "0:sports\n1:trade,business\n"})
    )
    assert dataset.corpus.seeds == {"sports": ("sports",), "trade": ("trade", "business")}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"dataset.csv": "3,x,y\n"},
            r"dataset\.csv, line 1: class '3'; wanted a whole number from 1 to 2",
        ),
        ({"dataset.csv": "1,x,y\n0,x,y\n"}, "some classes are 0"),
        ({"dataset.csv": "1,x,y\n1,x\n"}, r"line 2: 2 fields"),
        ({"dataset.csv": "1\n"}, r"line 1: 1 fields"),
        ({"classes.txt": "1:sports\n2:business\n"}, r"classes\.txt, line 1: found '1:sports'"),
        ({"keywords.txt": "0:goal\n"}, "wanted one line per class in each"),
        ({"keywords.txt": "0:goal\n1:a:b\n"}, "line 2"),
        ({"keywords.txt": "0:goal,\n1:a\n"}, "line 1"),
        ({"classes.txt": "0:sports\n1:sports\n"}, "class names must differ"),
    ],
)
def test_bad_westclass_folder(put, changes, message):
    with pytest.raises(LopsError, match=message):
        load(put("mine", {**WESTCLASS, **changes}))


# LOTClass

LOTCLASS = {"train.txt": "a goal\nmarkets\n", "label_names.txt": "Sports Games\nbusiness\n"}


def test_lotclass_folder(put):
    dataset = load(put("mine", LOTCLASS))
    assert dataset.corpus.texts == ("a goal", "markets")
    assert dataset.corpus.seeds == {"business": ("business",), "sports": ("sports", "games")}
    assert dataset.gold is None
    assert load(put("mine", {**LOTCLASS, "train_labels.txt": "0\n1\n"})).gold.labels == (
        "sports",
        "business",
    )


def test_lotclass_takes_test_labels_only_where_the_test_set_is_the_training_set(put):
    labels = {"test_labels.txt": "1\n0\n"}
    same = load(put("same", {**LOTCLASS, **labels, "test.txt": LOTCLASS["train.txt"]}))
    other = load(put("other", {**LOTCLASS, **labels, "test.txt": "b goal\nmarkets\n"}))
    assert same.gold.labels == ("business", "sports")
    assert other.gold is None


def test_lotclass_word_of_two_classes(put):
    with pytest.raises(LopsError, match="business appears twice"):
        load(put("mine", {**LOTCLASS, "label_names.txt": "sports business\nBusiness\n"}))


# Recognition


def test_an_unknown_folder_says_what_it_holds_and_what_is_needed(put):
    folder = put("mine", {"notes.txt": "x", "more/x.txt": "x"})
    with pytest.raises(LopsError) as caught:
        load(folder)
    message = str(caught.value)
    for part in (
        "contains: more, notes.txt",
        "ConWea: df.pkl",
        "X-Class: dataset.txt, classes.txt",
        "WeSTClass",
        "LOTClass",
    ):
        assert part in message
    with pytest.raises(LopsError, match="neither an existing path"):
        load(folder / "nowhere")


def test_a_folder_with_two_layouts_or_two_tables_is_refused(put):
    with pytest.raises(LopsError, match="more than one layout: X-Class, LOTClass"):
        load(put("two", {**XCLASS, **LOTCLASS}))
    with pytest.raises(LopsError, match="exactly one CSV"):
        load(put("tables", {"a.csv": "text\nx\n", "b.csv": "text\nx\n"}))


def test_columns_cannot_be_named_where_there_are_none(put):
    texts = {"a.txt": "a", "b.txt": "b"}
    for name, files in {"x": XCLASS, "w": WESTCLASS, "l": LOTCLASS, "t": texts}.items():
        with pytest.raises(LopsError, match="no named columns, so text_column"):
            load(put(name, files), text_column="text")


def test_what_is_read_is_logged(put, caplog):
    caplog.set_level(logging.INFO, logger="lops_adapters.datasets")
    load(put("mine", XCLASS))
    assert "read as a folder of X-Class" in caplog.text


def test_a_pickle_that_is_no_frame(put):
    with pytest.raises(LopsError, match="not a pandas DataFrame"):
        load(put("mine", {"df.pkl": pickle.dumps({"text": ["x"]})}))
