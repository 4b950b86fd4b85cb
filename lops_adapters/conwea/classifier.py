"""ConWea's classifier: Word2Vec on the contextualised corpus and a HAN on top; and the probes a selector may watch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lops_adapters.conwea.contextual import ContextualCorpus
from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.core import LopsError
from lops_adapters.probes.base import Probe
from lops_adapters.probes.han import HanProbe, WordVectors


def word_vectors(corpus: ContextualCorpus, settings: ConweaSettings, seed: int) -> WordVectors:
    """Train skip-gram Word2Vec (window 5, at least 2 occurrences) with one worker, so that it is reproducible; unit length.

    Under ``faithful``, words without a vector get a random one; otherwise the HAN leaves them out.

    Raises:
        LopsError: gensim is not installed, or no word occurs twice.

    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise LopsError("ConWea needs gensim, which is not installed; run: pip install 'lops_adapters[conwea]'") from None
    texts = [[word for sentence in document for word in sentence] for document in corpus.documents]
    n_words = max(1, sum(map(len, texts)))
    try:
        model = Word2Vec(
            texts,
            vector_size=settings.vector_size,
            window=5,
            min_count=2,
            sample=1e-3,
            sg=1,
            epochs=max(settings.vector_epochs, round(settings.vector_words / n_words)),
            workers=1,
            seed=seed % 2**32,
        )
    except RuntimeError as error:
        raise LopsError(f"cannot train word vectors on {len(corpus)} documents ({error}); wanted words that occur at least twice") from None
    words = sorted(model.wv.index_to_key)
    vectors = np.stack([model.wv[word] for word in words]).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    if settings.faithful:
        known = set(words)
        rare = [word for word in corpus.vocabulary if word not in known]
        random = np.random.default_rng(seed).uniform(-0.25, 0.25, (len(rare), settings.vector_size)).astype(np.float32)
        words, vectors = words + rare, np.concatenate([vectors, random])
    return WordVectors(tuple(words), vectors)


def build_han(vectors: WordVectors, settings: ConweaSettings, device: str, *, n_samples: int | None = None, quiet: bool = True) -> HanProbe:
    """Return the HAN: a classifier for ``n_samples``, which holds some out and stops early; or, without them, a probe, which does not."""
    probing = n_samples is None
    epochs = settings.probe_epochs
    if n_samples is not None:
        per_epoch = -(-n_samples // settings.batch_size)
        epochs = min(settings.epochs, -(-settings.max_updates // per_epoch)) if settings.max_updates else settings.epochs
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


def build_probe(vectors: WordVectors, settings: ConweaSettings, device: str, *, quiet: bool) -> Probe:
    """Return the probe that the settings ask for."""
    if settings.probe == "linear":
        from lops_adapters.probes.linear import LinearProbe

        return LinearProbe(quiet=quiet)
    if settings.probe == "transformer":
        from lops_adapters.probes.transformer import TransformerProbe

        return TransformerProbe(encoder=settings.encoder, max_tokens=settings.max_pieces, device=device, quiet=quiet)
    return build_han(vectors, settings, device, quiet=quiet)


def probe_updates(settings: ConweaSettings, n_samples: int) -> int:
    """Return how many updates the probe of :func:`build_probe` makes at most on so many samples."""
    if settings.probe == "linear":
        from lops_adapters.probes.linear import LinearProbe

        epochs, batch_size = LinearProbe.epochs, LinearProbe.batch_size
    elif settings.probe == "transformer":
        from lops_adapters.probes.encoders import recipe_for

        epochs, batch_size = recipe_for(settings.encoder).epochs, recipe_for(settings.encoder).batch_size
    else:
        epochs, batch_size = settings.probe_epochs, settings.batch_size
    return epochs * -(-n_samples // batch_size)


def samples_for(probe: str, texts: Sequence[str], documents: Sequence[Any]) -> Sequence[Any]:
    """Return what a probe reads: the original texts for a pretrained transformer, the contextualised documents for the others."""
    return texts if probe == "transformer" else documents
