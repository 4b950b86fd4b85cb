"""ConWea's classifiers, a HAN on Word2Vec of the senses or one that reads texts, and its probes."""

from lops_adapters.conwea.contextual import ContextualCorpus
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.encoders.word_vectors import train_word_vectors, with_random_vectors
from lops_adapters.encoders.words import WordVectors
from lops_adapters.probes import FAST, Probe
from lops_adapters.probes.han import HanProbe
from lops_adapters.runs import classifiers

_VALIDATION = 0.1  # share of training documents that the HAN holds out for early stopping


def word_vectors(corpus: ContextualCorpus, settings: ConweaSettings, seed: int) -> WordVectors:
    """Train Word2Vec on the words of the contextualised corpus that occur at least twice.

    Under ``faithful``, words without a vector get a random one; otherwise the HAN skips them.
    """
    texts = [[word for sentence in document for word in sentence] for document in corpus.documents]
    vectors = train_word_vectors(
        texts,
        size=settings.vector_size,
        min_count=2,
        epochs=5,
        at_least=settings.vector_words,
        seed=seed,
    )
    return with_random_vectors(vectors, corpus.vocabulary, seed) if settings.faithful else vectors


def build_classifier(
    vectors: WordVectors | None,
    settings: ConweaSettings,
    device: str,
    *,
    probing: bool = False,
    quiet: bool = True,
) -> Probe:
    """Return the untrained classifier, or ``probing``, the probe of the settings.

    A probe trains on all samples for all its epochs; as the classifier, a HAN holds samples out and
    stops early. Only a HAN reads ``vectors``, Word2Vec on the contextualised corpus.
    """
    if settings.classifier != "han" or (probing and settings.probe != "same"):
        return classifiers.build_classifier(settings, device, probing=probing, quiet=quiet)
    return HanProbe(
        vectors=vectors,
        epochs=settings.recipe(probing)["epochs"],
        batch_size=settings.batch_size,
        max_sentences=settings.max_sentences,
        max_words=settings.max_words,
        validation=0.0 if probing else _VALIDATION,
        patience=settings.patience,
        min_epochs=settings.min_epochs or 0,
        faithful=settings.faithful,
        device=device,
        quiet=quiet,
    )


def reads_texts(probe: str, settings: ConweaSettings) -> bool:
    """Return whether a probe reads texts; the others read contextualised documents.

    ``same`` is a copy of the classifier.
    """
    return probe == "transformer" or (probe == "same" and settings.classifier in FAST)
