"""Wrong labels found, by hand and against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from lops_adapters.core import LopsError
from lops_adapters.evaluation import detection, noise_of_best

RNG = np.random.default_rng(0)
WRONG = RNG.uniform(size=60) < 0.3
CONFIDENCE = np.round(RNG.normal(size=60) - WRONG, 1)  # with ties


def test_by_hand():
    kept = CONFIDENCE >= 0
    found = detection(CONFIDENCE, kept, WRONG)
    assert found.precision == (WRONG & ~kept).sum() / (~kept).sum()
    assert found.recall == (WRONG & ~kept).sum() / WRONG.sum()
    pairs = [(a < b) + (a == b) / 2 for a in CONFIDENCE[WRONG] for b in CONFIDENCE[~WRONG]]
    assert found.auroc == pytest.approx(np.mean(pairs))
    assert found.auroc == pytest.approx(roc_auc_score(WRONG, -CONFIDENCE))
    assert found.average_precision == pytest.approx(average_precision_score(WRONG, -CONFIDENCE))


def test_infinities_rank():
    confidence = np.where(CONFIDENCE < -1, -np.inf, np.where(CONFIDENCE > 1, np.inf, CONFIDENCE))
    clipped = np.clip(confidence, -99, 99)
    assert detection(confidence, CONFIDENCE > 0, WRONG) == detection(clipped, CONFIDENCE > 0, WRONG)
    assert noise_of_best(confidence, WRONG, 20) == noise_of_best(clipped, WRONG, 20)


def test_what_is_unknown():
    every = np.ones(60, dtype=bool)
    found = detection(CONFIDENCE, every, WRONG)
    assert (found.precision, found.recall) == (None, 0)
    assert found.auroc is not None
    same = detection(np.zeros(60), every, WRONG)
    assert (same.auroc, same.average_precision) == (None, None)
    for none in (every, ~every):
        found = detection(CONFIDENCE, CONFIDENCE > 0, none)
        assert (found.auroc, found.average_precision) == (None, None)
        assert (found.recall is None) == (not none.any())
    with pytest.raises(LopsError, match="a confidence is NaN"):
        detection(np.full(60, np.nan), every, WRONG)


def test_equal_numbers_of_kept_rows():
    confidence, wrong = np.array([3, 2, 2, 2, 1]), np.array([0, 1, 0, 0, 1]) > 0
    shares = [noise_of_best(confidence, wrong, count) for count in range(1, 6)]
    assert shares == pytest.approx([0, 1 / 6, 2 / 9, 1 / 4, 2 / 5])
    for count in (0, 6):
        with pytest.raises(LopsError, match=f"count is {count}; wanted 1 to 5"):
            noise_of_best(confidence, wrong, count)
