"""String-Match: each document gets the class whose seed words occur most often in it.

One difference from the authors' code: they map multi-word seeds (dataset Books) to single tokens
through unreleased files. Here, a multi-word seed matches consecutive words of the document.
"""

import re
import string
import warnings
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np

from lops_adapters.console import progress
from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.pseudo_labels._inputs import Seeds, checked_seeds, checked_texts
from lops_adapters.pseudo_labels.result import Occurrences, PseudoLabels, label_documents
from lops_adapters.pseudo_labels.stopwords import STRING_MATCH_STOP_WORDS
from lops_adapters.scripts import Cutter

# The original tokeniser's separators (`!"#%&()*+,-./:;<=>?@[\]^_{|}~`, back-quote, tab, newline)
# are white space or ASCII punctuation. Splitting and deleting punctuation removes all of them, so
# no second filter is needed.
_DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)


def string_match(
    texts: Sequence[str] | Iterable[str],
    seeds: Mapping[str, Sequence[str]],
    *,
    max_words: int | None = 149_999,
    quiet: bool = True,
) -> PseudoLabels:
    """Pseudo-label documents by counting seed words, as the authors' released code does.

    Every document is split on white space, and ASCII punctuation inside the words is deleted
    ("same-sex" becomes "samesex"). Words that now equal a stop word or "would" are dropped before
    lower-casing ("The" stays). Words are ranked by frequency in the corpus (ties: first appearance
    first); only the `max_words` most frequent can match. The score of a class is the number of
    occurrences of its seed words in the document. The largest score wins; ties go to the
    alphabetically first class; a document without a seed word stays unlabelled.

    A multi-word seed matches consecutive words of the document. Punctuation and case are ignored;
    stop words count, since phrases such as "rachel and kirsty" contain them. Every occurrence of a
    phrase counts, also inside another ("world war ii" counts for "world war"), and `max_words` does
    not apply to phrases. In scripts without spaces between words, such as Chinese, Japanese and
    Thai, seed words are found within the text; of seeds that begin at one place, the longest.

    Texts are read one by one and not kept: memory grows with the number of distinct words (not with
    `max_words=None`, which needs no counts) and of occurrences of seed words (16 bytes each).

    Args:
        texts: the raw documents.
        seeds: class name to its seed words, [] for a class without any. A word may belong to
            several classes. Single words must be in processed form: lower case, no punctuation.
        max_words: number of most frequent words that can match; None: all.
        quiet: show no progress bar.

    Returns:
        Labelled rows, their labels and scores, and the seed words without a match.

    Raises:
        LopsError: no document, a document that is not a string, or seeds that cannot work.

    Warns:
        LopsWarning: once, with the seeds that no document can match and a spelling that would.

    Source: the String-Match heuristic of the LOPS paper (experiments, initial pseudo-labels) and
    the authors' released code.

    >>> found = string_match(["The Gun. A gun, again!", "my space-craft", "gun in space"],
    ...                      {"talk": ["gun"], "sci": ["space", "spacecraft"]})
    >>> found.labels.tolist(), found.scores.tolist()
    (['talk', 'sci', 'sci'], [2.0, 1.0, 1.0])
    """
    checked = {name: _distinct(class_words) for name, class_words in checked_seeds(seeds).items()}
    if max_words is not None and max_words < 1:
        raise LopsError(f"max_words is {max_words}; pass a number from 1, or None for no limit")
    _warn_of_unmatchable(checked)
    corpus_counts: Counter[str] = Counter()
    read = progress(checked_texts(texts), quiet=quiet, unit="documents", desc="String-Match")
    occurrences, words, n_documents = _count(read, checked, corpus_counts if max_words else None)
    dropped: set[int] = set()
    if max_words is not None:
        for word in _beyond_vocabulary(corpus_counts, max_words, words):
            dropped.update(words[word])
    return label_documents(occurrences, checked, n_documents, dropped=dropped, exclusive=False)


def seed_votes(
    texts: Sequence[str] | Iterable[str], seeds: Mapping[str, Sequence[str]], *, quiet: bool = True
) -> dict[str, list[str | None]]:
    """Return what each seed word says of each document: its class where it occurs, else None.

    Seed words are of unequal worth; ``lops_adapters.select(texts, seed_votes(texts, seeds))`` joins
    them and estimates how often each is right. They match as for :func:`string_match`, at any
    frequency.

    Args:
        texts, seeds, quiet: as for :func:`string_match`.

    Returns:
        "class: seed word" -> n votes; of seed words that occur.

    Raises:
        LopsError: as :func:`string_match`.

    >>> seed_votes(["a gun", "gun in space"], {"talk": ["gun"], "sci": ["space", "moon"]})
    {'talk: gun': ['talk', 'talk'], 'sci: space': [None, 'sci']}
    """
    checked = {name: _distinct(class_words) for name, class_words in checked_seeds(seeds).items()}
    read = progress(checked_texts(texts), quiet=quiet, unit="documents", desc="seed words")
    occurrences, _, n_documents = _count(read, checked, None)
    documents, pair_ids = occurrences.arrays(set())
    votes: dict[str, list[str | None]] = {}
    for pair_id, (name, word) in enumerate(occurrences.pairs):
        with_word = documents[pair_ids == pair_id].tolist()
        if with_word:
            column: list[str | None] = [None] * n_documents
            for document in with_word:
                column[document] = name
            votes[f"{name}: {word}"] = column
    return votes


def _processed(word: str) -> list[str]:
    return word.translate(_DELETE_PUNCTUATION).lower().split()


def _is_phrase(seed: str) -> bool:
    return len(seed.split()) > 1


def _distinct(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a class's seeds without repeated spellings of a phrase, which would count twice.

    For instance, "World War" and "world war" are the same phrase.
    """
    first: dict[tuple[bool, str], str] = {}
    for word in words:
        phrase = _is_phrase(word)
        first.setdefault((phrase, " ".join(_processed(word)) if phrase else word), word)
    return tuple(first.values())


# First word of a phrase to (phrase between blanks, expression that finds it, pairs it belongs to).
Expressions = dict[str, list[tuple[str, re.Pattern[str], list[int]]]]


def _matchers(pairs: list[tuple[str, str]]) -> tuple[dict[str, list[int]], Expressions]:
    words: dict[str, list[int]] = {}
    owners: dict[str, list[int]] = {}
    for pair_id, (_, seed) in enumerate(pairs):
        if not _is_phrase(seed):
            words.setdefault(seed, []).append(pair_id)
        elif _processed(seed):
            owners.setdefault(" ".join(_processed(seed)), []).append(pair_id)
    expressions: Expressions = {}
    for phrase, pair_ids in owners.items():
        padded = f" {phrase} "
        # A look-ahead also finds overlapping occurrences.
        expression = re.compile(f"(?={re.escape(padded)})")
        expressions.setdefault(phrase.split()[0], []).append((padded, expression, pair_ids))
    return words, expressions


def _count(
    texts: Iterable[str], seeds: Seeds, corpus_counts: Counter[str] | None
) -> tuple[Occurrences, dict[str, list[int]], int]:
    """Return where seeds occur, single words with their pairs, and the number of documents.

    ``corpus_counts`` receives how often each word occurs.
    """
    occurrences = Occurrences([(name, word) for name, words in seeds.items() for word in words])
    words, expressions = _matchers(occurrences.pairs)
    spaced = Cutter(seed for _, seed in occurrences.pairs)
    n_documents = 0
    for document, text in enumerate(texts):
        n_documents = document + 1
        bare = spaced(text).translate(_DELETE_PUNCTUATION).split()
        content = [word for word in bare if word not in STRING_MATCH_STOP_WORDS]
        kept = " ".join(content).lower().split()
        if corpus_counts is not None:
            corpus_counts.update(kept)
        for word in filter(words.__contains__, kept):
            for pair_id in words[word]:
                occurrences.add(document, pair_id)
        if expressions:
            _add_phrases(occurrences, document, bare, expressions)
    return occurrences, words, n_documents


def _add_phrases(
    occurrences: Occurrences, document: int, bare: list[str], expressions: Expressions
) -> None:
    joined = f" {' '.join(bare)} ".lower()
    for first in expressions.keys() & set(joined.split()):
        for padded, expression, pair_ids in expressions[first]:
            if padded in joined:
                times = len(expression.findall(joined))
                for pair_id in pair_ids:
                    occurrences.add(document, pair_id, times)


def _beyond_vocabulary(
    corpus_counts: Counter[str], max_words: int, words: Container[str]
) -> list[str]:
    """Return the words of `words` outside the `max_words` most frequent.

    Ties: the word that appeared first ranks first.
    """
    if len(corpus_counts) <= max_words:
        return []
    counts = np.fromiter(corpus_counts.values(), dtype=np.int64, count=len(corpus_counts))
    outside = np.zeros(len(counts), dtype=bool)
    outside[np.argsort(-counts, kind="stable")[max_words:]] = True
    ranked = zip(corpus_counts, outside.tolist(), strict=True)
    return [word for word, beyond in ranked if beyond and word in words]


def _warn_of_unmatchable(seeds: Seeds) -> None:
    reasons = []
    for name, words in seeds.items():
        for word in words:
            reason = _why_unmatchable(word)
            if reason:
                reasons.append(f"{word!r} of class {name!r} ({reason})")
    if reasons:
        message = "Seed words that no document can match: " + "; ".join(reasons)
        warnings.warn(message, LopsWarning, stacklevel=3)


def _why_unmatchable(word: str) -> str | None:
    processed = _processed(word)
    if not processed:
        return "nothing is left without punctuation"
    if _is_phrase(word) or processed == [word]:
        return None
    return f"{''.join(processed)!r} would"
