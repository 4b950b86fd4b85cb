"""Folds of cross-validation."""

from dataclasses import replace

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.selection.folds import Folded
from lops_adapters.selection.members import Neighbours


def test_a_group_is_in_one_fold():
    rng = np.random.default_rng(0)
    groups, codes = rng.integers(0, 40, 300), rng.integers(0, 3, 300)
    _, groups = np.unique(groups, return_inverse=True)
    labelled = Folded(range(300), codes, range(3), 3, groups=groups)
    sizes = []
    for rest, here in labelled.splits():
        assert not set(groups[rest]) & set(groups[here])
        sizes.append(len(here))
    assert sum(sizes) == 300
    assert min(sizes) > 60
    with pytest.raises(LopsError, match="found 2 groups; wanted at least 3"):
        list(replace(labelled, groups=groups % 2).splits())


def test_neighbours_of_the_same_group_do_not_count():
    vectors = np.repeat(np.eye(2, dtype=np.float32), 4, axis=0)
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    labelled = Folded(vectors, codes, ["a", "b"], 3)
    groups = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    alone = Neighbours("near", np.asarray, count=3).score(labelled)
    grouped = Neighbours("near", np.asarray, count=3).score(replace(labelled, groups=groups))
    assert alone[0].argmax() == 0
    assert grouped[0].argmax() == 1  # all of its own class are in its group
    assert grouped[4].argmax() == 1
