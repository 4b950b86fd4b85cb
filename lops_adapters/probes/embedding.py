"""The embedding probe: a softmax on vectors of a frozen encoder, or on given vectors.

Every text is encoded once; then trainings cost milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lops_adapters.core import LopsError
from lops_adapters.encoders.static import STATIC, static_vectors
from lops_adapters.encoders.word_counts import WordCounts, joined
from lops_adapters.probes.regression import Batch, Regression
from lops_adapters.storage import user_cache

AUTO = "auto"


@dataclass
class EmbeddingProbe(Regression):
    """Multinomial logistic regression on frozen vectors, trained by Adagrad on cross-entropy.

    Vectors are centred and scaled as a whole by what they are trained on, so that the learning rate
    suits any encoder.

    Args:
        encoder: ``static`` (a table of word pieces that ships with the package, no torch),
            ``minilm`` (a package, works offline), a name on the Hugging Face hub, or a local
            folder; not loaded if samples are vectors.
        epochs: passes over the training samples, at least 1.
        batch_size: samples per update.
        learning_rate: of Adagrad.
        max_tokens, precision, device: of a transformer, see
            :class:`lops_adapters.encoders.text_vectors.TextEncoder`.
        cache: folder for its vectors of texts; ``auto``: the user's cache; None: memory only.

    Samples are strings, tokens, or sentences of tokens, joined by spaces; or the rows of an (n,
    width) array of numbers, such as precomputed vectors.
    """

    kind: ClassVar[str] = "embedding"
    encoder: str = STATIC
    epochs: int = 4
    batch_size: int = 32
    learning_rate: float = 0.01
    max_tokens: int = 128
    precision: str = "auto"
    device: str = "auto"
    cache: str | None = AUTO

    def __post_init__(self) -> None:
        super().__post_init__()
        self._texts: Any = None  # the encoder, with what it has encoded so far
        self._centre = np.zeros(0, dtype=np.float32)
        self._scale = 1.0

    def vectors(self, samples: Any) -> np.ndarray:
        """Return the vectors of samples, (n, width) float32.

        The encoder ``static`` also takes the counts of the texts' words.

        Raises:
            LopsError: vectors with NaN, infinity or no width, and what the encoder raises.
        """
        if isinstance(samples, WordCounts):
            return static_vectors(samples)
        matrix = given_vectors(samples)
        if matrix is not None:
            return matrix
        if self.encoder == STATIC:
            return static_vectors(samples)
        from lops_adapters.encoders.text_vectors import TextEncoder

        texts = [joined(sample) for sample in samples]
        if self._texts is None:
            cache = user_cache() / "vectors" if self.cache == AUTO else Path(self.cache or "")
            self._texts = TextEncoder(
                self.encoder,
                self.max_tokens,
                self.precision,
                self.device,
                cache if self.cache else None,
            )
        vectors: np.ndarray = self._texts.encode(texts, quiet=self.quiet)
        return vectors

    read = vectors  # which are also samples

    def prepare(self, samples: Any, *, fit: bool = False) -> np.ndarray:
        """Return centred and scaled vectors, (n, width) float32.

        Raises:
            LopsError: vectors of another width than in the training, and what
                :meth:`vectors` raises.
        """
        if not len(samples) and len(self._centre):  # nothing says whether texts or vectors
            return np.zeros((0, len(self._centre)), dtype=np.float32)
        vectors = self.vectors(samples)
        if fit:
            self._centre = vectors.mean(axis=0)
            spread = float(np.sqrt(((vectors - self._centre) ** 2).sum(axis=1).mean()))
            self._scale = float(np.sqrt(vectors.shape[1])) / 4 / max(spread, 1e-6)
        elif not len(self._centre):
            raise self._untrained()
        elif vectors.shape[1] != len(self._centre):
            raise LopsError(
                f"found vectors of {vectors.shape[1]} numbers; the probe was trained on vectors of "
                f"{len(self._centre)}: use the same encoder"
            )
        return (vectors - self._centre) * np.float32(self._scale)

    def _batches(
        self, prepared: np.ndarray, rng: np.random.Generator, size: int
    ) -> Iterator[Batch]:
        order = rng.permutation(len(prepared))
        for start in range(0, len(order), size):
            positions = order[start : start + size]
            yield Batch(positions, None, prepared[positions])

    def save(self, folder: Path) -> None:
        """Write ``embedding.npz`` (weights) and ``embedding.json`` (settings).

        The encoder is not copied; it is named.
        """
        if not len(self._bias):
            raise self._untrained()
        stored = json.dumps(self.settings())
        (folder / "embedding.json").write_text(stored, encoding="utf-8")
        np.savez(
            folder / "embedding.npz",
            weights=self._weights,
            bias=self._bias,
            centre=self._centre,
            scale=np.float64(self._scale),
        )

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> EmbeddingProbe:
        settings = json.loads((folder / "embedding.json").read_text(encoding="utf-8"))
        probe = cls(**{**settings, "device": device})
        with (folder / "embedding.npz").open("rb") as file, np.load(file) as arrays:
            probe._weights, probe._bias = arrays["weights"], arrays["bias"]
            probe._centre, probe._scale = arrays["centre"], float(arrays["scale"])
        return probe


def given_vectors(samples: Any) -> np.ndarray | None:
    """Return samples that are vectors as (n, width) float32; None if they are something else.

    A float32 matrix is returned itself, not a copy.

    Raises:
        LopsError: vectors of several lengths, without numbers, or with NaN or infinity; vectors
            mixed with something else.

    >>> given_vectors(np.eye(2)).dtype, given_vectors(["a text"])
    (dtype('float32'), None)
    """
    if isinstance(samples, np.ndarray) and samples.ndim == 2:
        vectors = samples
    elif len(samples) and isinstance(samples[0], np.ndarray) and samples[0].ndim == 1:
        vectors = _stacked(samples)
    else:
        return None
    if vectors.dtype.kind not in "fiu":
        return None
    if not vectors.shape[1]:
        raise LopsError("found vectors of 0 numbers; wanted at least 1")
    with np.errstate(over="ignore"):  # becomes infinity
        vectors = vectors.astype(np.float32, copy=False)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise LopsError(
            f"{len(bad)} of {len(vectors)} vectors hold NaN or infinity, the first at position "
            f"{bad[0]}; leave these rows out, or encode them again"
        )
    return vectors


def _stacked(rows: Sequence[Any]) -> np.ndarray:
    for position, row in enumerate(rows):
        if not isinstance(row, np.ndarray) or row.ndim != 1:
            raise LopsError(
                f"the sample at position {position} is {type(row).__name__} and the first is a "
                "vector; wanted vectors only"
            )
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise LopsError(f"found vectors of {min(sizes)} to {max(sizes)} numbers; wanted one length")
    return np.stack(list(rows))
