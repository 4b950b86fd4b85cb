"""Vectors of whole texts from a frozen encoder: every text is encoded once and kept on disk."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lops_adapters.console import progress
from lops_adapters.probes import encoders
from lops_adapters.probes.torch_tools import (
    autocast,
    has_bfloat16,
    import_torch,
    prediction_batches,
    resolve_device,
)
from lops_adapters.probes.vector_cache import VectorCache, text_keys

log = logging.getLogger(__name__)
_BLOCK = 2048  # texts between two writes, and the most that a killed run loses
_BATCH_TOKENS = {"cpu": 4096}  # padded tokens; more only misses a processor's caches
_GPU_TOKENS = 65536


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

    Raises:
        LopsError: missing libraries, an unknown encoder or device, a size out of range.

    """

    encoder: str = encoders.MINILM
    max_tokens: int = 128
    precision: str = "auto"
    device: str = "auto"
    cache: Path | None = None

    def __post_init__(self) -> None:
        import_torch()
        self._config = encoders.load_config(self.encoder)
        encoders.check_max_tokens(self.encoder, self._config, self.max_tokens)
        self._device = resolve_device(self.device)
        autocast(self._device, self.precision)  # raises now rather than after tokenising
        self.width = int(self._config.hidden_size)
        self._tokenizer: Any = None
        self._model: Any = None
        self._memory: dict[bytes, np.ndarray] = {}

    def encode(self, texts: Sequence[str], *, quiet: bool = True) -> np.ndarray:
        """Return the vectors of texts, (n, width) float32; equal texts have equal vectors.

        They are rounded to float16, as the cache holds them. In bfloat16 their last bits depend on
        the other texts of a batch.

        Args:
            texts: any strings.
            quiet: no progress bar.

        """
        keys = text_keys(texts)
        names = [bytes(key) for key in keys]
        new = {name: at for at, name in enumerate(names) if name not in self._memory}
        if new:
            at = np.array(sorted(new.values()))
            vectors = self._obtain([texts[i] for i in at], keys[at], quiet)
            self._memory.update(zip([names[i] for i in at], vectors, strict=True))
        rows = [self._memory[name] for name in names]
        return np.stack(rows).astype(np.float32) if rows else np.zeros((0, self.width), np.float32)

    def _obtain(self, texts: list[str], keys: np.ndarray, quiet: bool) -> np.ndarray:
        """Return the vectors of distinct texts, (n, width) float16, from the cache where kept."""
        if self._model is None:
            self._tokenizer = encoders.load_tokenizer(self.encoder, "right")
            self._model = encoders.load_encoder(self.encoder).float().eval().to(self._device)
        vectors = np.zeros((len(texts), self.width), dtype=np.float16)
        if self.cache is None:
            return self._encode(texts, keys, vectors, np.arange(len(texts)), None, quiet)
        kept = VectorCache(self.cache / self._fingerprint(), self.width)
        found = kept.read(keys, vectors)
        if found.any():
            log.info("vectors of %d of %d texts from %s", found.sum(), len(texts), self.cache)
        return self._encode(texts, keys, vectors, np.flatnonzero(~found), kept, quiet)

    def _fingerprint(self) -> str:
        """Return a hash of the weights and of what else decides a text's vector."""
        bfloat16 = self.precision == "bfloat16" or (
            self.precision == "auto" and has_bfloat16(self._device)
        )
        about = [self.max_tokens, bfloat16, self._device.type]
        digest = hashlib.sha256(repr(about).encode())
        digest.update(encoders.fingerprint(self._model, self._tokenizer).encode())
        return digest.hexdigest()[:32]

    def _encode(
        self,
        texts: list[str],
        keys: np.ndarray,
        vectors: np.ndarray,
        missing: np.ndarray,
        kept: VectorCache | None,
        quiet: bool,
    ) -> np.ndarray:
        """Fill the missing rows of ``vectors``, longest texts first, block by block."""
        if not len(missing):
            return vectors
        pad = [self._tokenizer.pad_token_id]
        wanted = [texts[i] for i in missing]
        found = self._tokenizer(wanted, truncation=True, max_length=self.max_tokens)["input_ids"]
        rows = [row or pad for row in found]  # GPT-2 adds no special tokens to an empty text
        lengths = np.array([len(row) for row in rows])
        order = np.argsort(-lengths, kind="stable")
        budget = _BATCH_TOKENS.get(self._device.type, _GPU_TOKENS)
        with progress(total=len(missing), quiet=quiet, unit="text", desc="encoding") as bar:
            for start in range(0, len(order), _BLOCK):
                block = order[start : start + _BLOCK]
                for batch in prediction_batches(lengths, block, budget):
                    vectors[missing[batch]] = self._pooled([rows[i] for i in batch])
                    bar.update(len(batch))
                if kept is not None:
                    kept.add(keys[missing[block]], vectors[missing[block]])
        return vectors

    def _pooled(self, rows: list[list[int]]) -> np.ndarray:
        torch = import_torch()
        padded = self._tokenizer.pad({"input_ids": rows}, return_tensors="pt")
        batch = {name: tensor.to(self._device) for name, tensor in padded.items()}
        with torch.inference_mode(), autocast(self._device, self.precision):
            hidden = self._model(**batch).last_hidden_state.float()
        mask = batch["attention_mask"].unsqueeze(-1).float()
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
        unit = torch.nn.functional.normalize(mean, dim=1)
        found: np.ndarray = unit.cpu().numpy().astype(np.float16)
        return found
