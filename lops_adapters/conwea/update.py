"""The seed update: from what the classifier predicts to the seed words of the next iteration.

The published update replaces all seed words, and feeds on bad ones: bursts of junk (encoded
attachments, score tables), words of the largest class, and words that a wrong prediction brought
in. The update here differs in these ways:

- The user's seed words, once disambiguated, stay, and no other class takes them.
- A candidate has two letters and no digit, and is no part of a contraction.
- Indicativeness assumes equally likely classes: with r_l(w) the share of the documents predicted as
  l that hold w, it is r_l(w) / sum_c r_c(w) instead of df_l(w) / df(w).
- A candidate must be many times as frequent in its class as in the average other one
  (``min_lift``). A share would be laxer the fewer classes there are.

Under ``faithful``, and in the ``paper`` preset, :mod:`lops_adapters.conwea.seeds` has the published
update. docs/conwea.md has measurements.
"""

import logging
import re

import numpy as np

from lops_adapters.conwea.contextual import SEPARATOR, ContextualCorpus
from lops_adapters.conwea.seeds import MIN_DOCUMENTS, Seeds, counted, disambiguate, seed_count
from lops_adapters.pseudo_labels import PseudoLabels

log = logging.getLogger(__name__)
COMMON = 0.2  # share of the documents above which a seed word is warned of

_TWO_LETTERS = re.compile(r"[^\W\d_].*[^\W\d_]")
_DIGIT = re.compile(r"\d")
# The tokeniser splits contractions ("ca", "n't"), and words are kept without punctuation ("nt"), so
# no apostrophe is left to tell their parts by. They say nothing about a topic. Parts that are words
# of their own stay: ai (of ain't), got, sha, wan.
_PARTS_OF_CONTRACTIONS = frozenset(
    ["nt", "re", "ve", "ll", "em", "ye", "ca", "wo", "gon", "na", "ta", "gim", "lem"]
)


def indicativeness(
    corpus: ContextualCorpus, predicted: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return each word's lift and score per class, both (classes, vocabulary) float64.

    The lift is r_l(w) divided by the mean of r_c(w) over the other classes, inf if it occurs in
    none of them. The share is r_l(w) / sum_c r_c(w). The score is share * ln(N / df(w)) * tanh(f),
    f the count of w in D_l divided by |D_l|, if df_l(w) is at least ``MIN_DOCUMENTS``, else 0; see
    :func:`~lops_adapters.conwea.seeds.counted`. ``predicted`` are (n,) class codes.
    """
    _, idf, documents, frequency = counted(corpus, predicted, n_classes)
    sizes = np.bincount(predicted, minlength=n_classes)
    rate = documents / np.maximum(sizes, 1)[:, None]
    total = rate.sum(axis=0)
    share = rate / np.maximum(total, 1e-12)
    others = np.maximum(total - rate, 0.0) / max(n_classes - 1, 1)
    lift = np.divide(rate, others, out=np.full(rate.shape, np.inf), where=others > 1e-12)
    enough = documents >= MIN_DOCUMENTS
    return lift, np.where(enough, share * idf * np.tanh(frequency), 0.0)


def is_candidate(word: str) -> bool:
    """Return whether a contextualised word may become a seed word.

    >>> [word for word in ("orbit$1", "m9", "x", "nt$0", "icehockey") if is_candidate(word)]
    ['orbit$1', 'icehockey']
    """
    bare = word.partition(SEPARATOR)[0]
    if bare in _PARTS_OF_CONTRACTIONS:
        return False
    return bool(_TWO_LETTERS.search(bare)) and not _DIGIT.search(bare)


def settle(corpus: ContextualCorpus, seeds: Seeds, predicted: np.ndarray) -> Seeds:
    """Return the user's seed words, each in its most indicative sense; used after iteration 0."""
    return disambiguate(corpus, seeds, indicativeness(corpus, predicted, len(seeds))[1])


def expand(
    corpus: ContextualCorpus, base: Seeds, predicted: np.ndarray, iteration: int, *, min_lift: float
) -> Seeds:
    """Return the user's seed words and the most indicative candidates of each class.

    A class has :func:`~lops_adapters.conwea.seeds.seed_count` seed words, the user's included. A
    candidate of two classes goes to the larger score (ties: the alphabetically first class); equal
    scores of a class go by the alphabet.

    ``base`` are the user's seed words, of :func:`settle`, and ``predicted`` (n,) class codes by the
    alphabetical order of the classes. A candidate needs a lift of ``min_lift``.
    """
    classes, vocabulary = sorted(base), corpus.vocabulary
    lift, score = indicativeness(corpus, predicted, len(classes))
    taken = {word for words in base.values() for word in words}
    allowed = np.array(
        [is_candidate(word) and word not in taken for word in vocabulary], dtype=bool
    )
    score = np.where((lift >= min_lift) & allowed, score, 0.0)
    owner = score.argmax(axis=0)
    result: Seeds = {}
    for row, label in enumerate(classes):
        left = seed_count(iteration, int((predicted == row).sum())) - len(base[label])
        claimed = np.where(owner == row, score[row], 0.0)
        ranked = np.argsort(-claimed, kind="stable")[: max(0, left)]
        result[label] = base[label] + [vocabulary[i] for i in ranked.tolist() if claimed[i] > 0]
    return result


class SeedWatch:
    """Warns of classes that lose half of their pseudo-labels, and of very common seed words.

    Each class and word is warned of once.
    """

    def __init__(self, corpus: ContextualCorpus) -> None:
        self._corpus = corpus
        self._first: dict[str, int] = {}
        self._told: set[str] = set()

    def look(self, where: str, seeds: Seeds, labels: PseudoLabels) -> None:
        """Look at the seed words and pseudo-labels of an iteration; ``where`` names it."""
        counts = labels.counts
        self._first = self._first or counts
        lost = {
            label: f"{label} has {counts[label]} pseudo-labels ({self._first[label]} at first)"
            for label in counts
            if counts[label] < self._first[label] / 2
        }
        common = {
            word: f"the seed word {word} occurs in {share:.0%} of the documents"
            for words in seeds.values()
            for word in words
            if (share := self._corpus.document_frequency[word] / len(self._corpus)) > COMMON
        }
        new = [sentence for name, sentence in {**lost, **common}.items() if name not in self._told]
        self._told |= {*lost, *common}
        if new:
            log.warning("%s: %s", where, "; ".join(new))
