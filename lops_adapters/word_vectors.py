"""Word2Vec on a corpus, reproducible, and kept so that the same corpus is not trained on twice."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from lops_adapters import storage
from lops_adapters.core import LopsError
from lops_adapters.probes.han import WordVectors
from lops_adapters.runs import pack_strings, unpack_strings

log = logging.getLogger(__name__)


def train_word_vectors(
    texts: Sequence[Sequence[str]], *, size: int, min_count: int, epochs: int, at_least: int, seed: int, cache: Path | None = None
) -> WordVectors:
    """Train skip-gram Word2Vec (window 5, five negative samples) with one worker, so that it is reproducible; unit length.

    Args:
        texts: tokens of n documents.
        size: width of the vectors.
        min_count: rarer words get no vector.
        epochs: passes over the corpus.
        at_least: a small corpus is repeated, beyond ``epochs``, until about so many words are seen.
        seed: of initial vectors and of everything drawn.
        cache: folder where vectors are kept under a hash of texts and settings, and looked for first; None: neither.

    Returns:
        Words in alphabetical order and their vectors.

    Raises:
        LopsError: gensim is not installed, or no word occurs ``min_count`` times.

    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise LopsError("this needs gensim, which is not installed; run: pip install 'lops_adapters[gensim]'") from None
    n_words = max(1, sum(map(len, texts)))
    options = {"vector_size": size, "window": 5, "min_count": min_count, "sample": 1e-3, "sg": 1, "negative": 5}
    options |= {"epochs": max(epochs, round(at_least / n_words)), "workers": 1, "seed": seed % 2**32}
    kept = None if cache is None else cache / f"{_fingerprint(texts, options)}.npz"
    if kept is not None and kept.is_file():
        log.info("word vectors from %s", kept)
        with np.load(kept) as stored:
            return WordVectors(tuple(unpack_strings(stored["words"])), stored["vectors"])
    try:
        model = Word2Vec(texts, **options)
    except RuntimeError as error:
        often = "twice" if min_count == 2 else f"{min_count} times"
        raise LopsError(
            f"cannot train word vectors on {len(texts)} documents ({error}); wanted words that occur at least {often}"
        ) from None
    words = sorted(model.wv.index_to_key)
    vectors = np.stack([model.wv[word] for word in words]).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        storage.write_arrays(kept, words=pack_strings(words), vectors=vectors)
    return WordVectors(tuple(words), vectors)


def with_random_vectors(vectors: WordVectors, vocabulary: Iterable[str], seed: int) -> WordVectors:
    """Give words of the vocabulary that have no vector a random one, uniform in (-0.25, 0.25), as the original programs do."""
    known = set(vectors.words)
    rare = [word for word in vocabulary if word not in known]
    random = np.random.default_rng(seed).uniform(-0.25, 0.25, (len(rare), vectors.vectors.shape[1])).astype(np.float32)
    return WordVectors((*vectors.words, *rare), np.concatenate([vectors.vectors, random]))


def _fingerprint(texts: Sequence[Sequence[str]], options: Mapping[str, object]) -> str:
    digest = hashlib.sha256(repr([version("gensim"), sorted(options.items())]).encode())
    for text in texts:
        digest.update(f"{len(text)} {' '.join(text)}\n".encode())  # no token holds a space
    return digest.hexdigest()[:32]
