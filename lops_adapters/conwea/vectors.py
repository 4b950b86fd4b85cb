"""Contextual vectors: one pass of the encoder over the corpus, into one memory-mapped array."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from lops_adapters.conwea.tokens import TokenizedCorpus
from lops_adapters.core import LopsError
from lops_adapters.probes import encoders
from lops_adapters.probes.torch_tools import autocast, import_torch, prediction_batches, resolve_device
from lops_adapters.storage import write_json

log = logging.getLogger(__name__)
_BLOCK = 4096  # sentences sorted by length together, and lost at most when a run is killed


@dataclass
class ContextEncoder:
    """A pretrained encoder that gives each token the vector of its first word piece, in the context of its sentence.

    Args:
        encoder: ``minilm``, a name on the Hugging Face hub, or a local folder.
        layers: the last so many layers are used (the original: 4).
        combine: ``mean`` of the layers, or ``concat`` (the original; as many times the disk).
        max_pieces: longer sentences are cut into windows of so many word pieces.
        batch_pieces: padded word pieces in one batch; default: 2,048 on a CPU, where more only misses its caches, 16,384 elsewhere.
        precision, device: as for the transformer probe.

    """

    encoder: str = encoders.MINILM
    layers: int = 4
    combine: str = "mean"
    max_pieces: int = 128
    batch_pieces: int | None = None
    precision: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        import_torch()
        from transformers import AutoModel

        config = encoders.load_config(self.encoder)
        limit = encoders.longest_input(config)
        if self.combine not in ("mean", "concat"):
            raise LopsError(f"combine is {self.combine!r}; wanted mean or concat")
        if not 1 <= self.layers <= config.num_hidden_layers:
            raise LopsError(f"layers is {self.layers}; {self.encoder} has {config.num_hidden_layers}")
        if self.max_pieces < 8 or (limit and self.max_pieces > limit):
            raise LopsError(f"max_pieces is {self.max_pieces}; {self.encoder} takes 8 to {limit or 'any number of'} word pieces")
        self._device = resolve_device(self.device)
        self._tokenizer = encoders.load_tokenizer(self.encoder, "right")
        try:
            with encoders.hushed():
                self._model: Any = AutoModel.from_pretrained(encoders.locate(self.encoder)).float().eval().to(self._device)
        except (OSError, ValueError) as error:
            raise LopsError(f"cannot load the weights of the encoder {self.encoder!r} ({str(error).strip().splitlines()[0]})") from None
        self.width = config.hidden_size * (self.layers if self.combine == "concat" else 1)

    @property
    def budget(self) -> int:
        """Padded word pieces in one batch."""
        return self.batch_pieces or (2048 if self._device.type == "cpu" else 16384)

    def pieces(self, surface: tuple[str, ...]) -> list[list[int]]:
        """Word-piece ids of every distinct token, without special tokens; a token the encoder has no piece for is its unknown token."""
        unknown = [self._tokenizer.unk_token_id if self._tokenizer.unk_token_id is not None else self._tokenizer.pad_token_id]
        texts = list(surface)
        if type(self._tokenizer).__name__.startswith(("Roberta", "GPT2")):
            texts = [" " + text for text in texts]  # byte-level vocabularies tell words by the space in front
        ids = self._tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else []
        return [row[: self.max_pieces - 2] or unknown for row in ids]

    def windows(self, corpus: TokenizedCorpus, lengths: np.ndarray) -> Iterator[tuple[int, int]]:
        """Token ranges, at most a sentence each, whose word pieces fit ``max_pieces``."""
        room = self.max_pieces - 2
        for begin, end in zip(corpus.sentence_start[:-1].tolist(), corpus.sentence_start[1:].tolist(), strict=True):
            total, first = 0, begin
            for token in range(begin, end):
                if total + lengths[token] > room:
                    yield first, token
                    total, first = 0, token
                total += int(lengths[token])
            yield first, end

    def encode(self, sequences: list[list[int]], first_pieces: list[list[int]]) -> list[np.ndarray]:
        """Vectors of the tokens that start at ``first_pieces`` of each sequence, float32 (tokens, width) each; padded to the longest."""
        torch = import_torch()
        start, end = self._special()
        rows = [start + sequence + end for sequence in sequences]
        batch = {k: v.to(self._device) for k, v in self._tokenizer.pad({"input_ids": rows}, return_tensors="pt").items()}
        with torch.inference_mode(), autocast(self._device, self.precision):
            hidden = self._model(**batch, output_hidden_states=True).hidden_states[-self.layers :]
        row = np.repeat(np.arange(len(rows)), [len(places) for places in first_pieces])
        column = np.concatenate([np.asarray(places, dtype=np.int64) for places in first_pieces]) + len(start)
        picked = [layer[row, column].float() for layer in hidden]
        vectors = torch.cat(picked, dim=-1) if self.combine == "concat" else torch.stack(picked).mean(dim=0)
        return np.split(vectors.cpu().numpy(), np.cumsum([len(places) for places in first_pieces])[:-1])

    def _special(self) -> tuple[list[int], list[int]]:
        tokenizer = self._tokenizer
        start = [tokenizer.cls_token_id] if tokenizer.cls_token_id is not None else []
        return start, [tokenizer.sep_token_id] if tokenizer.sep_token_id is not None else []


def contextual_vectors(
    corpus: TokenizedCorpus, wanted: np.ndarray, encoder: ContextEncoder, folder: Path, *, quiet: bool = True
) -> np.ndarray:
    """Encode the corpus once and return a memory-mapped (wanted tokens, width) float16 array of their vectors.

    Args:
        corpus: the tokens.
        wanted: sorted int64 positions of the tokens whose vectors are kept.
        encoder: the encoder.
        folder: holds ``vectors.npy`` and ``vectors.json`` (how far it got); a call on a folder of a killed run goes on from there.
        quiet: no progress bar.

    """
    pieces = encoder.pieces(corpus.surface)
    lengths = np.array([len(ids) for ids in pieces])[corpus.surface_id]
    spans = list(encoder.windows(corpus, lengths))
    path, progress = folder / "vectors.npy", folder / "vectors.json"
    shape = (len(wanted), encoder.width)
    done = json.loads(progress.read_text())["windows"] if progress.exists() and path.exists() else 0
    if done and np.load(path, mmap_mode="r").shape != shape:
        done = 0  # begun with another version of the tokeniser or the encoder
    store = np.lib.format.open_memmap(path, mode="r+" if done else "w+", dtype=np.float16, shape=shape)
    with tqdm(total=len(spans), initial=done, disable=quiet, unit="sentence", desc="contextual vectors", leave=False) as bar:
        for begin in range(done, len(spans), _BLOCK):
            block = spans[begin : begin + _BLOCK]
            _encode_block(corpus, block, wanted, pieces, lengths, encoder, store, bar)
            store.flush()
            write_json(progress, {"windows": begin + len(block)})
    return store


def _encode_block(
    corpus: TokenizedCorpus,
    block: list[tuple[int, int]],
    wanted: np.ndarray,
    pieces: list[list[int]],
    lengths: np.ndarray,
    encoder: ContextEncoder,
    store: np.ndarray,
    bar: Any,
) -> None:
    sizes = np.array([int(lengths[begin:end].sum()) + 2 for begin, end in block])
    for batch in prediction_batches(sizes, np.arange(len(block)), encoder.budget):
        sequences, places, rows = [], [], []
        for begin, end in (block[i] for i in batch):
            low, high = np.searchsorted(wanted, (begin, end))
            if low == high:
                continue  # nothing in this sentence is looked at
            offsets = np.concatenate([[0], np.cumsum(lengths[begin:end])[:-1]])
            sequences.append([piece for token in corpus.surface_id[begin:end] for piece in pieces[token]])
            places.append(offsets[wanted[low:high] - begin].tolist())
            rows.append(np.arange(low, high))
        if sequences:
            store[np.concatenate(rows)] = np.concatenate(encoder.encode(sequences, places))
        bar.update(len(batch))
