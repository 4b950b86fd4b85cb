"""``learning-order``: one method wherever it is asked for, and how it differs from ``ranked``."""

import numpy as np
import pytest

from lops_adapters.selection import build

from ..stand_in import Told, world


def threshold(count, keep):
    return -(-count * round(100 * keep) // 100)


@pytest.mark.parametrize("keep", [0.1, 0.29, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_keeps_what_ranked_keeps_if_enough_is_learnt(keep, seed):
    """Both keep ceil(keep n) per class, earliest first, ties by probability and hash.

    They differ only in how they fill a class with never-learnt samples.
    """
    samples, labels, _, table = world(n=120, seed=seed, noise=0.4)
    one = build("learning-order", Told(table), keep=keep, seed=seed)(samples, labels)
    other = build("ranked", Told(table), keep=keep, seed=seed)(samples, labels)
    for label, report in one.per_class.items():
        here = np.array([name == label for name in labels])
        wanted = threshold(report.count, keep)
        assert report.kept == other.per_class[label].kept == wanted
        learnt = np.isfinite(one.learnt_at)
        if report.learnt >= wanted:
            np.testing.assert_array_equal(one.mask[here], other.mask[here])
        else:
            assert one.mask[here & learnt].all()
            assert other.mask[here & learnt].all()
    assert any(np.isinf(one.learnt_at))
