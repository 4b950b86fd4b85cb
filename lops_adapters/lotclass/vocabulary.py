"""Category vocabularies, and the positions in documents that speak of a class, from what a masked
language model would put there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from lops_adapters.core import LopsError
from lops_adapters.lotclass.documents import Documents, phrase
from lops_adapters.lotclass.engine import Engine
from lops_adapters.lotclass.masked_lm import head, padded
from lops_adapters.probes.torch_tools import import_torch, prediction_batches
from lops_adapters.pseudo_labels.stopwords import ENGLISH_STOP_WORDS

_BLOCK = 4096  # documents whose results are put together at a time
_BEGINS = (
    "\u0120",
    "\u2581",
)  # what byte-level and SentencePiece vocabularies mark the first piece of a word with
_LOGITS = 2048  # positions whose logits over the vocabulary are in memory at a time


@dataclass(frozen=True)
class Indicative:
    """Category-indicative positions, by row; a row is a document and one class it speaks of.

    Attributes:
        documents: (m,) int64 document of each row, ascending; a document that speaks of two classes
            has two rows.
        codes: (m,) int64 class of each row, ascending within a document.
        starts: (m + 1,) int64, where each row's places begin.
        places: int64 positions within the document.

    """

    documents: np.ndarray
    codes: np.ndarray
    starts: np.ndarray
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.documents)

    def of(self, row: int) -> np.ndarray:
        """Positions of one row."""
        return self.places[self.starts[row] : self.starts[row + 1]]


class Predictor:
    """What a masked language model predicts at single positions: the head works on these alone, in
    pieces that fit memory.
    """

    def __init__(
        self, model: Any, tokenizer: Any, engine: Engine, *, top: int, tokens: int, quiet: bool
    ) -> None:
        self.model = model.to(engine.device).eval()
        self.tokenizer, self.engine, self.top, self.tokens, self.quiet = (
            tokenizer,
            engine,
            top,
            tokens,
            quiet,
        )

    def best(
        self,
        rows: Sequence[np.ndarray],
        places: Sequence[np.ndarray],
        lookup: Any = None,
        classes: int = 0,
    ) -> list[np.ndarray]:
        """Return for each row the ``top`` token ids at its places, (places, top) int32; or how many
        of them are each class's, (places, classes) uint8.

        Args:
            rows: token ids.
            places: for each row the positions wanted.
            lookup: (V,) int64 tensor, each token's class code or ``classes`` for none; default:
                return tokens.
            classes: k.

        """
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        found: list[np.ndarray] = [np.zeros((0, 0))] * len(rows)
        torch = import_torch()
        batches = [
            batch
            for start in range(0, len(rows), _BLOCK)
            for batch in prediction_batches(
                lengths, np.arange(start, min(start + _BLOCK, len(rows))), self.tokens
            )
        ]
        part: list[tuple[np.ndarray, list[np.ndarray]]] = []
        with torch.inference_mode(), self.engine.computing():
            for _, batch in tqdm(
                list(self.engine.own(batches)),
                disable=self.quiet,
                unit="batch",
                desc="masked predictions",
                leave=False,
            ):
                part.append(
                    (
                        batch,
                        self._batch(
                            [rows[i] for i in batch], [places[i] for i in batch], lookup, classes
                        ),
                    )
                )
        for batch, results in self.engine.gather(part):
            for row, result in zip(batch, results, strict=True):
                found[row] = result
        return found

    def _batch(
        self, rows: list[np.ndarray], places: list[np.ndarray], lookup: Any, classes: int
    ) -> list[np.ndarray]:
        torch = import_torch()
        ids, mask = padded(rows, self.tokenizer.pad_token_id, self.engine.device)
        hidden = self.model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
        sizes = [len(wanted) for wanted in places]
        picked = hidden[np.repeat(np.arange(len(rows)), sizes), np.concatenate(places)]
        results = []
        for piece in picked.split(_LOGITS):
            tokens = head(self.model)(piece).topk(self.top, dim=-1).indices
            if lookup is not None:
                counts = torch.zeros(
                    (len(tokens), classes + 1), dtype=torch.int32, device=tokens.device
                )
                tokens = counts.scatter_add_(
                    1, lookup[tokens], torch.ones_like(tokens, dtype=torch.int32)
                )[:, :classes]
            results.append(tokens.cpu().numpy().astype(np.int32 if lookup is None else np.uint8))
        return np.split(np.concatenate(results), np.cumsum(sizes)[:-1])


def category_vocabulary(
    documents: Documents, names: Mapping[str, Sequence[str]], predictor: Predictor, *, size: int
) -> list[np.ndarray]:
    """Return for each class the token ids of its vocabulary, most frequent first; no token is in
    two.

    Each token is counted at every occurrence of a class name where the model has it among its best.
    The most frequent of each class are kept; of these what is no word of letters, a single letter,
    a stop word, or among the most frequent of another class is taken out unless it is a name of the
    class itself. Equal counts go to the lower token id. (LOTClass, section 3.1)

    Args:
        documents: of the corpus.
        names: for each class its alternative names.
        predictor: predictions.
        size: the most frequent so many, before any is taken out.

    """
    tokenizer, occurrences = predictor.tokenizer, documents.occurrences
    order = np.split(
        np.arange(len(occurrences.where)), np.flatnonzero(np.diff(occurrences.where)) + 1
    )
    found = np.concatenate(
        predictor.best(occurrences.rows, [occurrences.places[group] for group in order])
    )
    frequent = []
    for code in range(len(names)):
        counts = np.bincount(found[occurrences.codes == code].ravel(), minlength=len(tokenizer))[
            : len(tokenizer)
        ]  # no spare rows
        ranked = np.argsort(-counts, kind="stable")[:size]
        frequent.append(ranked[counts[ranked] > 0])
    shared = np.bincount(np.concatenate(frequent), minlength=len(tokenizer)) > 1
    vocabularies = []
    for own, tokens in zip(names.values(), frequent, strict=True):
        surfaces = words_of(tokens, tokenizer)
        named = _name_words(own)
        kept = [
            surface in named
            or (
                surface.isalpha()
                and len(surface) > 1
                and surface not in ENGLISH_STOP_WORDS
                and not shared[token]
            )
            for surface, token in zip(surfaces, tokens, strict=True)
        ]
        vocabularies.append(tokens[np.array(kept, dtype=bool)])
    return _disjoint(vocabularies)


def _name_words(names: Sequence[str]) -> set[str]:
    """Return the words that are names, or parts of names that tell something: no stop words or
    single letters.
    """
    phrases = [phrase(name) for name in names]
    return {
        word
        for words in phrases
        for word in words
        if len(words) == 1 or (len(word) > 1 and word not in ENGLISH_STOP_WORDS)
    }


def words_of(tokens: np.ndarray, tokenizer: Any) -> list[str]:
    """Return tokens as words, lower-case; what only continues a word keeps a mark that no word has."""
    pieces = tokenizer.convert_ids_to_tokens(tokens.tolist())
    mark = tokenizer.tokenize(" a")[0][0]
    if mark not in _BEGINS:  # WordPiece marks what continues a word
        return [piece.lower() for piece in pieces]
    strings = [tokenizer.convert_tokens_to_string([piece]).strip().lower() for piece in pieces]
    return [
        string if piece.startswith(mark) else f"##{string}"
        for piece, string in zip(pieces, strings, strict=True)
    ]


def _disjoint(vocabularies: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Leave a token that names two classes to neither: a part of both their names tells them apart
    no more than a shared word.
    """
    counts = np.bincount(np.concatenate(vocabularies)) if vocabularies else np.zeros(0)
    return [tokens[counts[tokens] == 1] for tokens in vocabularies]


def indicative_positions(
    rows: Sequence[np.ndarray],
    vocabularies: Sequence[np.ndarray],
    predictor: Predictor,
    *,
    threshold: int,
    special: bool = False,
) -> Indicative:
    """Return where more than ``threshold`` of the model's best predictions are in a class's
    vocabulary (LOTClass, section 3.2).

    Args:
        rows: token ids of n documents, nothing masked.
        vocabularies: of :func:`category_vocabulary`.
        predictor: predictions.
        threshold: of the predictor's ``top``.
        special: special tokens can be indicative, as in the original.

    """
    torch = import_torch()
    k = len(vocabularies)
    lookup = torch.full((predictor.model.config.vocab_size,), k, dtype=torch.int64)
    for code, tokens in enumerate(vocabularies):
        lookup[torch.as_tensor(tokens)] = code
    never = np.array([] if special else sorted(set(predictor.tokenizer.all_special_ids)))
    places = [np.flatnonzero(~np.isin(row, never)) for row in rows]
    counts = predictor.best(rows, places, lookup.to(predictor.engine.device), k)
    found, documents, codes = [], [], []
    for number, (where, count) in enumerate(zip(places, counts, strict=True)):
        hits = count > threshold
        for code in np.flatnonzero(hits.any(axis=0)).tolist():
            documents.append(number)
            codes.append(code)
            found.append(where[hits[:, code]])
    starts = np.concatenate([[0], np.cumsum([len(where) for where in found])]).astype(np.int64)
    joined = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    return Indicative(
        np.array(documents, dtype=np.int64), np.array(codes, dtype=np.int64), starts, joined
    )


def check_rows(
    codes: np.ndarray,
    classes: Sequence[str],
    vocabularies: Sequence[Sequence[str]],
    at_least: int,
    supervision: str,
) -> None:
    """Raise a LopsError that names the classes with fewer than ``at_least`` rows, their counts and
    what to change.
    """
    counts = np.bincount(codes, minlength=len(classes))
    poor = [code for code in range(len(classes)) if counts[code] < at_least]
    if poor:
        shown = "; ".join(
            f"{classes[i]}: {counts[i]} (vocabulary: {', '.join(vocabularies[i][:8]) or 'empty'})"
            for i in poor
        )
        ways_out = [
            "Give a lower --match-threshold",
            "more documents",
            "names that occur more often (--names)",
        ]
        if supervision != "keywords":
            ways_out.append("--supervision keywords where the data has seed words")
        raise LopsError(
            f"too few documents speak of {len(poor)} of {len(classes)} classes, wanted at least {at_least} each; found {shown}. "
            f"{', '.join(ways_out[:-1])} or {ways_out[-1]}"
        )
