"""A package of somebody else: a method, a member, and nothing of them in lops_adapters."""

from collections import Counter

import numpy as np

from lops_adapters.selection import FunctionMethod, Member, MemberFactory
from lops_adapters.selection.committee.folds import by_folds


def shortness(texts, labels):
    """Scores: short texts first."""
    return np.array([-float(len(str(text))) for text in texts])


SHORTEST = FunctionMethod(
    "shortest", "the shortest texts", "{share} with the fewest characters", function=shortness
)


class FirstWord(Member):
    """The labels of the texts of other folds that begin with the same word."""

    name = "first word"

    def score(self, labelled):
        """Count in the other folds."""
        n, self.k = len(labelled.codes), len(labelled.classes)
        probabilities, self.counts = np.empty((n, self.k)), []
        for train, held_out in labelled.splits():
            pairs = [(_first(labelled.samples[i]), int(labelled.codes[i])) for i in train]
            self.counts.append(Counter(pairs))
            texts = [labelled.samples[i] for i in held_out]
            probabilities[held_out] = self._shares(texts, self.counts[-1])
        self.fold_of_group = labelled.fold_of_each_group()
        return probabilities

    def score_unseen(self, samples, groups=None):
        """The mean of the folds, or the fold without the sample's group."""
        each = (self._shares(samples, counts) for counts in self.counts)
        return by_folds(each, groups, self.fold_of_group)

    def _shares(self, texts, counts):
        rows = [[counts[_first(text), code] + 0.1 for code in range(self.k)] for text in texts]
        return np.array(rows) / np.sum(rows, axis=1, keepdims=True)


def _first(text):
    return str(text).partition(" ")[0]


FIRST_WORD = MemberFactory("first word", ("texts",), "the first word", lambda inputs: FirstWord())
