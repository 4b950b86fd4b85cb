"""Targets of self-training, against their formula."""

import numpy as np

from lops_adapters.probes.tuning import target_distribution


def test_targets_by_hand():
    p = np.array([[0.8, 0.2], [0.5, 0.5], [0.6, 0.4]], dtype=np.float32)
    f = [1.9, 1.1]
    wanted = []
    for row in p.astype(float):
        weight = [row[0] ** 2 / f[0], row[1] ** 2 / f[1]]
        wanted.append([value / sum(weight) for value in weight])
    found = target_distribution(p)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert found[1].argmax() == 1  # the rarer class gains


def test_targets_of_a_class_that_nobody_is_in():
    found = target_distribution(np.array([[1.0, 0.0], [0.5, 0.0]], dtype=np.float32))
    assert found.tolist() == [[1, 0], [1, 0]]
