import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lops_adapters import select
from lops_adapters.surroundings import one_blas_thread
from lops_adapters.testing.data import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts(1200, k=6)
CHECKED = {i: GOLD[i] for i in range(0, 300, 10)}
VECTORS = np.random.default_rng(0).normal(size=(1200, 300)).astype(np.float32)
VECTORS[np.arange(1200), np.unique(GOLD, return_inverse=True)[1]] += 3


@pytest.mark.parametrize(
    "given",
    [{}, {"checked": CHECKED}, {"embeddings": VECTORS}],
    ids=["texts", "checked", "vectors"],
)
def test_threads_of_blas_change_no_bit(given):
    one, several = [], []
    for threads, found in ((1, one), (2, several)):
        with threadpool_limits(threads):
            selection = select(None if "embeddings" in given else TEXTS, LABELS, **given)
        found += [selection.confidence, selection.suggested_probability]
    assert all(map(np.array_equal, one, several))


def test_the_last_one_out_restores_the_threads():
    def used():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    with threadpool_limits(2):
        one_blas_thread.__enter__()
        with one_blas_thread:  # as in a second thread of Python, which may end later
            one_blas_thread.__exit__(None, None, None)
            assert used() == {1}
        assert used() == {2}
