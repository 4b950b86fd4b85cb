"""Folds of cross-validation."""

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.selection.folds import splits


def test_a_group_is_in_one_fold():
    rng = np.random.default_rng(0)
    groups, codes = rng.integers(0, 40, 300), rng.integers(0, 3, 300)
    _, groups = np.unique(groups, return_inverse=True)
    cutting = {"folds": 3, "seed": 0, "quiet": True, "groups": groups}
    sizes = []
    for rest, here in splits(list(range(300)), codes, 3, **cutting):
        assert not set(groups[rest]) & set(groups[here])
        sizes.append(len(here))
    assert sum(sizes) == 300
    assert min(sizes) > 60
    with pytest.raises(LopsError, match="found 2 groups; wanted at least 3"):
        list(splits(list(range(300)), codes, 3, **{**cutting, "groups": groups % 2}))
