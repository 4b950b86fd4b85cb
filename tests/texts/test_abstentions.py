"""Labels that are no class, in Python."""

from functools import partial

import numpy as np
import pytest

import lops_adapters
from lops_adapters.core import LopsError

from ..noisy import noisy_texts

TEXTS, LABELS, GOLD = noisy_texts(n=150, k=3)
AT = np.arange(1, 150, 5)
OTHERS = np.setdiff1d(np.arange(150), AT)
select = partial(lops_adapters.select, encoder=None)


@pytest.fixture(scope="module")
def expected():
    """The selection among the rows with a label."""
    return select([TEXTS[i] for i in OTHERS], [LABELS[i] for i in OTHERS])


def changed(value, labels=LABELS):
    return [value if i in AT else label for i, label in enumerate(labels)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "more"),
    [
        (changed(None), {}),
        (changed(float("nan")), {}),
        (changed(" "), {}),
        (changed("?"), {"abstain": "?"}),
        (changed("?"), {"abstain": ["skip", "?"]}),
        (changed(-1, [int(label[-1]) for label in LABELS]), {}),
        (np.array(changed(-1, [int(label[-1]) for label in LABELS])), {}),
        (changed(-1.0, [float(label[-1]) for label in LABELS]), {}),
        (changed("-1", [label[-1] for label in LABELS]), {}),
    ],
)
def test_they_are_neither_kept_nor_rejected(labels, more, expected):
    found = select(TEXTS, labels, **more)
    np.testing.assert_array_equal(found.abstained, AT)
    np.testing.assert_array_equal(found.kept, OTHERS[expected.kept])
    np.testing.assert_array_equal(found.rejected, OTHERS[expected.rejected])
    np.testing.assert_array_equal(found.confidence[OTHERS], expected.confidence)
    assert np.isnan(found.confidence[AT]).all()
    gold = [GOLD[i] for i in AT.tolist()]
    said = [str(label).removesuffix(".0")[-1:] for label in found.suggested[AT]]
    right = [label == name[-1:] for label, name in zip(said, gold, strict=True)]
    assert np.mean(right) > 0.9
    assert len(found.per_class) == 3
    assert any(
        said.startswith(
            "Without a label: 30 rows (positions 1, 6, 11, 16, 21 and 25 more), neither"
        )
        for said in found.why
    )
    assert found.summary().splitlines()[-1].split()[:2] == ["all", "120"]
    assert sum(rows for *_, rows in found.corrections()) == sum(
        rows for *_, rows in expected.corrections()
    )


def test_the_page_and_the_frame():
    found = select(TEXTS, changed(None))
    page = found.page(gold=GOLD, ids=[f"id {i}" for i in range(150)])
    assert (page.counts.n_rows, page.counts.n_abstained, page.counts.n_gold) == (120, 30, 120)
    assert {row.row for row in page.rows.suspects} <= set((OTHERS + 1).tolist())
    for row in page.rows.suspects:
        assert row.id == f"id {row.row - 1}"
        assert row.text == TEXTS[row.row - 1]
    frame = found.to_frame()
    assert len(frame) == 150
    assert frame.lops_confidence.isna().tolist() == [i in AT for i in range(150)]
    assert not frame.lops_suggested.isna().any()


def test_vectors_without_a_label():
    vectors = (
        np.random.default_rng(0).normal(size=(150, 4))
        + 3 * np.eye(4)[[int(label[-1]) for label in GOLD]]
    )
    found = lops_adapters.select(None, changed(None), embeddings=vectors)
    plain = lops_adapters.select(None, [LABELS[i] for i in OTHERS], embeddings=vectors[OTHERS])
    np.testing.assert_array_equal(found.kept, OTHERS[plain.kept])


def test_what_is_no_label():
    with pytest.raises(LopsError, match="wanted a label that is no class, or a list of them"):
        select(TEXTS, LABELS, abstain=[["a"]])


def test_copies_are_reported():
    texts, labels = [*TEXTS, TEXTS[0], TEXTS[2], " "], [*LABELS, LABELS[0], "class 9", "class 0"]
    texts, labels = [*texts, *(["another one"] * 2), None], [*labels, *["class 9"] * 3]
    why = select(texts, labels).why
    assert any(
        said.startswith("Same text and same label as an earlier row: 2 rows") for said in why
    )
    assert (
        "Same text as an earlier row, but another label: 1 row (position 151). At most one of the "
        "labels is right." in why
    )
    assert "Empty text: 2 rows (positions 152, 155). These labels cannot be checked." in why


def test_the_settings_are_the_arguments():
    settings = select(TEXTS, changed(None), method="learning-order", keep=0.5, every=3).settings
    assert (settings["every"], settings["keep"]) == (3, 0.5)
