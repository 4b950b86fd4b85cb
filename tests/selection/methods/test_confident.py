"""Confident learning through cleanlab."""

import sys

import numpy as np
import pytest

from lops_adapters.core import LopsError
from lops_adapters.selection import build
from lops_adapters.selection.committee.folds import Folded, predict_held_out

from ..stand_in import Told, world

SAMPLES, LABELS, _, TABLE = world()
CODES = np.array([int(label[-1]) for label in LABELS])


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ("cleanlab", "which is not installed"),
        ("cleanlab.filter", r"which cannot be imported \(.*cleanlab\.filter.*\)"),
    ],
)
def test_not_installed(monkeypatch, missing, why):
    if missing == "cleanlab.filter":
        pytest.importorskip("cleanlab")
    for name in [
        name for name in sys.modules if name.startswith("cleanlab.")
    ]:  # of tests that ran before
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        LopsError, match=rf"needs cleanlab, {why}; run: pip install 'lops_adapters\[cleanlab\]'"
    ):
        build("confident-learning", Told(TABLE))


def test_keeps_what_cleanlab_does_not_flag():
    cleanlab = pytest.importorskip("cleanlab.filter")
    looks = predict_held_out(Told(TABLE), Folded(SAMPLES, CODES, range(3), 5))
    probabilities = looks[max(looks)].astype(np.float64)
    flagged = cleanlab.find_label_issues(CODES, probabilities, n_jobs=1)
    selection = build("confident-learning", Told(TABLE))(SAMPLES, LABELS)
    np.testing.assert_array_equal(selection.rejected, np.flatnonzero(flagged))
    assert 0 < flagged.sum() < 60
    even = build("confident-learning", Told(TABLE), per_class=True)(SAMPLES, LABELS)
    assert len(even.kept) == len(selection.kept)
    kept = [report.kept / report.count for report in even.per_class.values()]
    assert max(kept) - min(kept) < 0.05
    np.testing.assert_allclose(selection.confidence, probabilities[np.arange(90), CODES])


def test_n_by_label_quality():
    pytest.importorskip("cleanlab.filter")
    probe = Told(TABLE)
    selection = build("confident-learning", probe, n=20, folds=3)(SAMPLES, LABELS)
    quality = np.array(
        [TABLE[sample][-1][code] for sample, code in zip(SAMPLES, CODES, strict=True)]
    )
    assert set(selection.kept) == set(np.argsort(-quality)[:20])
    assert len(probe.trained_on) == 3
