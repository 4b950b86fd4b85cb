"""ConWea's classifier: Word2Vec on the contextualised corpus and a HAN on top; and the probes a
selector may watch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lops_adapters.conwea.contextual import ContextualCorpus
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.probes import Probe, text_probe
from lops_adapters.probes.han import HanProbe, WordVectors
from lops_adapters.probes.word_vectors import train_word_vectors, with_random_vectors


def word_vectors(corpus: ContextualCorpus, settings: ConweaSettings, seed: int) -> WordVectors:
    """Train Word2Vec on the contextualised corpus, on words that occur twice.

    Under ``faithful``, words without a vector get a random one; otherwise the HAN leaves them out.

    Raises:
        LopsError: gensim is not installed, or no word occurs twice.

    """
    texts = [[word for sentence in document for word in sentence] for document in corpus.documents]
    vectors = train_word_vectors(
        texts,
        size=settings.vector_size,
        min_count=2,
        epochs=settings.vector_epochs,
        at_least=settings.vector_words,
        seed=seed,
    )
    return with_random_vectors(vectors, corpus.vocabulary, seed) if settings.faithful else vectors


def build_han(
    vectors: WordVectors,
    settings: ConweaSettings,
    device: str,
    *,
    n_samples: int | None = None,
    quiet: bool = True,
) -> HanProbe:
    """Return the HAN: a classifier for ``n_samples``, which holds some out and stops early; or,
    without them, a probe, which does not.
    """
    probing = n_samples is None
    epochs = settings.probe_epochs
    if n_samples is not None:
        per_epoch = -(-n_samples // settings.batch_size)
        epochs = (
            min(settings.epochs, -(-settings.max_updates // per_epoch))
            if settings.max_updates
            else settings.epochs
        )
    return HanProbe(
        vectors=vectors,
        epochs=epochs,
        batch_size=settings.batch_size,
        max_sentences=1 if settings.faithful else settings.max_sentences,
        max_words=settings.max_words,
        validation=0.0 if probing else settings.validation,
        patience=settings.patience,
        restore_best=not settings.faithful,
        last_words_only=settings.faithful,
        device=device,
        quiet=quiet,
    )


def build_probe(
    vectors: WordVectors, settings: ConweaSettings, device: str, *, quiet: bool
) -> Probe:
    """Return the probe that the settings ask for."""
    if settings.probe != "same":
        return text_probe(
            settings.probe,
            encoder=settings.encoder,
            max_tokens=settings.max_pieces,
            device=device,
            quiet=quiet,
        )
    return build_han(vectors, settings, device, quiet=quiet)


def probe_updates(settings: ConweaSettings, n_samples: int) -> int:
    """Return how many updates the probe of :func:`build_probe` makes at most on so many samples."""
    if settings.probe == "linear":
        from lops_adapters.probes.linear import LinearProbe

        epochs, batch_size = LinearProbe.epochs, LinearProbe.batch_size
    elif settings.probe == "transformer":
        from lops_adapters.probes.encoders import recipe_for

        epochs, batch_size = (
            recipe_for(settings.encoder).epochs,
            recipe_for(settings.encoder).batch_size,
        )
    else:
        epochs, batch_size = settings.probe_epochs, settings.batch_size
    return epochs * -(-n_samples // batch_size)


def samples_for(probe: str, texts: Sequence[str], documents: Sequence[Any]) -> Sequence[Any]:
    """Return what a probe reads: the original texts for a pretrained transformer, the
    contextualised documents for the others.
    """
    return texts if probe == "transformer" else documents
