"""Category vocabularies and category-indicative positions, from a masked language model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lops_adapters.console import progress
from lops_adapters.encoders.torch_tools import import_torch, prediction_batches
from lops_adapters.lotclass.documents import Occurrences, TooFewError, phrase
from lops_adapters.lotclass.engine import Engine
from lops_adapters.lotclass.masked_lm import head, padded
from lops_adapters.pseudo_labels.stopwords import ENGLISH_STOP_WORDS

_BLOCK = 4096  # documents that share prediction batches
# Marks of a word's first piece, in byte-level and SentencePiece vocabularies.
_BEGINS = ("\u0120", "\u2581")
_LOGITS = 2048  # positions with logits over the vocabulary in memory at a time


@dataclass(frozen=True)
class Indicative:
    """Category-indicative positions per row; a row is a document and one class it indicates.

    Attributes:
        documents: (m,) int64 document of each row, ascending; a document that indicates two classes
            has two rows.
        codes: (m,) int64 class of each row, ascending within a document.
        starts: (m + 1,) int64, where each row's places begin.
        places: int64 positions within the document.
        most: (n, k) int64, per document and class the most predictions in the vocabulary at any
            position; None: not known.
    """

    documents: np.ndarray
    codes: np.ndarray
    starts: np.ndarray
    places: np.ndarray
    most: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.documents)

    def of(self, row: int) -> np.ndarray:
        """Return the positions of one row."""
        return self.places[self.starts[row] : self.starts[row + 1]]


class Predictor:
    """A masked language model that computes logits only at the positions asked for."""

    def __init__(
        self, model: Any, tokenizer: Any, engine: Engine, *, top: int, tokens: int, quiet: bool
    ) -> None:
        self.model = model.to(engine.device).eval()
        self.tokenizer = tokenizer
        self.engine = engine
        self.top = top
        self.tokens = tokens
        self.quiet = quiet

    def best(
        self,
        rows: Sequence[np.ndarray],
        places: Sequence[np.ndarray],
        lookup: Any = None,
        classes: int = 0,
    ) -> list[np.ndarray]:
        """Return the ``top`` predicted tokens at chosen places, or their counts per class.

        Per row of token ids: the ids at its places, (places, top) int32; or with ``lookup``, a (V,)
        int64 tensor of the class code of each token (k: no class), how many of them belong to each
        of the k ``classes``, (places, k) uint8.
        """
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        results: list[np.ndarray] = [np.zeros((0, 0))] * len(rows)
        torch = import_torch()
        batches: list[np.ndarray] = []
        for start in range(0, len(rows), _BLOCK):
            block = np.arange(start, min(start + _BLOCK, len(rows)))
            batches += prediction_batches(lengths, block, self.tokens)
        bar = progress(batches, quiet=self.quiet, unit="batch", desc="masked predictions")
        with torch.inference_mode(), self.engine.computing():
            for batch in bar:
                chosen = [rows[i] for i in batch], [places[i] for i in batch]
                for row, result in zip(batch, self._batch(*chosen, lookup, classes), strict=True):
                    results[row] = result
        return results

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
                shape, ones = (len(tokens), classes + 1), torch.ones_like(tokens, dtype=torch.int32)
                counts = torch.zeros(shape, dtype=torch.int32, device=tokens.device)
                tokens = counts.scatter_add_(1, lookup[tokens], ones)[:, :classes]
            results.append(tokens.cpu().numpy().astype(np.int32 if lookup is None else np.uint8))
        return np.split(np.concatenate(results), np.cumsum(sizes)[:-1])


def category_vocabulary(
    occurrences: Occurrences, names: Mapping[str, Sequence[str]], predictor: Predictor, *, size: int
) -> list[np.ndarray]:
    """Return the token ids of each class's vocabulary, most frequent first, without overlap.

    A token counts at every occurrence of a class name where it is among the model's best
    predictions. The ``size`` most frequent tokens per class are kept (ties: the lower token id).
    Removed from these are tokens that are not words of letters, single letters, stop words, and
    tokens frequent for another class too; names of the class itself stay. (LOTClass, section 3.1)
    """
    tokenizer = predictor.tokenizer
    order = np.split(
        np.arange(len(occurrences.where)), np.flatnonzero(np.diff(occurrences.where)) + 1
    )
    best = np.concatenate(
        predictor.best(occurrences.rows, [occurrences.places[group] for group in order])
    )
    frequent = []
    for code in range(len(names)):
        predicted = best[occurrences.codes == code].ravel()
        counts = np.bincount(predicted, minlength=len(tokenizer))
        counts = counts[: len(tokenizer)]  # without the model's spare rows
        ranked = np.argsort(-counts, kind="stable")[:size]
        frequent.append(ranked[counts[ranked] > 0])
    shared = np.bincount(np.concatenate(frequent), minlength=len(tokenizer)) > 1
    vocabularies = []
    for own, tokens in zip(names.values(), frequent, strict=True):
        surfaces = words_of(tokens, tokenizer)
        phrases = [phrase(name) for name in own]  # of longer names, the parts that tell
        named = {word for words in phrases for word in words if len(words) == 1 or _telling(word)}
        kept = [
            surface in named or (surface.isalpha() and _telling(surface) and not shared[token])
            for surface, token in zip(surfaces, tokens, strict=True)
        ]
        vocabularies.append(tokens[np.array(kept, dtype=bool)])
    # Left are parts of the names of several classes.
    holders = np.bincount(np.concatenate(vocabularies), minlength=len(tokenizer))
    return [tokens[holders[tokens] == 1] for tokens in vocabularies]


def _telling(word: str) -> bool:
    return len(word) > 1 and word not in ENGLISH_STOP_WORDS


def words_of(tokens: np.ndarray, tokenizer: Any) -> list[str]:
    """Return tokens as words, lower-case; pieces that continue a word begin with ``##``."""
    pieces = tokenizer.convert_ids_to_tokens(tokens.tolist())
    mark = tokenizer.tokenize(" a")[0][0]
    if mark not in _BEGINS:  # WordPiece marks the continuing pieces itself
        return [piece.lower() for piece in pieces]
    strings = [tokenizer.convert_tokens_to_string([piece]).strip().lower() for piece in pieces]
    return [
        string if piece.startswith(mark) else f"##{string}"
        for piece, string in zip(pieces, strings, strict=True)
    ]


def indicative_positions(
    rows: Sequence[np.ndarray],
    vocabularies: Sequence[np.ndarray],
    predictor: Predictor,
    *,
    thresholds: np.ndarray,
    special: bool = False,
) -> Indicative:
    """Return the category-indicative positions of documents (LOTClass, section 3.2).

    A position indicates a class if more of the model's best predictions there are in the
    vocabulary of the class than the threshold of the class; ``thresholds``: (k,) int64.

    Rows are token ids of n documents, nothing masked; with ``special``, special tokens can be
    indicative, as in the original.
    """
    torch = import_torch()
    k = len(vocabularies)
    lookup = torch.full((predictor.model.config.vocab_size,), k, dtype=torch.int64)
    for code, tokens in enumerate(vocabularies):
        lookup[torch.as_tensor(tokens)] = code
    never = np.array([] if special else sorted(set(predictor.tokenizer.all_special_ids)))
    places = [np.flatnonzero(~np.isin(row, never)) for row in rows]
    counts = predictor.best(rows, places, lookup.to(predictor.engine.device), k)
    positions, documents, codes = [], [], []
    for number, (where, count) in enumerate(zip(places, counts, strict=True)):
        hits = count > thresholds
        for code in np.flatnonzero(hits.any(axis=0)).tolist():
            documents.append(number)
            codes.append(code)
            positions.append(where[hits[:, code]])
    starts = np.concatenate([[0], np.cumsum([len(where) for where in positions])]).astype(np.int64)
    joined = np.concatenate(positions) if positions else np.zeros(0, dtype=np.int64)
    most = np.array([count.max(axis=0, initial=0) for count in counts]).reshape(-1, k)
    return Indicative(
        np.array(documents, dtype=np.int64), np.array(codes, dtype=np.int64), starts, joined, most
    )


def check_named(
    occurrences: Occurrences, names: Mapping[str, Sequence[str]], at_least: int, supervision: str
) -> None:
    """Refuse classes with a name in fewer than ``at_least`` documents."""
    held = [len(set(occurrences.where[occurrences.codes == code])) for code in range(len(names))]
    rare = [(label, count) for label, count in zip(names, held, strict=True) if count < at_least]
    if rare:
        shown = "; ".join(f"{label}: {count} ({', '.join(names[label])})" for label, count in rare)
        raise TooFewError(
            f"too few documents hold a name of {len(rare)} of {len(names)} classes, wanted at "
            f"least {at_least} each; found {shown}. {_ways_out('Give more documents', supervision)}"
        )


def check_rows(
    rows: Indicative,
    classes: Sequence[str],
    vocabularies: Sequence[Sequence[str]],
    at_least: int,
    threshold: int,
    supervision: str,
) -> None:
    """Refuse classes with fewer than ``at_least`` rows at this threshold."""
    counts = np.bincount(rows.codes, minlength=len(classes))
    poor = [code for code in range(len(classes)) if counts[code] < at_least]
    if poor:
        shown = "; ".join(
            f"{classes[i]}: {counts[i]} (vocabulary: {', '.join(vocabularies[i][:8]) or 'empty'})"
            for i in poor
        )
        lower = lower_thresholds(rows.most, threshold, at_least)
        first = "" if lower is None else "--supervision auto (lowers their threshold), "
        ways_out = _ways_out(f"Give {first}more documents", supervision)
        raise TooFewError(
            f"too few documents speak of {len(poor)} of {len(classes)} classes, wanted at least "
            f"{at_least} each; found {shown}. {ways_out}"
        )


def lower_thresholds(most: np.ndarray | None, usual: int, at_least: int) -> np.ndarray | None:
    """Return (k,) int64 thresholds, lower where a class has too few rows, as little as it takes.

    ``most`` as in :class:`Indicative`. None: a class has too few rows at any threshold, or there
    would be more rows than documents; too many of these would be wrong (docs/results/lotclass.md).

    >>> lower_thresholds(np.array([[9, 1], [1, 5], [8, 0], [0, 4]]), 7, 2)
    array([7, 3])
    >>> lower_thresholds(np.array([[9, 4], [7, 5], [8, 0]]), 6, 2) is None
    True
    """
    if most is None or len(most) < at_least:
        return None
    thresholds = np.minimum(np.sort(most, axis=0)[-at_least].astype(np.int64) - 1, usual)
    few = thresholds.min() >= 0 and (most > thresholds).sum() <= len(most)
    return thresholds if few else None


def _ways_out(first: str, supervision: str) -> str:
    names = "names that occur more often (--names)"
    if supervision == "keywords":
        return f"{first} or {names}"
    return f"{first}, {names} or seed words (seeds.json next to the data, --supervision keywords)"
