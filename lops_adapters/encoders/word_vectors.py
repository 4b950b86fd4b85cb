"""Word2Vec on a corpus: reproducible, and cached by corpus and settings."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from lops_adapters import extras, storage
from lops_adapters.core import LopsError
from lops_adapters.encoders.words import WordVectors
from lops_adapters.storage import pack_strings, unpack_strings

log = logging.getLogger(__name__)
_LONGEST = 10_000  # words; gensim ignores the rest of a longer text


def train_word_vectors(
    texts: Sequence[Sequence[str]],
    *,
    size: int,
    min_count: int,
    epochs: int,
    at_least: int,
    seed: int,
    cache: Path | None = None,
) -> WordVectors:
    """Train skip-gram Word2Vec of unit length (window 5, five negative samples).

    It uses one worker, so that the result is reproducible.

    Args:
        texts: tokens of n documents.
        size: width of the vectors.
        min_count: rarer words get no vector.
        epochs: passes over the corpus.
        at_least: repeat a small corpus, beyond ``epochs``, until about this many words are seen.
        seed: of initial vectors and of all random draws.
        cache: folder to find and keep vectors in, under a hash of texts and settings; None: no
            cache. If it cannot be read or written, the vectors are trained.

    Returns:
        Words in alphabetical order and their vectors. LopsError: gensim is not installed, or no
        word occurs ``min_count`` times.
    """
    word2vec = extras.load("gensim.models", "Word2Vec").Word2Vec
    n_words = max(1, sum(map(len, texts)))
    options = {
        "vector_size": size,
        "window": 5,
        "min_count": min_count,
        "sample": 1e-3,
        "sg": 1,
        "negative": 5,
        "epochs": max(epochs, round(at_least / n_words)),
        "workers": 1,
        "seed": seed % 2**32,
    }
    kept = None if cache is None else cache / f"{_fingerprint(texts, options)}.npz"
    cached = None if kept is None else _read(kept, size)
    if cached is not None:
        return cached
    pieces = [
        text[begin : begin + _LONGEST] for text in texts for begin in range(0, len(text), _LONGEST)
    ]
    try:
        model = word2vec(pieces, **options)
    except RuntimeError as error:
        often = "twice" if min_count == 2 else f"{min_count} times"
        raise LopsError(
            f"cannot train word vectors on {len(texts)} documents ({error}); "
            f"wanted words that occur at least {often}"
        ) from None
    words = sorted(model.wv.index_to_key)
    vectors = np.stack([model.wv[word] for word in words]).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    if kept is not None:
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            storage.restore(kept)
            storage.write_arrays(kept, words=pack_strings(words), vectors=vectors)
        except OSError as error:
            log.warning("word vectors are not cached: %s", error)
    return WordVectors(tuple(words), vectors)


def _read(kept: Path, size: int) -> WordVectors | None:
    try:
        with np.load(kept) as stored:
            cached = WordVectors(tuple(unpack_strings(stored["words"])), stored["vectors"])
        if cached.vectors.shape[1] != size:
            raise ValueError(f"width {cached.vectors.shape[1]}")
    except FileNotFoundError:
        return None
    except Exception as error:  # a damaged file can make numpy and zipfile raise nearly anything
        log.warning("word vectors in %s cannot be read (%s); training them again", kept, error)
        return None
    log.info("word vectors from %s", kept)
    return cached


def with_random_vectors(vectors: WordVectors, vocabulary: Iterable[str], seed: int) -> WordVectors:
    """Add random vectors for the words of the vocabulary that have none.

    They are uniform in (-0.25, 0.25), as in the original programs.
    """
    known = set(vectors.words)
    rare = [word for word in vocabulary if word not in known]
    shape = (len(rare), vectors.vectors.shape[1])
    random = np.random.default_rng(seed).uniform(-0.25, 0.25, shape).astype(np.float32)
    return WordVectors((*vectors.words, *rare), np.concatenate([vectors.vectors, random]))


def _fingerprint(texts: Sequence[Sequence[str]], options: Mapping[str, object]) -> str:
    digest = hashlib.sha256(repr([version("gensim"), sorted(options.items())]).encode())
    for text in texts:
        digest.update(json.dumps(list(text)).encode() + b"\n")
    return digest.hexdigest()[:32]
