"""Contextual vectors: one pass of the encoder over the corpus, one sentence per window."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lops_adapters.conwea.settings import ConweaSettings
from lops_adapters.conwea.tokens import TokenizedCorpus
from lops_adapters.encoders.context_encoder import ContextEncoder, Window, encode_windows


def build_encoder(settings: ConweaSettings, device: str) -> ContextEncoder:
    """Return the encoder of the settings."""
    return ContextEncoder(
        settings.encoder,
        layers=settings.layers,
        combine=settings.combine,
        max_pieces=settings.max_pieces,
        device=device,
    )


def windows(corpus: TokenizedCorpus, lengths: np.ndarray, max_pieces: int) -> Iterator[Window]:
    """Yield windows of at most a sentence whose word pieces fit ``max_pieces``."""
    room = max_pieces - 2
    for begin, end in zip(
        corpus.sentence_start[:-1].tolist(), corpus.sentence_start[1:].tolist(), strict=True
    ):
        total, first = 0, begin
        for token in range(begin, end):
            if total + lengths[token] > room:
                yield Window(first, first, token)
                total, first = 0, token
            total += int(lengths[token])
        yield Window(first, first, end)


def contextual_vectors(
    corpus: TokenizedCorpus,
    positions: np.ndarray,
    encoder: ContextEncoder,
    folder: Path,
    *,
    quiet: bool = True,
) -> np.ndarray:
    """Encode the corpus once and return the vectors of tokens at (m,) sorted ``positions``.

    A token has the vector of its first word piece. Memory-mapped in ``folder``, (m, width)
    float16; see :func:`lops_adapters.encoders.context_encoder.encode_windows`.
    """
    pieces = encoder.pieces(corpus.surface)
    lengths = np.array([len(ids) for ids in pieces])[corpus.surface_id]
    spans = list(windows(corpus, lengths, encoder.max_pieces))
    return encode_windows(
        spans,
        corpus.surface_id,
        pieces,
        positions,
        encoder,
        folder,
        first_piece_only=True,
        quiet=quiet,
    )
