"""Soft labels, and the weights that come out."""

from functools import partial

import numpy as np
import pytest

import lops_adapters
from lops_adapters.core import LopsError

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts()
CODES = np.array([int(label[-1]) for label in LABELS])
SOFT = 0.6 * np.eye(2)[CODES] + 0.2
select = partial(lops_adapters.select, encoder=None)


def test_ties_and_zeros_are_no_label():
    soft = SOFT.copy()
    soft[3], soft[5], soft[9] = 0.5, 0, np.nan
    soft[11] = [0.1 + 0.2, 0.3]  # equal but for rounding
    found = select(TEXTS, soft_labels=soft)
    assert found.abstained.tolist() == [3, 5, 9, 11]
    assert [found.labels[row] for row in (0, 1, 2)] == CODES[:3].tolist()


def test_labels_or_soft_labels_one_per_text():
    with pytest.raises(LopsError, match="found 120 texts and 100 labels"):
        select(TEXTS, soft_labels=SOFT[:100])
    for labels, soft in ((None, None), (LABELS, SOFT)):
        with pytest.raises(LopsError, match="wanted labels or soft_labels, one of the two"):
            select(TEXTS, labels, soft_labels=soft)


def test_weights():
    labels = [None if i == 7 else label for i, label in enumerate(LABELS)]
    found = select(TEXTS, labels, sure=0.99)
    assert found.sample_weight[7] == 0
    own = np.delete(np.arange(len(TEXTS)), 7)
    np.testing.assert_allclose(found.sample_weight[own], found.confidence[own], atol=1e-5)
    usual = select(TEXTS, labels)  # another threshold for the same probabilities
    np.testing.assert_array_equal(usual.sample_weight, found.sample_weight)
    assert usual.mask.tolist() != found.mask.tolist()
    wrong = np.array([label != truth for label, truth in zip(LABELS, GOLD, strict=True)])
    assert found.sample_weight[wrong].mean() < 0.3
    assert found.sample_weight[~wrong].mean() > 0.8
    assert select(TEXTS, LABELS, method="automatic").sample_weight is None
