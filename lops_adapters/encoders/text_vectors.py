"""Vectors of whole texts from a frozen encoder: every text is encoded once and kept on disk."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.torch_tools import (
    autocast,
    import_torch,
    prediction_batches,
    resolve_device,
    uses_bfloat16,
)
from lops_adapters.encoders.vector_cache import VectorCache, text_keys

log = logging.getLogger(__name__)
_BLOCK = 2048  # texts between two writes, and the most that a killed run loses
_FEW = 32  # fewer new texts are encoded sooner than looked up, and would each be a file
_BATCH_TOKENS = {"cpu": 4096}  # padded tokens; more only misses a processor's caches
_GPU_TOKENS = 65536
_MOST = 2_000_000  # texts whose vectors are kept in memory


@dataclass
class TextEncoder:
    """A frozen encoder: the mean of a text's last hidden states, scaled to unit length.

    This is how sentence encoders such as MiniLM are trained to be read.

    Args:
        encoder: ``minilm`` (packaged, works offline), a name on the Hugging Face hub, or a local
            folder.
        max_tokens: longer texts are cut.
        precision: ``auto`` (bfloat16 if the hardware has it), ``bfloat16`` or ``float32``.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:N``, ``mps``.
        cache: folder for the vectors of all encoders; None: they are kept in memory only.

    Under ``accelerate launch``, every process encodes on its own card. LopsError: missing
    libraries, an unknown encoder or device, a size out of range.
    """

    encoder: str = pretrained.MINILM
    max_tokens: int = 128
    precision: str = "auto"
    device: str = "auto"
    cache: Path | None = None

    def __post_init__(self) -> None:
        import_torch()
        self._config = pretrained.load_config(self.encoder)
        pretrained.check_length("max_tokens", self.max_tokens, self.encoder, self._config)
        self._device = resolve_device(_own_card(self.device))
        autocast(self._device, self.precision)  # raises now rather than after tokenising
        self.width = int(self._config.hidden_size)
        self._tokenizer: Any = None
        self._model: Any = None
        self._kept: VectorCache | None = None
        self._memory: dict[bytes, np.ndarray] = {}

    def encode(self, texts: Sequence[str], *, quiet: bool = True) -> np.ndarray:
        """Return the vectors of texts, (n, width) float32; equal texts have equal vectors.

        They are rounded to float16, as the cache holds them. In bfloat16 their last bits depend on
        the other texts of a batch. LopsError: the encoder cannot be loaded, or computes NaN.

        Args:
            texts: any strings.
            quiet: no progress bar.
        """
        keys = text_keys(texts)
        names = keys.tolist()
        new = {name: at for at, name in enumerate(names) if name not in self._memory}
        if len(self._memory) + len(new) > _MOST:
            self._memory.clear()
            new = {name: at for at, name in enumerate(names)}
        if new:
            at = np.array(sorted(new.values()))
            vectors = self._obtain([texts[i] for i in at], keys[at], quiet)
            self._memory.update(zip([names[i] for i in at], vectors, strict=True))
        rows = [self._memory[name] for name in names]
        return np.stack(rows).astype(np.float32) if rows else np.zeros((0, self.width), np.float32)

    def _obtain(self, texts: list[str], keys: np.ndarray, quiet: bool) -> np.ndarray:
        """Return the vectors of distinct texts, (n, width) float16, from the cache where kept.

        The others are computed, longest texts first, and kept block by block.
        """
        self._load()
        vectors, kept = np.zeros((len(texts), self.width), dtype=np.float16), None
        missing = np.arange(len(texts))
        if self.cache is not None and len(texts) >= _FEW:
            if self._kept is None:
                self._kept = VectorCache(self.cache / self.fingerprint(), self.width)
            kept = self._kept
            known = kept.read(keys, vectors)
            missing = np.flatnonzero(~known)
            if known.any():
                log.info("vectors of %d of %d texts from %s", known.sum(), len(texts), self.cache)
        if not len(missing):
            return vectors
        tokens = self._tokens([texts[i] for i in missing])
        lengths = np.array([len(row) for row in tokens])
        order = np.argsort(-lengths, kind="stable")
        budget = _BATCH_TOKENS.get(self._device.type, _GPU_TOKENS)
        if kept is not None:
            log.info("encoding %d texts, once: vectors are kept in %s", len(missing), self.cache)
        with progress(total=len(missing), quiet=quiet, unit="text", desc="encoding") as bar:
            for start in range(0, len(order), _BLOCK):
                block = order[start : start + _BLOCK]
                for batch in prediction_batches(lengths, block, budget):
                    vectors[missing[batch]] = self._pooled([tokens[i] for i in batch])
                if kept is not None:
                    kept.add(keys[missing[block]], vectors[missing[block]])
                bar.update(len(block))
        return vectors

    def _load(self) -> None:
        if self._model is None:
            self._tokenizer = pretrained.load_tokenizer(self.encoder, "right")
            self._model = pretrained.load_encoder(self.encoder).eval().to(self._device)

    def fingerprint(self) -> str:
        """Return a hash of the weights and of what else decides a vector; loads the encoder."""
        self._load()
        bfloat16 = uses_bfloat16(self._device, self.precision)
        settings = [self.max_tokens, bfloat16, self._device.type]
        return pretrained.fingerprint(self._model, self._tokenizer, settings)[:32]

    def _tokens(self, texts: list[str]) -> list[np.ndarray]:
        """Return the word pieces of texts, int32: lists of numbers take nine times the memory."""
        # Tokenizers refuse lone surrogates.
        readable = [one.encode("utf-8", "replace").decode() for one in texts]
        ids = pretrained.token_ids(self._tokenizer, readable, self.max_tokens)
        return [np.array(row, dtype=np.int32) for row in ids]

    def _pooled(self, rows: list[np.ndarray]) -> np.ndarray:
        torch = import_torch()
        batch = pretrained.padded(self._tokenizer, [row.tolist() for row in rows], self._device)
        with torch.inference_mode(), autocast(self._device, self.precision):
            hidden = self._model(**batch).last_hidden_state.float()
        mask = batch["attention_mask"].unsqueeze(-1).float()
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
        unit = torch.nn.functional.normalize(mean, dim=1)
        vectors: np.ndarray = unit.cpu().numpy().astype(np.float16)
        if not np.isfinite(vectors).all():
            raise LopsError(
                f"the encoder {self.encoder!r} computes NaN; wanted finite vectors: its weights "
                "are damaged, or it needs precision float32"
            )
        return vectors


def _own_card(device: str) -> str:
    """Return the card of this process if several processes share a machine's cards."""
    cards = import_torch().cuda.device_count()
    if device not in ("auto", "cuda") or cards < 2 or int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return device
    return f"cuda:{int(os.environ.get('LOCAL_RANK', '0')) % cards}"
