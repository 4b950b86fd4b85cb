import numpy as np
import pytest

from lops_adapters.conwea.classifier import build_classifier, reads_texts, word_vectors
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


@pytest.mark.parametrize(
    ("name", "kind"), [("same", "han"), ("linear", "linear"), ("transformer", "transformer")]
)
def test_kinds_of_probe(vectors, bert, name, kind):
    chosen = settings(probe=name, encoder=bert)
    probe = build_classifier(vectors, chosen, "cpu", probing=True)
    assert isinstance(probe, probe_class(kind))


@pytest.mark.parametrize("name", ["linear", "embedding", "hybrid"])
def test_kinds_of_fast_classifiers(vectors, bert, name):
    chosen = settings(classifier=name, encoder=bert, epochs=None, probe_epochs=None)
    classifier = build_classifier(vectors, chosen, "cpu")
    probe = build_classifier(vectors, chosen, "cpu", probing=True)
    assert isinstance(classifier, probe_class(name))
    assert type(probe) is type(classifier)
    assert (classifier.epochs, probe.epochs, classifier.batch_size) == (20, 4, 12)


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
