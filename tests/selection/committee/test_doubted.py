"""Where texts hardly tell many classes apart, more labels are doubted than can be rejected."""

import numpy as np
import pytest

from lops_adapters import select
from lops_adapters.core import LopsWarning
from lops_adapters.selection.committee.belief import MOST_DOUBTED
from lops_adapters.selection.committee.committee import FEW_REJECTED

CLASSES, ROWS = 17, 800


@pytest.fixture(scope="module")
def table():
    """Texts of two words of their class and ten of all; a tenth of the labels is wrong."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, CLASSES, ROWS)
    texts = [
        " ".join(f"w{word}" for word in [*(100 + 120 * c + own), *shared])
        for c, own, shared in zip(
            gold, rng.integers(0, 120, (ROWS, 2)), rng.integers(0, 100, (ROWS, 10)), strict=True
        )
    ]
    labels = np.where(rng.random(ROWS) < 0.1, rng.integers(0, CLASSES, ROWS), gold)
    return texts, labels.tolist(), gold.tolist()


def test_few_are_rejected_and_a_warning_says_why(table):
    texts, labels, _ = table
    with pytest.warns(LopsWarning, match="more labels are in doubt .* check ten rows"):
        found = select(texts, labels, encoder=None)
    doubted = np.array(found.confidence) < 0.5
    assert doubted.mean() > MOST_DOUBTED
    changed = np.array(found.suggested) != np.array(labels)
    assert (~found.mask).sum() == changed.sum() < 0.1 * ROWS
    assert found.confidence[~found.mask].max(initial=0) <= found.confidence[found.mask].min()
    assert found.noise is None
    assert {report.why for report in found.per_class.values()} == {FEW_REJECTED}


def test_ten_checked_rows_decide(table):
    texts, labels, gold = table
    rows = range(0, ROWS, ROWS // 10)
    found = select(texts, labels, encoder=None, checked={row: gold[row] for row in rows})
    assert found.noise.total.checked == len(rows)
    assert {report.why for report in found.per_class.values()} != {FEW_REJECTED}


def test_a_checked_row_decides_too(table):
    texts, labels, gold = table
    found = select(texts, labels, encoder=None, checked={0: gold[0]})
    assert found.noise.total.checked == 1


def test_labels_that_say_nothing_have_a_warning_of_their_own(table):
    texts, labels, _ = table
    drawn = np.random.default_rng(1).permutation(labels).tolist()
    with pytest.warns(LopsWarning, match="hardly more than by guessing") as caught:
        found = select(texts, drawn, encoder=None)
    assert found.mask.all()
    assert len(caught) == 1


def test_a_threshold_of_the_user_counts(table):
    texts, labels, _ = table
    found = select(texts, labels, encoder=None, sure=0.4)  # an error, if it warned
    assert (found.mask == (found.confidence >= 0.4)).all()


def test_the_automatic_choice_suggests_what_the_probe_prefers(table):
    """Also where the label is kept."""
    texts, labels, _ = table
    with pytest.warns(LopsWarning, match="hardly more than by guessing"):
        found = select(texts, labels, "automatic")
    assert found.mask.all()
    assert (found.suggested != np.array(labels)).mean() > 0.5
