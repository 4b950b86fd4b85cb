"""Encoding the texts of parts in actors: one per card, or per processor."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.probes.embedding import EmbeddingProbe
from lops_adapters.scale import vectors
from lops_adapters.scale.parts import Placed
from lops_adapters.tables.classes import Classes
from lops_adapters.tables.rows import Wanted
from lops_adapters.tables.survey import text_of

_IN_MEMORY = 200_000  # vectors per actor


@dataclass(frozen=True)
class Encoding:
    """By what texts are encoded, and where their vectors are kept.

    Attributes:
        probe: names the encoder and its settings.
        folder: of this encoder; all machines see it.
        fingerprint: of the encoder, see :meth:`~.text_vectors.TextEncoder.fingerprint`.
        width: numbers per vector.

    """

    probe: EmbeddingProbe
    folder: Path
    fingerprint: str
    width: int

    def stored(self, source: vectors.Source | None = None) -> vectors.Stored:
        """Return an encoder for the committee that takes its vectors from ``source``."""
        return vectors.Stored(self.probe.encoder, source=source)


class Encoded(NamedTuple):
    """The vectors of a part.

    Attributes:
        number: of the part.
        path: of their file.
        is_new: whether it was encoded now; else the file was there.
        sampled: (m, width) float16, of the part's rows in the sample.

    """

    number: int
    path: str
    is_new: bool
    sampled: np.ndarray


def text_encoder(probe: EmbeddingProbe) -> Any:
    """Return the encoder that a probe names, without a cache of its own."""
    from lops_adapters.encoders.text_vectors import TextEncoder

    return TextEncoder(
        probe.encoder, probe.max_tokens, probe.precision, probe.device, most=_IN_MEMORY
    )


def described(probe: EmbeddingProbe) -> tuple[str, int]:
    """Return the fingerprint of an encoder and the width of its vectors.

    Raises:
        LopsError: it cannot be loaded.

    """
    encoder = text_encoder(probe)
    return encoder.fingerprint(), encoder.width


class Encoder:
    """An actor: it loads the encoder when the first text has to be encoded.

    Args:
        encoding: see there.
        wanted: the columns.
        classes: of the whole table.
        opened: from the part of a :class:`~lops_adapters.scale.parts.Placed` to its rows.

    """

    def __init__(
        self, encoding: Encoding, wanted: Wanted, classes: Classes, opened: Callable[[Placed], Any]
    ) -> None:
        self._encoding, self._wanted, self._classes = encoding, wanted, classes
        self._opened = opened
        self._encoder: Any = None

    def part(self, placed: Placed, sampled: np.ndarray) -> Encoded:
        """Encode a part if its file is not there.

        Args:
            placed: the part.
            sampled: (m,) ascending positions in the table of its rows in the sample.

        Raises:
            LopsError: what reading, encoding and writing raise.

        """
        part, rows = self._opened(placed), list[int]()

        def texts() -> Iterator[str]:
            rows.clear()
            for at, text in self._rows(part):
                rows.append(at)
                yield text

        path, is_new = self._kept(texts)
        places = np.searchsorted(np.array(rows, dtype=np.int64), sampled - placed.start)
        found = vectors.picked(path, places, self._encoding.width)
        return Encoded(placed.number, str(path), is_new, found)

    def few(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts, (n, width) float16, kept as those of a part are."""
        path, _ = self._kept(lambda: texts)
        return vectors.picked(path, np.arange(len(texts)), self._encoding.width)

    def _kept(self, texts: Callable[[], Iterable[str]]) -> tuple[Path, bool]:
        """Return the file of texts, and whether they had to be encoded."""
        width = self._encoding.width
        name, count = vectors.name_of(texts())
        path = self._encoding.folder / name
        is_new = not vectors.is_whole(path, count, width)
        if is_new:
            vectors.write(path, texts(), self.texts, width)
        return path, is_new

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts, (n, width) float32."""
        if self._encoder is None:
            encoder = text_encoder(self._encoding.probe)
            if encoder.fingerprint() != self._encoding.fingerprint:
                raise LopsError(
                    f"the encoder {self._encoding.probe.encoder!r} on {socket.gethostname()} is "
                    "not the one that was found first; wanted the same weights, versions of torch "
                    "and transformers, and kind of device on all machines"
                )
            self._encoder = encoder
        found: np.ndarray = self._encoder.encode(texts)
        return found

    def _rows(self, part: Any) -> Iterator[tuple[int, str]]:
        """Yield place and text of the rows that have a class."""
        wanted, named = self._wanted, self._classes.name_of
        cells = part.cells([str(wanted.text), str(wanted.label)])
        for at, (path, number, (text, label)) in enumerate(cells):
            if label in named:
                yield at, text_of(text, f"{path}, {part.unit} {number}")
