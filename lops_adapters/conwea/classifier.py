"""ConWea's classifier, Word2Vec on the contextualised corpus and a HAN, and its probes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lops_adapters.conwea.contextual import ContextualCorpus
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.probes import Probe, text_probe
from lops_adapters.probes.han import HanProbe, WordVectors
from lops_adapters.probes.word_vectors import train_word_vectors, with_random_vectors


def word_vectors(corpus: ContextualCorpus, settings: ConweaSettings, seed: int) -> WordVectors:
    """Train Word2Vec on the words of the contextualised corpus that occur at least twice.

    Under ``faithful``, words without a vector get a random one; otherwise the HAN skips them.

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
    probing: bool = False,
    quiet: bool = True,
) -> HanProbe:
    """Return the untrained HAN, as the classifier or as a probe.

    Args:
        vectors: Word2Vec on the contextualised corpus.
        settings: of the run.
        device: torch device.
        probing: a probe, which trains on all samples for all its epochs. The classifier holds
            samples out and stops early.
        quiet: no progress bar.

    """
    return HanProbe(
        vectors=vectors,
        epochs=settings.probe_epochs if probing else settings.epochs,
        batch_size=settings.batch_size,
        max_sentences=1 if settings.faithful else settings.max_sentences,
        max_words=settings.max_words,
        validation=0.0 if probing else settings.validation,
        stratified=not settings.faithful,
        patience=settings.patience,
        min_epochs=settings.min_epochs or 0,
        restore_best=not settings.faithful,
        last_words_only=settings.faithful,
        device=device,
        quiet=quiet,
    )


def build_probe(
    vectors: WordVectors, settings: ConweaSettings, device: str, *, quiet: bool
) -> Probe:
    """Return the probe of the settings."""
    if settings.probe != "same":
        return text_probe(
            settings.probe,
            encoder=settings.encoder,
            max_tokens=settings.max_pieces,
            device=device,
            quiet=quiet,
        )
    return build_han(vectors, settings, device, probing=True, quiet=quiet)


def probe_updates(settings: ConweaSettings, n_samples: int) -> int:
    """Return the most updates that the probe of :func:`build_probe` makes on n samples."""
    if settings.probe == "linear":
        from lops_adapters.probes.linear import LinearProbe

        epochs, batch_size = LinearProbe.epochs, LinearProbe.batch_size
    elif settings.probe == "transformer":
        from lops_adapters.probes.encoders import recipe_for

        recipe = recipe_for(settings.encoder)
        epochs, batch_size = recipe.epochs, recipe.batch_size
    else:
        epochs, batch_size = settings.probe_epochs, settings.batch_size
    return epochs * -(-n_samples // batch_size)


def samples_for(probe: str, texts: Sequence[str], documents: Sequence[Any]) -> Sequence[Any]:
    """Return the samples of a probe: contextualised documents, or texts for ``transformer``.

    Selection methods that judge texts ask for ``texts``.
    """
    return texts if probe in ("transformer", "texts") else documents
