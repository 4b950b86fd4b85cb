import numpy as np
import pytest

from lops_adapters.conwea.classifier import (
    build_classifier,
    build_probe,
    epochs_of,
    reads_texts,
    word_vectors,
)
from lops_adapters.conwea.contextual import ContextualCorpus
from lops_adapters.core import LopsError
from lops_adapters.probes import probe_class

from ..framework_checks import assert_has
from .toys import documents, settings

CORPUS = ContextualCorpus(
    [[sentence.lower().split() for sentence in text.split(".")] for text in documents()[0]]
    + [[["once"]], []],
    {},
)


def test_word_vectors_are_reproducible_and_of_unit_length():
    long = ContextualCorpus(
        [*CORPUS.documents] * 30, {}
    )  # several pieces of work, which several workers would share
    one, again, other = (word_vectors(long, settings(vector_words=1), seed) for seed in (0, 0, 1))
    assert one.words == again.words
    assert (one.vectors == again.vectors).all()
    assert (one.vectors != other.vectors).any()
    assert one.vectors.dtype == np.float32
    assert one.vectors.shape == (len(one.words), 16)
    np.testing.assert_allclose(np.linalg.norm(one.vectors, axis=1), 1, atol=1e-5)


def test_words_that_occur_once_have_no_vector_unless_faithful():
    assert "once" not in word_vectors(CORPUS, settings(vector_words=1), 0).words
    faithful, again = (
        word_vectors(CORPUS, settings(vector_words=1, faithful=True), 0) for _ in range(2)
    )
    assert sorted(faithful.words) == CORPUS.vocabulary
    assert (faithful.vectors == again.vectors).all()
    row = faithful.vectors[faithful.words.index("once")]
    assert (np.abs(row) <= 0.25).all()
    assert row.std() > 0


def test_nothing_occurs_twice():
    with pytest.raises(LopsError, match="wanted words that occur at least twice"):
        word_vectors(ContextualCorpus([[["a", "b"]], [["c"]]], {}), settings(), 0)


def test_a_small_corpus_is_repeated(monkeypatch):
    from gensim.models import Word2Vec

    asked = []

    class Recorder(Word2Vec):
        def __init__(self, *args, **options):
            asked.append(options["epochs"])
            super().__init__(*args, **options)

    monkeypatch.setattr("gensim.models.Word2Vec", Recorder)
    n_words = sum(len(sentence) for document in CORPUS.documents for sentence in document)
    for vector_words in (1, 7 * n_words):
        word_vectors(CORPUS, settings(vector_words=vector_words), 0)
    assert asked == [5, 7]


@pytest.fixture(scope="module")
def vectors():
    return word_vectors(CORPUS, settings(vector_words=1), 0)


def test_probe_and_classifier_are_the_same_network_trained_otherwise(vectors):
    probe, classifier = (
        build_classifier(vectors, settings(), "cpu", probing=True),
        build_classifier(vectors, settings(), "cpu"),
    )
    assert (probe.validation, probe.epochs) == (0.0, settings().probe_epochs)
    assert_has(classifier, validation=0.1, epochs=settings().epochs, faithful=False)
    assert_has(
        probe,
        units=classifier.units,
        max_words=classifier.max_words,
        batch_size=classifier.batch_size,
    )


def test_patience_ends_the_training_after_a_floor_of_epochs(vectors):
    han = build_classifier(vectors, settings(min_epochs=6, patience=2, epochs=8), "cpu")
    assert (han.min_epochs, han.patience, han.epochs) == (6, 2, 8)


def test_faithful_reads_one_sentence_and_keeps_the_last_weights(vectors):
    han = build_classifier(vectors, settings(faithful=True), "cpu")
    assert han.faithful


@pytest.mark.parametrize(
    ("name", "kind"), [("same", "han"), ("linear", "linear"), ("transformer", "transformer")]
)
def test_kinds_of_probe(vectors, bert, name, kind):
    chosen = settings(probe=name, encoder=bert)
    probe = build_probe(vectors, chosen, "cpu", quiet=True)
    assert isinstance(probe, probe_class(kind))


@pytest.mark.parametrize("name", ["linear", "embedding", "hybrid"])
def test_kinds_of_fast_classifiers(vectors, bert, name):
    chosen = settings(classifier=name, encoder=bert, epochs=None, probe_epochs=None)
    classifier = build_classifier(vectors, chosen, "cpu")
    probe = build_probe(vectors, chosen, "cpu", quiet=True)
    assert isinstance(classifier, probe_class(name))
    assert type(probe) is type(classifier)
    assert (classifier.epochs, probe.epochs, classifier.batch_size) == (20, 4, 12)


def test_usual_epochs_of_the_han():
    chosen = settings(epochs=None, probe_epochs=None)
    assert [epochs_of(chosen, probing=probing) for probing in (False, True)] == [50, 10]


@pytest.mark.parametrize(
    ("probe", "classifier", "texts"),
    [
        ("transformer", "han", True),
        ("same", "han", False),
        ("linear", "han", False),
        ("same", "hybrid", True),
        ("linear", "hybrid", False),
    ],
)
def test_who_reads_texts(probe, classifier, texts):
    assert reads_texts(probe, settings(classifier=classifier)) is texts
