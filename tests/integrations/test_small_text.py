"""Data sets of small-text in and out."""

import numpy as np
import pytest

from lops_adapters import LopsError, select
from lops_adapters.integrations.small_text import select_dataset

from ..noisy import noisy_texts

small_text = pytest.importorskip(
    "small_text", reason="small-text is not installed: make test-integrations"
)
TEXTS, LABELS, _ = noisy_texts()
CODES = np.array([int(label[-1]) for label in LABELS])
UNLABELLED = [3, 50, 51]


def dataset(texts=TEXTS, codes=CODES):
    return small_text.TextDataset(texts, np.array(codes), target_labels=np.arange(2))


def pool():
    codes = CODES.copy()
    codes[UNLABELLED] = small_text.LABEL_UNLABELED
    return dataset(codes=codes)


def test_the_kept_rows_come_back():
    clean, selection = select_dataset(dataset(), encoder=None)
    kept = selection.kept
    expected = select(TEXTS, CODES.tolist(), encoder=None)
    np.testing.assert_array_equal(kept, expected.kept)
    assert isinstance(clean, small_text.TextDataset)
    assert clean.x == [TEXTS[i] for i in kept]
    assert clean.y.tolist() == CODES[kept].tolist()
    assert clean.target_labels.tolist() == [0, 1]
    assert selection.labels == CODES.tolist()
    assert len(clean) == len(kept) < len(TEXTS)


def test_unlabelled_rows_are_left_out_and_classes_can_have_names():
    clean, selection = select_dataset(pool(), names=["class 0", "class 1"], encoder=None)
    kept = selection.kept
    assert selection.abstained.tolist() == UNLABELLED
    assert not set(UNLABELLED) & set(kept.tolist())
    assert selection.labels == [None if i in UNLABELLED else LABELS[i] for i in range(120)]
    assert clean.y.tolist() == CODES[kept].tolist()


@pytest.mark.parametrize("rows", [slice(10, 120), list(range(10, 120)), np.arange(10, 120)])
def test_views_as_active_learners_make_them(rows):
    view = pool()[rows]
    clean, selection = select_dataset(view, encoder=None)
    whole = select_dataset(dataset(TEXTS[10:], pool().y[10:]), encoder=None)
    np.testing.assert_array_equal(selection.kept, whole[1].kept)
    assert clean.x == whole[0].x
    inner = select_dataset(view[np.arange(20, 100)], encoder=None)
    assert set(inner[0].x) <= set(TEXTS[30:110])


def test_what_is_refused():
    from scipy.sparse import csr_matrix

    sparse = small_text.SklearnDataset(csr_matrix(np.eye(2)), CODES[:2], np.arange(2))
    with pytest.raises(LopsError, match="dataset is a SklearnDataset; wanted a small"):
        select_dataset(sparse)
    several = csr_matrix(np.array([[1, 1], [0, 1]]))
    with pytest.raises(LopsError, match="several labels per row"):
        select_dataset(small_text.TextDataset(["a", "b"], several, target_labels=np.arange(2)))
    with pytest.raises(LopsError, match="a label has code 1, and there are 1 names"):
        select_dataset(dataset(), names=["class 0"])
