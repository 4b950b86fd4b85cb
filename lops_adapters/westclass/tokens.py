"""Splits documents into sentences of tokens, punctuation included, as WeSTClass reads them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from lops_adapters.console import progress
from lops_adapters.scripts import Cutter

Document = list[list[str]]  # sentences of tokens
PAD = "<PAD/>"
_SENTENCE_ENDS = frozenset((".", "!", "?", r"\?"))
_FOREIGN = re.compile(r"""[^A-Za-z0-9(),.!?_"'`]""")
_ENDINGS = re.compile(r"('s|'ve|n't|'m|'re|'d|'ll)")
_PLAIN_MARKS = re.compile(r'([",.!])')
_ESCAPED_MARKS = re.compile(r"([()?])")


def tokenize(
    texts: Sequence[str], words: Sequence[str] = (), *, faithful: bool = False, quiet: bool = True
) -> list[Document]:
    """Split lower-cased documents into tokens, and the tokens into sentences.

    Sentences end after full stops, exclamation marks and question marks. ``faithful``: the
    original's tokens, ASCII only, numbers cut at the point, brackets and question marks with a
    backslash in front, contractions split only if in lower case. ``words`` of scripts without
    spaces between words, and each other character of these scripts, are tokens.

    >>> tokenize(["Don't pay $5.50! It's the law_enforcement"])
    [[['do', "n't", 'pay', '5.50', '!'], ['it', "'s", 'the', 'law', 'enforcement']]]
    """
    # One string object per word: a corpus has millions of tokens and few words.
    same: dict[str, str] = {}
    cut = _original_tokens if faithful else _tokens
    spaced, documents = Cutter(words), []
    for text in progress(texts, quiet=quiet, unit="document", desc="tokenising"):
        documents.append(_sentences([same.setdefault(token, token) for token in cut(spaced(text))]))
    return documents


def _tokens(text: str) -> list[str]:
    return _pattern().findall(unicodedata.normalize("NFC", text.lower()).replace("\u2019", "'"))


@cache
def _pattern() -> re.Pattern[str]:
    # Python's \w excludes combining marks, such as Hindi vowel signs; all are below U+1F000.
    marks = "".join(
        character
        for character in map(chr, range(0x300, 0x1F000))
        if unicodedata.category(character)[0] == "M"
    )
    return re.compile(
        rf"""
        [^\W\d_]+?(?=n't\b)                      # the word before "n't"
        | n't\b | '(?:s|ve|m|re|d|ll)\b          # contracted endings
        | \d+(?:[.,]\d+)+                        # 5.50 and 1,000
        | [^\W_]+(?:[{marks}][^\W_]*)*           # words and numbers, of any script
        | [().,!?"]
        """,
        re.VERBOSE,
    )


def _original_tokens(text: str) -> list[str]:
    kept = _ENDINGS.sub(r" \1", _FOREIGN.sub(" ", text))
    return _ESCAPED_MARKS.sub(r" \\\1 ", _PLAIN_MARKS.sub(r" \1 ", kept)).lower().split()


def _sentences(tokens: list[str]) -> Document:
    sentences: Document = []
    ended = True
    for token in tokens:
        ends = token in _SENTENCE_ENDS
        # All marks of "..." and "?!" belong to the sentence they end.
        if not sentences or (ended and not ends):
            sentences.append([])
        sentences[-1].append(token)
        ended = ends
    return sentences


def is_word(token: str) -> bool:
    """Return whether a token is a word or number, not punctuation or the end of a contraction.

    >>> [token for token in ["law", "5.50", "n't", "'s", "."] if is_word(token)]
    ['law', '5.50']
    """
    return token[0].isalnum() and "'" not in token


def flat(document: Document) -> list[str]:
    """Return the tokens of a document.

    >>> flat([["a", "."], ["b"]])
    ['a', '.', 'b']
    """
    return [token for sentence in document for token in sentence]


def padded(documents: Iterable[Document], length: int) -> list[Document]:
    """Return documents cut or padded with ``<PAD/>`` to ``length`` tokens, as one sentence each.

    As in the original.
    """
    cut = [flat(document)[:length] for document in documents]
    return [[tokens + [PAD] * (length - len(tokens))] for tokens in cut]


def word_counts(documents: Iterable[Document]) -> Counter[str]:
    """Return how often each token occurs."""
    counts: Counter[str] = Counter()
    for document in documents:
        for sentence in document:
            counts.update(sentence)
    return counts


def shape(
    document: Document, words: frozenset[str], max_sentences: int, max_words: int, *, ends: bool
) -> list[int]:
    """Return the number of known words per sentence, of the sentences that a network reads.

    ``words`` are the known ones; ``ends``: count closing marks.

    >>> shape([["a", "b", ".", "."], ["zz", "."], ["a"]], frozenset("ab."), 10, 45, ends=False)
    [2, 1]
    """
    lengths = []
    for sentence in document:
        known = [token for token in sentence if token in words][:max_words]
        while known and known[-1] in _SENTENCE_ENDS and not ends:
            known.pop()
        lengths.append(len(known))
    return [length for length in lengths if length][:max_sentences]
