"""A pretrained encoder that gives words their vectors in context, without training."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.encoders import pretrained
from lops_adapters.encoders.torch_tools import (
    autocast,
    import_torch,
    prediction_batches,
    resolve_device,
)
from lops_adapters.storage import write_json

log = logging.getLogger(__name__)
_BLOCK = 4096  # windows that are sorted together, and the most that a killed run loses


class Window(NamedTuple):
    """Tokens that go through the encoder together.

    Attributes:
        context: first token of the context before the window.
        begin, end: the window's own tokens, end exclusive.
    """

    context: int
    begin: int
    end: int


@dataclass
class ContextEncoder:
    """A pretrained encoder that gives words their vectors in context.

    Args:
        encoder: ``minilm``, a name on the Hugging Face hub, or a local folder.
        layers: number of last layers to use (the original: 4).
        combine: ``mean`` of the layers, or ``concat`` (the original; takes ``layers`` times the
            disk space).
        max_pieces: word pieces per window; longer sentences are cut into windows.
        precision, device: as for the transformer probe.
    """

    encoder: str = pretrained.MINILM
    layers: int = 4
    combine: str = "mean"
    max_pieces: int = 128
    precision: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        import_torch()
        config = pretrained.load_config(self.encoder)
        if self.combine not in ("mean", "concat"):
            raise LopsError(f"combine is {self.combine!r}; wanted mean or concat")
        if not 1 <= self.layers <= config.num_hidden_layers:
            raise LopsError(
                f"layers is {self.layers}; {self.encoder} has {config.num_hidden_layers}"
            )
        pretrained.check_length("max_pieces", self.max_pieces, self.encoder, config, least=8)
        self._device = resolve_device(self.device)
        self._tokenizer = pretrained.load_tokenizer(self.encoder, "right")
        self._model = pretrained.load_encoder(self.encoder).eval().to(self._device)
        self.width = config.hidden_size * (self.layers if self.combine == "concat" else 1)

    @property
    def budget(self) -> int:
        """Padded word pieces per batch."""
        return 2048 if self._device.type == "cpu" else 16384  # more misses a processor's caches

    def fingerprint(self) -> str:
        """Return a hash of the weights and of what else decides the vectors of given words."""
        settings = [self.layers, self.combine, self.max_pieces, self.precision, self._device.type]
        return pretrained.fingerprint(self._model, self._tokenizer, settings)

    def pieces(self, surface: tuple[str, ...]) -> list[list[int]]:
        """Return word-piece ids of every distinct token, without special tokens.

        A token without word pieces becomes the encoder's unknown token.
        """
        tokenizer = self._tokenizer
        unknown = tokenizer.unk_token_id
        if unknown is None:
            unknown = tokenizer.pad_token_id
        texts = list(surface)
        # Byte-level vocabularies mark the start of a word by a leading space.
        if type(tokenizer).__name__.startswith(("Roberta", "GPT2")):
            texts = [" " + text for text in texts]
        ids = tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else []
        return [row[: self.max_pieces - 2] or [unknown] for row in ids]

    def encode(
        self, sequences: list[list[int]], spans: list[list[tuple[int, int]]]
    ) -> list[np.ndarray]:
        """Return the mean vector of each span of word pieces, float32 (spans, width) per sequence.

        Sequences are padded to the longest.

        Args:
            sequences: word-piece ids without special tokens.
            spans: for each sequence, begin and end (exclusive) of each wanted word.
        """
        torch = import_torch()
        start, end = self._special()
        rows = [start + sequence + end for sequence in sequences]
        batch = pretrained.padded(self._tokenizer, rows, self._device)
        with torch.inference_mode(), autocast(self._device, self.precision):
            hidden = self._model(**batch, output_hidden_states=True).hidden_states[-self.layers :]
        row, column, word = _pieces_of(spans, len(start))
        picked = [layer[row, column].float() for layer in hidden]
        if self.combine == "concat":
            pieces = torch.cat(picked, dim=-1)
        else:
            pieces = torch.stack(picked).mean(dim=0)
        counts = np.bincount(word)
        vectors = pieces.cpu().numpy()
        if len(counts) and counts.max() > 1:
            sums = np.add.reduceat(vectors, np.cumsum(counts) - counts)
            vectors = sums / counts[:, None].astype(np.float32)
        return np.split(vectors, np.cumsum([len(row_spans) for row_spans in spans])[:-1])

    def _special(self) -> tuple[list[int], list[int]]:
        tokenizer = self._tokenizer
        start = [tokenizer.cls_token_id] if tokenizer.cls_token_id is not None else []
        return start, [tokenizer.sep_token_id] if tokenizer.sep_token_id is not None else []


def _pieces_of(
    spans: list[list[tuple[int, int]]], offset: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, column and word number of every piece in the spans, in order.

    ``offset`` is the number of special tokens before each sequence.
    """
    ranges = [(row, begin, end) for row, row_spans in enumerate(spans) for begin, end in row_spans]
    places = np.array(ranges, dtype=np.int64).reshape(-1, 3)
    lengths = places[:, 2] - places[:, 1]
    word = np.repeat(np.arange(len(places)), lengths)
    within = np.arange(len(word)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return places[word, 0], places[word, 1] + within + offset, word


def encode_windows(
    windows: Sequence[Window],
    surface_id: np.ndarray,
    pieces: Sequence[list[int]],
    wanted: np.ndarray,
    encoder: ContextEncoder,
    folder: Path,
    *,
    first_piece_only: bool = False,
    quiet: bool = True,
) -> np.ndarray:
    """Encode a corpus once, in batches by length.

    Args:
        windows: cover every token once, in order; each fits the encoder.
        surface_id: (tokens,) int, the number of each token's word.
        pieces: word pieces of every word.
        wanted: sorted int64 positions of the tokens whose vectors are kept.
        encoder: the encoder.
        folder: holds ``vectors.npy`` and ``vectors.json`` (the progress). A call with the folder of
            a killed run resumes it.
        first_piece_only: use the vector of a word's first piece instead of the mean of all.
        quiet: show no progress bar.

    Returns:
        Memory-mapped (wanted tokens, width) float16 vectors.
    """
    path, state = folder / "vectors.npy", folder / "vectors.json"
    shape = (len(wanted), encoder.width)
    done = _encoded(path, state, shape)
    mode = "r+" if done else "w+"
    store = np.lib.format.open_memmap(path, mode=mode, dtype=np.float16, shape=shape)
    lengths = np.array([len(ids) for ids in pieces], dtype=np.int64)[surface_id]
    with progress(
        total=len(windows), initial=done, quiet=quiet, unit="window", desc="contextual vectors"
    ) as bar:
        for begin in range(done, len(windows), _BLOCK):
            block = windows[begin : begin + _BLOCK]
            spans = [lengths[window.context : window.end] for window in block]
            sizes = np.array([int(span.sum()) + 2 for span in spans])
            for batch in prediction_batches(sizes, np.arange(len(block)), encoder.budget):
                _encode_batch(
                    [block[i] for i in batch],
                    surface_id,
                    pieces,
                    lengths,
                    wanted,
                    encoder,
                    store,
                    first_piece_only,
                )
                bar.update(len(batch))
            store.flush()
            write_json(state, {"windows": begin + len(block)})
    return store


def _encoded(path: Path, state: Path, shape: tuple[int, int]) -> int:
    """Return the windows that a killed run has encoded.

    They are 0 if its files are missing, damaged, or of another tokeniser or encoder.
    """
    try:
        done = int(json.loads(state.read_text(encoding="utf-8"))["windows"])
        return done if np.load(path, mmap_mode="r").shape == shape else 0
    except FileNotFoundError:
        return 0
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        log.warning("%s or %s is damaged (%s); encoding again", path, state.name, error)
        return 0


def _encode_batch(
    windows: Sequence[Window],
    surface_id: np.ndarray,
    pieces: Sequence[list[int]],
    lengths: np.ndarray,
    wanted: np.ndarray,
    encoder: ContextEncoder,
    store: np.ndarray,
    first_piece_only: bool,
) -> None:
    sequences, spans, rows = [], [], []
    for context, begin, end in windows:
        low, high = np.searchsorted(wanted, (begin, end))
        if low == high:
            continue  # no wanted token in this window
        ends = np.cumsum(lengths[context:end])
        sequences.append([piece for word in surface_id[context:end] for piece in pieces[word]])
        places = wanted[low:high] - context
        starts = ends[places] - lengths[wanted[low:high]]
        stops = starts + 1 if first_piece_only else ends[places]
        spans.append(list(zip(starts.tolist(), stops.tolist(), strict=True)))
        rows.append(np.arange(low, high))
    if sequences:
        store[np.concatenate(rows)] = np.concatenate(encoder.encode(sequences, spans))
