import pickle

import pytest

from lops_adapters.core import LopsError
from lops_adapters.datasets import Corpus, Dataset, GoldLabels


def make(**changes):
    parts = {
        "name": "small",
        "ids": ["a", "b", "c"],
        "texts": ["one", "", "drei"],
        "classes": ["sports", "arts"],
        "seeds": {"sports": ["goal"], "arts": ["film", "song"]},
    }
    return Corpus(**{**parts, **changes})


def test_classes_are_alphabetical_and_seeds_follow_them():
    corpus = make()
    assert corpus.classes == ("arts", "sports")
    assert list(corpus.seeds.items()) == [("arts", ("film", "song")), ("sports", ("goal",))]
    assert len(corpus) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ids": ["a", "b", "a"]}, r"document ids must differ.*: a;"),
        ({"ids": ["a", "b"]}, "2 ids for 3 texts"),
        ({"texts": ["one", None, "drei"]}, r"number 1 \(from 0\) is missing \(None\)"),
        ({"texts": ["one", float("nan"), "drei"]}, r"number 1 \(from 0\) is missing \(nan\)"),
        ({"texts": ["one", "two", 3]}, "is 3, a int"),
        ({"texts": ["one", "two", "\ud800"]}, "number 2 .* not valid Unicode"),
        ({"texts": "one"}, "found one str"),
        ({"texts": [], "ids": []}, "holds no document"),
        ({"classes": ["arts", "sports", "arts"]}, "class names must differ"),
        (
            {"seeds": {"sport": ["goal"]}},
            r"seed words for sport, which the classes do not contain \(arts, sports\)",
        ),
        ({"seeds": {"sports": "goal"}}, "found one str"),
        ({"seeds": {"sports": [" "]}}, "empty seed word for sports"),
        ({"seeds": {"sports": [1]}}, "is 1, a int"),
        ({"names": {"arts": []}}, "no name for arts; give one, or leave the class out"),
        ({"names": {"arts": [" "]}}, "an empty name for arts; remove it"),
        ({"names": {"sport": ["games"]}}, "names for sport, which the classes do not contain"),
    ],
)
def test_bad_corpus_is_refused(changes, message):
    with pytest.raises(LopsError, match=message):
        make(**changes)


def test_gold_labels_are_checked_against_the_corpus():
    assert Dataset(make(), GoldLabels(["arts", "arts", "sports"])).gold.labels == (
        "arts",
        "arts",
        "sports",
    )
    with pytest.raises(
        LopsError, match=r"gold labels poetry are not among the classes \(arts, sports\)"
    ):
        Dataset(make(), GoldLabels(["arts", "poetry", "sports"]))
    with pytest.raises(LopsError, match="2 gold labels for 3 documents"):
        Dataset(make(), GoldLabels(["arts", "sports"]))
    with pytest.raises(LopsError, match=r"gold labels: number 1 .* missing"):
        GoldLabels(["arts", None])


def test_gold_labels_do_not_live_in_the_corpus():
    dataset = Dataset(make(), GoldLabels(["arts", "arts", "sports"]))
    permuted = Dataset(make(), GoldLabels(["sports", "arts", "arts"]))
    assert dataset.corpus.checksum == permuted.corpus.checksum
    assert not any("gold" in name or "label" in name for name in vars(dataset.corpus))


def test_checksum_sees_every_part_and_where_a_text_ends():
    changes = [
        {"name": "other"},
        {"ids": ["a", "b", "d"]},
        {"texts": ["one", "d", "rei"]},
        {"classes": ["arts", "sports", "poetry"]},
        {"seeds": {"sports": ["goal"], "arts": ["song", "film"]}},
        {"seeds": {"sports": ["goal"]}},
    ]
    checksums = {make().checksum, *(make(**change).checksum for change in changes)}
    assert len(checksums) == len(changes) + 1
    assert make().checksum == make(classes=["arts", "sports"]).checksum
    assert len(make().checksum) == 64


def test_corpus_cannot_be_changed_but_can_be_pickled():
    corpus = make()
    with pytest.raises(AttributeError):
        corpus.name = "x"
    with pytest.raises(TypeError):
        corpus.seeds["arts"] = ("x",)
    again = pickle.loads(pickle.dumps(corpus))
    assert again == corpus
    assert again.checksum == corpus.checksum


def numbered(n):
    ids = [str(i) for i in range(n)]
    corpus = Corpus("numbers", ids, [f"text {i}" for i in ids], ["even", "odd"], {"odd": ["one"]})
    return Dataset(corpus, GoldLabels(["odd" if i % 2 else "even" for i in range(n)]))


def test_sample_keeps_order_and_alignment():
    dataset = numbered(100)
    sample = dataset.sample(30, seed=1)
    kept = [int(i) for i in sample.corpus.ids]
    assert len(sample) == 30
    assert kept == sorted(set(kept))
    assert sample.corpus.texts == tuple(f"text {i}" for i in kept)
    assert sample.gold.labels == tuple("odd" if i % 2 else "even" for i in kept)
    assert sample.corpus.seeds == dataset.corpus.seeds


def test_sample_depends_on_the_seed_only():
    dataset = numbered(100)
    assert dataset.sample(30, seed=1) == dataset.sample(30, seed=1)
    assert dataset.sample(30, seed=1).corpus.ids != dataset.sample(30, seed=2).corpus.ids
    assert dataset.sample(100, seed=1) is dataset
    assert dataset.sample(101, seed=1) is dataset
    assert Dataset(dataset.corpus).sample(3, seed=0).gold is None
    with pytest.raises(LopsError, match="max_docs is 0"):
        dataset.sample(0, seed=1)
