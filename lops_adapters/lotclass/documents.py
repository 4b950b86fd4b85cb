"""Documents as word pieces, and where they contain class names."""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError
from lops_adapters.pseudo_labels.stopwords import ENGLISH_STOP_WORDS

log = logging.getLogger(__name__)
_BLOCK = 4096
Phrase = tuple[str, ...]
Word = tuple[str, int, int]  # lower-case, its first piece, and one past its last


class TooFewError(LopsError):
    """Too few documents hold the names of a class, or speak of it."""


@dataclass(frozen=True)
class Tokens:
    """n tokenised documents.

    Attributes:
        rows: per document its (length,) int32 token ids, special tokens included.
        max_tokens: longer documents are cut.
    """

    rows: list[np.ndarray]
    words: list[list[Word]]
    max_tokens: int


@dataclass(frozen=True)
class Occurrences:
    """Class names in documents.

    Attributes:
        sources: per class ``corpus``, or ``parts`` if no document holds its whole name.
        rows: token ids of each document with a class name; a name of several pieces is replaced by
            one mask token.
        where: (m,) int64, the row of each occurrence.
        places: (m,) int64, its position in the row.
        codes: (m,) int64, its class.
    """

    sources: dict[str, str]
    rows: list[np.ndarray]
    where: np.ndarray
    places: np.ndarray
    codes: np.ndarray


def token_rows(texts: Sequence[str], tokenizer: Any, max_tokens: int) -> list[np.ndarray]:
    """Return the (length,) int32 token ids of each text, special tokens included."""
    if not texts:
        return []
    encoded = tokenizer(list(texts), truncation=True, max_length=max_tokens)
    return [np.array(row, dtype=np.int32) for row in encoded["input_ids"]]


def phrase(name: str) -> Phrase:
    """Return the words of a name, lower-case; punctuation separates words.

    >>> phrase("stocks_and_bonds"), phrase("talk.politics.guns"), phrase("Bücher")
    (('stocks', 'and', 'bonds'), ('talk', 'politics', 'guns'), ('bücher',))
    """
    return tuple(re.findall(r"[^\W_]+", name.lower()))


def read_names(names: Mapping[str, Sequence[str]]) -> dict[str, list[Phrase]]:
    """Return the phrases of each class; refuse names without a word and names of two classes."""
    phrases_of: dict[str, list[Phrase]] = {}
    owner: dict[Phrase, str] = {}
    for label, alternatives in names.items():
        phrases = list(dict.fromkeys(filter(None, map(phrase, alternatives))))
        if not phrases:
            raise LopsError(
                f"class {label!r} has no name with a word in it (found {list(alternatives)}); "
                "LOTClass starts from names: give at least one"
            )
        for words in phrases:
            if owner.setdefault(words, label) != label:
                raise LopsError(
                    f"{' '.join(words)!r} names both {owner[words]!r} and {label!r}; wanted names "
                    "of one class only"
                )
        phrases_of[label] = phrases
    if len(phrases_of) < 2:
        raise LopsError(f"found {len(phrases_of)} class; wanted at least two to tell apart")
    return phrases_of


def read_tokens(
    texts: Sequence[str], tokenizer: Any, max_tokens: int, *, quiet: bool = True
) -> Tokens:
    """Tokenise n documents, cut to ``max_tokens``, special tokens counted."""
    rows: list[np.ndarray] = []
    words: list[list[Word]] = []
    starts = range(0, len(texts), _BLOCK)
    for start in progress(starts, quiet=quiet, unit="block", desc="tokenising"):
        block = list(texts[start : start + _BLOCK])
        encoded = tokenizer(
            block, truncation=True, max_length=max_tokens, return_offsets_mapping=True
        )
        for number, text in enumerate(block):
            rows.append(np.array(encoded["input_ids"][number], dtype=np.int32))
            offsets = encoded["offset_mapping"][number]
            words.append(list(_words(text, encoded.word_ids(number), offsets)))
    return Tokens(rows, words, max_tokens)


def find_names(tokens: Tokens, names: Mapping[str, Sequence[str]], mask: int) -> Occurrences:
    """Find the class names in documents.

    If no document holds a whole name, its words are searched for, without stop words and words of
    other classes' names. ``names`` are the alternative names per class, in the order of the class
    codes; ``mask`` is the mask token. TooFewError if the name of a class is not in the documents,
    not even in parts.
    """
    phrases, sources = _findable(read_names(names), tokens.words)
    said = {label: ", ".join(map(" ".join, own)) for label, own in phrases.items()}
    missing = [label for label, source in sources.items() if source == "nowhere"]
    if missing:
        tried = "; ".join(f"{label}: {said[label]}" for label in missing)
        raise TooFewError(
            f"no document has the name of {len(missing)} of {len(phrases)} classes in its first "
            f"{tokens.max_tokens} tokens ({tried}); wanted names that occur: give others with "
            "--names, or seed words (seeds.json next to the data, --supervision keywords)"
        )
    for label, source in sources.items():
        if source == "parts":
            message = "class name %r: not found as a whole; using its parts: %s"
            log.info(message, label, said[label])
    return _occurrences(tokens, phrases, sources, mask)


def _words(
    text: str, word_ids: Sequence[int | None], offsets: Sequence[tuple[int, int]]
) -> Iterator[Word]:
    begin = 0
    while begin < len(word_ids):
        end = begin + 1
        if word_ids[begin] is None:
            begin = end
            continue
        while end < len(word_ids) and word_ids[end] == word_ids[begin]:
            end += 1
        surface = text[offsets[begin][0] : offsets[end - 1][1]].strip().lower()
        if any(map(str.isalnum, surface)):
            yield surface, begin, end
        begin = end


def _findable(
    phrases: Mapping[str, list[Phrase]], documents: Sequence[Sequence[Word]]
) -> tuple[dict[str, list[Phrase]], dict[str, str]]:
    """Return per class the phrases to search for, and where they come from."""
    findable: dict[str, list[Phrase]] = {}
    sources: dict[str, str] = {}
    seen = {word for document in documents for word, _, _ in document}
    several = {words for own in phrases.values() for words in own if len(words) > 1}
    several = {words for words in several if set(words) <= seen}
    held: set[Phrase] = set()
    if several:
        held = {match[0] for document in documents for match in _matches(document, several)}
    held |= {words for own in phrases.values() for words in own if len(words) == 1} & {
        (word,) for word in seen
    }
    words_of = {label: {word for words in own for word in words} for label, own in phrases.items()}
    for label, own in phrases.items():
        occurring = [words for words in own if words in held]
        others = set().union(*(words_of[other] for other in phrases if other != label))
        parts = sorted(words_of[label] - others - ENGLISH_STOP_WORDS)
        fallback: list[Phrase] = [(part,) for part in parts if part in seen and len(part) > 1]
        findable[label] = occurring or fallback or own
        sources[label] = "corpus" if occurring else "parts" if fallback else "nowhere"
    return findable, sources


def _matches(document: Sequence[Word], phrases: set[Phrase]) -> Iterator[tuple[Phrase, int, int]]:
    """Yield the phrases in a document with the pieces they span.

    The longest phrase that begins at a word wins. At most one punctuation mark separates two words.
    """
    starts: dict[str, list[Phrase]] = {}
    for words in sorted(phrases, key=lambda words: (-len(words), words)):
        starts.setdefault(words[0], []).append(words)
    place = 0
    while place < len(document):
        for words in starts.get(document[place][0], ()):
            taken = document[place : place + len(words)]
            close = all(after[1] - before[2] <= 1 for before, after in pairwise(taken))
            if close and tuple(word for word, _, _ in taken) == words:
                yield words, taken[0][1], taken[-1][2]
                place += len(words) - 1
                break
        place += 1


def _occurrences(
    tokens: Tokens, phrases: Mapping[str, list[Phrase]], sources: dict[str, str], mask: int
) -> Occurrences:
    codes = {words: code for code, own in enumerate(phrases.values()) for words in own}
    held: list[np.ndarray] = []
    where, places, classes = [], [], []
    for row, document in zip(tokens.rows, tokens.words, strict=True):
        kept: list[int] = []
        done = 0
        for words_found, begin, end in _matches(document, set(codes)):
            kept += row[done:begin].tolist()
            where.append(len(held))
            places.append(len(kept))
            classes.append(codes[words_found])
            kept += row[begin:end].tolist() if end - begin == 1 else [mask]
            done = end
        if done:
            held.append(np.array(kept + row[done:].tolist(), dtype=np.int32))
    return Occurrences(
        sources,
        held,
        np.array(where, dtype=np.int64),
        np.array(places, dtype=np.int64),
        np.array(classes, dtype=np.int64),
    )
