"""Seed words of the classes as vectors: names, keywords, or words of labelled documents."""

import logging
import warnings
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.encoders.words import WordVectors
from lops_adapters.scripts import is_unspaced
from lops_adapters.westclass.tokens import Document, flat, is_word, tokenize
from lops_adapters.westclass.topics import Seed

log = logging.getLogger(__name__)
Pieces = tuple[str, ...]  # the words of one seed that have a vector
_WORDS_OF_DOCUMENTS = 10  # per class, as in the original
_DECIMALS = 9  # rounding errors must not break ties


def seed_pieces(
    seeds: Mapping[str, Sequence[str]], known: Collection[str]
) -> dict[str, list[Pieces]]:
    """Return each class's seeds as words that have a vector, each seed once.

    A seed that is a word of the corpus, ignoring case, is that word. Other seeds, such as
    ``law_enforcement`` or ``same-sex``, are split into words as documents are by default, and mean
    the average of their distinct words; in scripts without spaces between words, of their
    characters. Seeds and parts without a vector are left out with a
    warning. Seeds of a class with the same words count once. A LopsError names all classes without
    a known seed.

    >>> seeds = {"law": ["law_enforcement", "court"], "arts": ["opera"]}
    >>> seed_pieces(seeds, {"law", "enforcement", "court", "opera"})
    {'law': [('law', 'enforcement'), ('court',)], 'arts': [('opera',)]}
    """
    pieces_of: dict[str, list[Pieces]] = {}
    missing = []
    for label, words in seeds.items():
        pieces = [_words_in(word, known) for word in words]
        kept = [tuple(part for part in parts if part in known) for parts in pieces]
        pieces_of[label] = list({frozenset(parts): parts for parts in kept if parts}.values())
        lost = [
            word
            for word, parts, known_parts in zip(words, pieces, kept, strict=True)
            if len(parts) > len(known_parts) or not parts
        ]
        missing += [f"{label}: {', '.join(lost)}"] if lost else []
    empty = [label for label, parts in pieces_of.items() if not parts]
    if empty:
        given = "; ".join(f"{label}: {', '.join(seeds[label]) or 'nothing'}" for label in empty)
        raise LopsError(
            f"no seed of {len(empty)} of {len(seeds)} classes is a word with a vector ({given}); "
            "wanted words that occur often enough in the corpus: give other seed words (seeds.json "
            "next to the data), more documents, or a lower --min-count"
        )
    if missing:
        message = "seeds with words too rare for a vector, which are left out: "
        warnings.warn(message + "; ".join(missing), LopsWarning, stacklevel=2)
    return pieces_of


def _words_in(seed: str, known: Collection[str]) -> list[str]:
    whole = seed.strip().lower()
    if whole in known and any(map(str.isalnum, whole)):
        return [whole]
    parts = " ".join(seed) if is_unspaced(seed) else seed
    return [token for token in dict.fromkeys(flat(tokenize([parts])[0])) if is_word(token)]


def seed_vectors(pieces: Mapping[str, Sequence[Pieces]], vectors: WordVectors) -> list[Seed]:
    """Return the seeds of each class as vectors; a seed of several words has their mean."""
    index = {word: number for number, word in enumerate(vectors.words)}
    seeds = []
    for parts in pieces.values():
        rows = [vectors.vectors[[index[word] for word in seed]].mean(axis=0) for seed in parts]
        stacked = np.stack(rows).astype(np.float64)
        stacked /= np.maximum(np.linalg.norm(stacked, axis=1, keepdims=True), 1e-12)
        seeds.append(Seed(stacked, [index[seed[0]] for seed in parts if len(seed) == 1]))
    return seeds


def words_of_documents(
    documents: Sequence[Document],
    labels: Sequence[str],
    classes: Sequence[str],
    known: Collection[str],
) -> dict[str, list[str]]:
    """Return the ten words of highest mean TF-IDF in each class's labelled documents.

    TF-IDF is over the labelled documents alone, with sublinear term frequency and unit length. Left
    out are punctuation marks, single characters, English stop words, words without a vector, and
    words in more than a fifth of the documents (in more than one, for fewer than ten documents).
    Scores equal to nine decimals rank alphabetically. LopsError for a class without such a word.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

    lacking = [label for label in classes if label not in set(labels)]
    if lacking:
        raise LopsError(
            f"no labelled document for {', '.join(lacking)}; wanted at least one per class"
        )
    long = {word for word in known if len(word) > 1 or is_unspaced(word)}
    usable = set(filter(is_word, long)) - ENGLISH_STOP_WORDS
    texts = [[word for word in flat(document) if word in usable] for document in documents]
    most = max(1, len(texts) // 5)
    try:
        vectorizer = TfidfVectorizer(analyzer=lambda words: words, sublinear_tf=True, max_df=most)
        scores = vectorizer.fit_transform(texts)
    except ValueError:
        raise LopsError(
            f"the {len(texts)} labelled documents hold no word that is frequent in the corpus and "
            "rare among them; label other documents, or more"
        ) from None
    names = vectorizer.get_feature_names_out()
    chosen = {}
    for label in classes:
        mean = np.asarray(
            scores[[i for i, own in enumerate(labels) if own == label]].mean(axis=0)
        ).ravel()
        best = np.argsort(-mean.round(_DECIMALS), kind="stable")[:_WORDS_OF_DOCUMENTS]
        chosen[label] = [str(names[i]) for i in best if mean[i] > 0]
    empty = [label for label, words in chosen.items() if not words]
    if empty:
        raise LopsError(
            f"the labelled documents of {', '.join(empty)} hold no word of their own; label other "
            "documents, or more"
        )
    log.info("words of the labelled documents: %s", chosen)
    return chosen
