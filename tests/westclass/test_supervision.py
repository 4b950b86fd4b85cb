"""What identifies the classes: options and data decide between names, seed words, documents."""

from argparse import Namespace
from pathlib import Path

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset, GoldLabels
from lops_adapters.westclass.settings import WestclassSettings
from lops_adapters.westclass.supervision import supervised

from .toys import CLASSES, SEEDS, documents

TEXTS, LABELS = documents(60)
NONE = {"labelled_file": None, "labelled_per_class": None, "supervision": None}


def dataset(seeds=SEEDS, labels=LABELS):
    corpus = Corpus("toy", [f"d{i}" for i in range(60)], TEXTS, CLASSES, seeds)
    return Dataset(corpus, labels and GoldLabels(labels))


def settled(data, seed=0, **options):
    given = Namespace(dataset="toy", **{**NONE, **options})
    return supervised(WestclassSettings(), given, data, seed)


def test_seed_words_before_names():
    assert settled(dataset()).supervision == "keywords"
    assert settled(dataset({})).supervision == "names"
    assert settled(dataset(), supervision="names").supervision == "names"


def test_labelled_documents_drawn_from_gold_labels():
    drawn, again, other = (
        settled(dataset(), seed, labelled_per_class=3).labelled for seed in (0, 0, 1)
    )
    assert drawn == again != other
    assert [label for _, label in drawn] == [label for label in CLASSES for _ in range(3)]
    assert all(LABELS[int(name[1:])] == label for name, label in drawn)
    assert len({name for name, _ in drawn}) == 9
    assert len(settled(dataset(), labelled_per_class=10).labelled) == 30


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        ({}, {"labelled_per_class": 0}, "-per-class is 0; wanted 1 to 10, half of the documents"),
        ({}, {"labelled_per_class": 11}, "-per-class is 11; wanted 1 to 10, half of the documents"),
        ({"labels": None}, {"labelled_per_class": 2}, "has none; give --labelled CSV"),
        ({}, {"labelled_per_class": 1, "labelled_file": Path("some.csv")}, "wanted one of them"),
        ({}, {"supervision": "documents"}, "documents needs labelled documents; give --labelled"),
        ({}, {"supervision": "names", "labelled_per_class": 1}, "and --supervision names; wanted"),
        ({"seeds": {}}, {"supervision": "keywords"}, "no seed words; write seeds.json.*or give --"),
    ],
)
def test_what_is_refused(data, options, words):
    with pytest.raises(LopsError, match=words):
        settled(dataset(**data), **options)
