import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from lops_adapters import select
from lops_adapters.testing.data import noisy_texts


@pytest.mark.parametrize("is_checked", [False, True])
def test_threads_of_blas_change_no_bit(is_checked):
    texts, labels, gold = noisy_texts(1200, k=6)
    checked = {i: gold[i] for i in range(0, 300, 10)} if is_checked else None
    one, several = [], []
    for threads, found in ((1, one), (2, several)):
        with threadpool_limits(threads):
            selection = select(texts, labels, checked=checked)
        found += [selection.confidence, selection.suggested_probability]
    assert all(map(np.array_equal, one, several))
