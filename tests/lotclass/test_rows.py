"""What identifies the classes: their names or seed words."""

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus
from lops_adapters.lotclass.rows import class_words, supervisions

CLASSES = ("law", "sport")
SEEDS = {"law": ("judge", "jury"), "sport": ("match",)}
NAMES = {"law": ("court",), "sport": ("game", "match")}


def corpus(seeds, names=NAMES):
    return Corpus("toy", ("a",), ("text",), CLASSES, seeds, names)


def test_words_of_classes():
    assert class_words("names", corpus({}, {})) == {"law": ("law",), "sport": ("sport",)}
    assert class_words("names", corpus(SEEDS)) == NAMES
    assert class_words("keywords", corpus(SEEDS)) == SEEDS
    words = r"no seed words for sport; write seeds\.json.*, or give --supervision names"
    with pytest.raises(LopsError, match=words):
        class_words("keywords", corpus({"law": ("judge",)}))


def test_what_auto_tries():
    assert supervisions("auto", corpus(SEEDS)) == ("names", "keywords")
    assert supervisions("auto", corpus({"law": ("judge",)})) == ("names",)
    assert supervisions("names", corpus(SEEDS)) == ("names",)
    assert supervisions("keywords", corpus(SEEDS)) == ("keywords",)
