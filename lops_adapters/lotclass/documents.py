"""Documents as word pieces, and where they hold the names of classes."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from lops_adapters.core import LopsError
from lops_adapters.pseudo_labels.stopwords import ENGLISH_STOP_WORDS

log = logging.getLogger(__name__)
_BLOCK = 4096
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Documents:
    """n tokenised documents.

    Attributes:
        rows: for each document its (length,) int32 token ids, special tokens included, cut to what
            the encoder may see.
        occurrences: those with a class name in them, as :class:`Occurrences`.
        sources: for each class where its name was found: ``corpus``, or ``parts`` where no document
            holds it as a whole.

    """

    rows: list[np.ndarray]
    occurrences: Occurrences
    sources: dict[str, str]


@dataclass(frozen=True)
class Occurrences:
    """Class names in documents.

    Attributes:
        rows: token ids of each document that has one; a name of several pieces stands there as one
            mask token.
        where: (m,) int64, which of ``rows`` each occurrence is in.
        places: (m,) int64, its position there.
        codes: (m,) int64, its class.

    """

    rows: list[np.ndarray]
    where: np.ndarray
    places: np.ndarray
    codes: np.ndarray


def token_rows(texts: Sequence[str], tokenizer: Any, max_tokens: int) -> list[np.ndarray]:
    """Return the (length,) int32 token ids of each text, special tokens included."""
    ids = (
        tokenizer(list(texts), truncation=True, max_length=max_tokens)["input_ids"] if texts else []
    )
    return [np.array(row, dtype=np.int32) for row in ids]


def phrase(name: str) -> Phrase:
    """Return the words of a name, lower-case; marks separate words.

    >>> phrase("stocks_and_bonds"), phrase("talk.politics.guns"), phrase("Bücher")
    (('stocks', 'and', 'bonds'), ('talk', 'politics', 'guns'), ('bücher',))
    """
    return tuple(re.findall(r"[^\W_]+", name.lower()))


def read_names(names: Mapping[str, Sequence[str]]) -> dict[str, list[Phrase]]:
    """Return the phrases of each class, or refuse names that are no words or stand for two classes.

    Args:
        names: for each class one name or several alternative ones.

    """
    found: dict[str, list[Phrase]] = {}
    owner: dict[Phrase, str] = {}
    for label, alternatives in names.items():
        phrases = list(dict.fromkeys(filter(None, map(phrase, alternatives))))
        if not phrases:
            raise LopsError(
                f"class {label!r} has no name with a word in it (found {list(alternatives)}); LOTClass starts from names"
            )
        for words in phrases:
            if owner.setdefault(words, label) != label:
                raise LopsError(
                    f"{' '.join(words)!r} names both {owner[words]!r} and {label!r}; wanted names of one class only"
                )
        found[label] = phrases
    if len(found) < 2:
        raise LopsError(f"found {len(found)} class; wanted at least two to tell apart")
    return found


def read_documents(
    texts: Sequence[str],
    names: Mapping[str, Sequence[str]],
    tokenizer: Any,
    max_tokens: int,
    *,
    quiet: bool = True,
) -> Documents:
    """Tokenise documents once and find the class names in them.

    A name that no document holds as a whole is looked for by those of its words that are no stop
    word and in no other class's name.

    Args:
        texts: n documents.
        names: for each class its alternative names, in the order of the class codes.
        tokenizer: fast, of the encoder.
        max_tokens: longer documents are cut, special tokens counted.
        quiet: no progress bar.

    Raises:
        LopsError: as :func:`read_names`; or a class's name is nowhere in the documents, not even in
            parts.

    """
    phrases = read_names(names)
    rows: list[np.ndarray] = []
    words: list[list[tuple[str, int, int]]] = []
    for start in tqdm(
        range(0, len(texts), _BLOCK), disable=quiet, unit="block", desc="tokenising", leave=False
    ):
        block = list(texts[start : start + _BLOCK])
        encoded = tokenizer(
            block, truncation=True, max_length=max_tokens, return_offsets_mapping=True
        )
        for number, text in enumerate(block):
            rows.append(np.array(encoded["input_ids"][number], dtype=np.int32))
            words.append(
                list(_words(text, encoded.word_ids(number), encoded["offset_mapping"][number]))
            )
    seen = {word for document in words for word, _, _ in document}
    phrases, sources = _findable(phrases, words, seen)
    missing = [label for label, source in sources.items() if source == "nowhere"]
    if missing:
        tried = "; ".join(
            f"{label}: {', '.join(' '.join(words) for words in phrases[label])}"
            for label in missing
        )
        raise LopsError(
            f"no document has the name of {len(missing)} of {len(phrases)} classes in its first {max_tokens} tokens ({tried}); wanted "
            "names that occur: give others with --names, or --supervision keywords where the data has seed words"
        )
    for label, source in sources.items():
        if source == "parts":
            log.info(
                "class name %r: no document holds it as a whole; its parts are used: %s",
                label,
                phrases[label],
            )
    return Documents(rows, _occurrences(rows, words, phrases, tokenizer.mask_token_id), sources)


def _words(
    text: str, word_ids: Sequence[int | None], offsets: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a document, lower-case, with the pieces they span: first and one past the
    last.
    """
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
    phrases: Mapping[str, list[Phrase]],
    words: Sequence[Sequence[tuple[str, int, int]]],
    seen: set[str],
) -> tuple[dict[str, list[Phrase]], dict[str, str]]:
    """Return for each class the phrases to look for, and where they are from."""
    found: dict[str, list[Phrase]] = {}
    sources: dict[str, str] = {}
    whole = {
        words
        for label in phrases
        for words in phrases[label]
        if len(words) > 1 and set(words) <= seen
    }
    held = (
        {match[0] for document in words for match in _matches(document, whole)} if whole else set()
    )
    for label, own in phrases.items():
        occurring = [
            words for words in own if words in held or (len(words) == 1 and words[0] in seen)
        ]
        others = {
            word
            for other in phrases
            if other != label
            for words in phrases[other]
            for word in words
        }
        parts = sorted({word for words in own for word in words} - others - ENGLISH_STOP_WORDS)
        fallback: list[Phrase] = [(part,) for part in parts if part in seen and len(part) > 1]
        found[label] = occurring or fallback or own
        sources[label] = "corpus" if occurring else "parts" if fallback else "nowhere"
    return found, sources


def _matches(
    document: Sequence[tuple[str, int, int]], phrases: set[Phrase]
) -> Iterator[tuple[Phrase, int, int]]:
    """Yield phrases in a document with the pieces they span, the longest first where several begin
    at a word; at most one mark inside.
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
    rows: Sequence[np.ndarray],
    words: Sequence[Sequence[tuple[str, int, int]]],
    phrases: Mapping[str, list[Phrase]],
    mask: int,
) -> Occurrences:
    codes = {words: code for code, own in enumerate(phrases.values()) for words in own}
    held: list[np.ndarray] = []
    where, places, classes = [], [], []
    for row, document in zip(rows, words, strict=True):
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
        held,
        np.array(where, dtype=np.int64),
        np.array(places, dtype=np.int64),
        np.array(classes, dtype=np.int64),
    )
