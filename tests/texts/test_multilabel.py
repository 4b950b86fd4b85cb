"""Several labels per text: each class by itself, joined."""

import numpy as np
import pytest

import lops_adapters
from lops_adapters.core import LopsError
from lops_adapters.texts.multilabel import select_multilabel

N = 180
NAMES = ["art", "law", "sport"]


def noisy(seed=0, noise=0.1):
    """Texts with one to three topics, their labels, of which some are wrong, and the true ones."""
    rng = np.random.default_rng(seed)
    gold = rng.uniform(size=(N, 3)) < 0.5
    gold[~gold.any(axis=1), 0] = True
    texts = [
        " ".join(
            [
                *(f"{NAMES[c]}{i}" for c in np.flatnonzero(row) for i in rng.integers(0, 8, 4)),
                *(f"common{i}" for i in rng.integers(0, 20, 3)),
            ]
        )
        for row in gold
    ]
    given = gold ^ (rng.uniform(size=gold.shape) < noise)
    return texts, given, gold


TEXTS, GIVEN, GOLD = noisy()
LISTS = [[NAMES[c] for c in np.flatnonzero(row)] for row in GIVEN]
FOUND = select_multilabel(TEXTS, LISTS, encoder=None)


def test_each_class_by_itself():
    assert FOUND.classes == NAMES
    np.testing.assert_array_equal(FOUND.given, GIVEN)
    for c, name in enumerate(NAMES):
        alone = lops_adapters.select(TEXTS, GIVEN[:, c].tolist(), encoder=None)
        np.testing.assert_array_equal(FOUND.mask[:, c], alone.mask)
        np.testing.assert_array_equal(FOUND.confidence[:, c], alone.confidence)
        np.testing.assert_array_equal(FOUND.suggested[:, c], alone.suggested.astype(bool))
        assert FOUND.selections[name].mask.tolist() == alone.mask.tolist()


def test_joined():
    np.testing.assert_array_equal(FOUND.kept, np.flatnonzero(FOUND.mask.all(axis=1)))
    assert sorted([*FOUND.kept, *FOUND.rejected]) == list(range(N))
    wrong = GIVEN != GOLD
    assert wrong[FOUND.mask].mean() < wrong.mean() / 2 < wrong[~FOUND.mask].mean() / 4
    assert (FOUND.suggested[~FOUND.mask] == GOLD[~FOUND.mask]).mean() > 0.7
    for labels, row, mask in zip(FOUND.labels(), GIVEN, FOUND.mask, strict=True):
        assert labels == [NAMES[c] for c in np.flatnonzero(row & mask)]
    lines = FOUND.summary().splitlines()
    assert lines[0].split() == ["class", "labels", "kept", "share", "suggested", "besides"]
    assert lines[1].split()[:2] == ["art", str(GIVEN[:, 0].sum())]


def test_matrices_and_frames():
    pandas = pytest.importorskip("pandas")
    matrix = GIVEN.astype(int)
    for labels, more in (
        (matrix, {"classes": NAMES}),
        (pandas.DataFrame(matrix, columns=NAMES), {}),
        ([set(row) for row in LISTS], {}),
    ):
        found = select_multilabel(TEXTS, labels, encoder=None, **more)
        assert found.classes == NAMES
        np.testing.assert_array_equal(found.mask, FOUND.mask)
    assert select_multilabel(TEXTS, matrix, encoder=None).classes == [0, 1, 2]


def test_what_is_not_known():
    for unknown in (-1, np.nan):
        matrix = GIVEN.astype(float)
        matrix[::6, 1] = unknown
        found = select_multilabel(TEXTS, matrix, encoder=None)
        assert not found.known[::6, 1].any()
        assert not found.mask[::6, 1].any()
        assert np.isnan(found.confidence[::6, 1]).all()
        assert not set(found.kept) & set(range(0, N, 6))
        np.testing.assert_array_equal(found.mask[:, 0], FOUND.mask[:, 0])
        rows = (found.known & ~found.mask).any(axis=1)
        np.testing.assert_array_equal(found.rejected, np.flatnonzero(rows))


def test_a_class_of_all_texts_is_not_judged():
    matrix = np.column_stack([GIVEN[:, 0], np.ones(N), np.zeros(N)])
    found = select_multilabel(TEXTS, matrix, encoder=None)
    assert list(found.selections) == [0]
    assert found.mask[:, 1:].all()
    with pytest.raises(LopsError, match="each of the 2 classes is given to all texts or to none"):
        select_multilabel(TEXTS, matrix[:, 1:])


def test_vectors():
    vectors = np.random.default_rng(0).normal(size=(N, 6)) + 4 * GOLD @ np.eye(3, 6)
    found = select_multilabel(None, LISTS, embeddings=vectors)
    wrong = GIVEN != GOLD
    assert wrong[found.mask].mean() < wrong.mean() / 4


@pytest.mark.parametrize(
    ("labels", "more", "message"),
    [
        (["art"] * N, {}, "the labels at position 0 are 'art'; wanted a list of class names"),
        (LISTS, {"classes": ["art", "law"]}, "labels hold 'sport', which is not among the classes"),
        (GIVEN * 2, {}, "labels hold 2; wanted 0 or 1"),
        (GIVEN, {"classes": ["art"]}, "found 1 classes and 3 columns of labels"),
        (np.full((N, 2), "a"), {}, "labels hold something else than 0, 1"),
        (LISTS[:9], {}, "found 180 texts and 9 rows of labels"),
        (LISTS, {"pred_probs": GIVEN}, "pred_probs is for one label per text; leave it out"),
    ],
)
def test_bad_input(labels, more, message):
    with pytest.raises(LopsError, match=message):
        select_multilabel(TEXTS, labels, **more)
