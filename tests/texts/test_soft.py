"""Soft labels, and the weights that come out."""

from functools import partial

import numpy as np
import pytest

import lops_adapters
from lops_adapters.core import LopsError
from lops_adapters.labels.soft import SoftLabels, hard_labels

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts()
CODES = np.array([int(label[-1]) for label in LABELS])
SOFT = 0.6 * np.eye(2)[CODES] + 0.2
select = partial(lops_adapters.select, encoder=None)


def test_the_largest_is_the_label():
    expected = select(TEXTS, CODES)
    for soft in (SOFT, SOFT.tolist(), 7 * SOFT, np.eye(2, dtype=int)[CODES]):
        found = select(TEXTS, soft_labels=soft)
        np.testing.assert_array_equal(found.kept, expected.kept)
        np.testing.assert_array_equal(found.confidence, expected.confidence)


def test_columns_name_the_classes():
    pandas = pytest.importorskip("pandas")
    found = select(TEXTS, soft_labels=pandas.DataFrame(SOFT, columns=["class 0", "class 1"]))
    assert found.labels == LABELS
    np.testing.assert_array_equal(found.kept, select(TEXTS, LABELS).kept)


def test_ties_and_zeros_are_no_label():
    soft = SOFT.copy()
    soft[3], soft[5], soft[9] = 0.5, 0, np.nan
    soft[11] = [0.1 + 0.2, 0.3]  # equal but for rounding
    found = select(TEXTS, soft_labels=soft)
    assert found.abstained.tolist() == [3, 5, 9, 11]
    assert hard_labels([[np.nan, 1.0], [2, 1]]) == [1, 0]


def test_what_is_no_soft_label():
    for soft, message in (
        (SOFT[:, :1], r"shape \(120, 1\); wanted a matrix of numbers"),
        (CODES, r"shape \(120,\); wanted a matrix"),
        ([["a", "b"]], "wanted a matrix of numbers"),
        (SOFT - 0.5, "soft_labels hold -0.3 in row "),
        (SOFT * np.inf, "soft_labels hold inf in row 0"),
        (np.ones((120, 2)), "none of the 120 rows has a label"),
        (SOFT[:100], "found 120 texts and 100 labels"),
    ):
        with pytest.raises(LopsError, match=message):
            select(TEXTS, soft_labels=soft)
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


class Name(str):
    """A key that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)


def test_objects_of_many_keys_are_read_once():
    work = []
    for n in (100, 200):
        Name.compared = 0
        rows = [({Name(f"{row} {i}"): int(i == 1) for i in range(n)},) for row in "ab"]
        assert SoftLabels(["p"]).labels(rows, str) == ["a 1", "b 1"]
        work.append(Name.compared)
    assert work[1] <= 2 * work[0] + 2
