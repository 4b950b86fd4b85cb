"""Keeps the vectors of a corpus between runs: they do not depend on the class names."""

import hashlib
import json
import logging
import shutil
from pathlib import Path

import numpy as np

from lops_adapters import storage
from lops_adapters.encoders.context_encoder import ContextEncoder
from lops_adapters.encoders.kept_files import KeptFiles
from lops_adapters.xclass.vectors import contextual_vectors
from lops_adapters.xclass.words import WordCorpus

log = logging.getLogger(__name__)


def cached_vectors(
    words: WordCorpus,
    wanted: np.ndarray,
    encoder: ContextEncoder,
    folder: Path,
    cache: Path,
    *,
    quiet: bool = True,
) -> np.ndarray:
    """Return :func:`contextual_vectors`, from an earlier run on the same words and encoder if kept.

    They are of the tokens at (m,) int64 positions ``wanted``. While they are computed they are in
    ``folder``, from where a killed run resumes. ``cache`` is a folder of
    :class:`~lops_adapters.encoders.kept_files.KeptFiles`, in which ``xclass`` has a file per corpus
    and encoder. If it cannot be written, nothing is kept.
    """
    kept = cache / "xclass" / f"{_fingerprint(words, wanted, encoder)}.npy"
    files, shape = KeptFiles(cache), (len(wanted), encoder.width)

    def load(path: Path) -> np.ndarray:
        vectors: np.ndarray = np.load(path, mmap_mode="r")
        if vectors.shape != shape or vectors.dtype != np.float16:
            raise ValueError(f"found {vectors.dtype} {vectors.shape}, wanted float16 {shape}")
        return vectors

    vectors = files.read(kept, load)
    if vectors is not None:
        log.info("vectors of the words from %s", kept)
        return vectors
    vectors = contextual_vectors(words, wanted, encoder, folder, quiet=quiet)
    try:
        if files.make_room(vectors.nbytes):
            kept.parent.mkdir(exist_ok=True)
            _move(folder / "vectors.npy", kept)
            log.info("vectors of the words (%.1f GiB) kept in %s", vectors.nbytes / 2**30, kept)
    except OSError as error:
        log.warning("vectors of the words are not kept: %s", error)
    return vectors  # still mapped after the move


def _move(source: Path, kept: Path) -> None:
    try:
        source.replace(kept)
    except OSError:  # another file system
        with storage.replacing(kept) as temporary:
            shutil.copyfile(source, temporary)


def _fingerprint(words: WordCorpus, wanted: np.ndarray, encoder: ContextEncoder) -> str:
    digest = hashlib.sha256(encoder.fingerprint().encode())
    digest.update(json.dumps(words.vocabulary).encode())
    for numbers in (words.word_id, words.document_start, wanted):
        digest.update(np.ascontiguousarray(numbers, dtype=np.int64).tobytes())
    return digest.hexdigest()[:32]
