"""What the committee decides where classes are small, members cannot tell, or a table is large."""

import numpy as np
import pytest

from lops_adapters.labels.labelled import Labelled
from lops_adapters.labels.votes import Votes
from lops_adapters.selection.committee import posterior
from lops_adapters.selection.committee.calibration import diagnose

from .test_committee import CODES, LABELS, SAMPLES, By, Stub, stubs

IGNORANT = np.random.default_rng(0).dirichlet(np.ones(3), 60)
NO_CLASS = dict.fromkeys(range(0, 45, 3))  # of the first class, all but five rows


@pytest.mark.parametrize("with_votes", [True, False])
def test_checked_rows_tell_where_members_cannot(with_votes):
    """Fifteen rows of the first class fit no class: so its other five are rejected, too."""
    given = {}
    if with_votes:
        votes = np.column_stack([CODES, np.where(CODES < 2, CODES, -1)])
        given["votes"] = Votes(["one", "two"], sorted(set(LABELS)), votes)
    members, mine = [Stub("ignorant", IGNORANT)], CODES[45:] == 0
    assert By(members)(Labelled.of(SAMPLES, LABELS, **given)).mask.all()
    checked = By(members)(Labelled.of(SAMPLES, LABELS, **given, checked=NO_CLASS))
    assert not checked.mask[45:][mine].any()
    assert checked.mask[45:][~mine].any()


def test_a_small_class_is_kept_whole_whatever_members_say():
    """Of equal shares per class, too: both rows of the class are, though nobody believes one."""
    labels = ["rare", "rare", *LABELS[2:]]
    codes = np.array([3, 3, *CODES[2:]])
    members = stubs(codes, 4, 0.8, 0.7)
    for member in members:
        member.probabilities[0] = [0.97, 0.01, 0.01, 0.01]
    by = By(members, per_class=True, sure=0.9, score_unseen=True)
    outcome = by.outcome(Labelled.of(SAMPLES, labels))
    assert outcome.mask[:2].all()
    of_others = outcome.mask[2:]
    assert 0 < of_others.sum() < 58
    assert outcome.fitted.least[3] <= outcome.confidence[:2].min()
    for code in range(3):
        own = codes == code
        assert outcome.fitted.least[code] == outcome.confidence[own & outcome.mask].min()


def test_the_size_of_a_table_counts_of_which_some_rows_are_looked_at(monkeypatch):
    rng = np.random.default_rng(0)
    likely, codes = rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300)
    choices = [likely.argmax(axis=1), np.roll(likely.argmax(axis=1), 1)]
    monkeypatch.setattr(posterior, "_MOST", 60)
    assert diagnose(choices, likely, codes).rows == pytest.approx(np.log(300 / 3))


def test_the_rows_that_are_looked_at_do_not_depend_on_their_order(monkeypatch):
    monkeypatch.setattr(posterior, "_MOST", 60)
    rng = np.random.default_rng(0)
    likely = rng.dirichlet(np.ones(3), 300)
    order = rng.permutation(300)
    some, moved = posterior.some(likely), posterior.some(likely[order])
    assert len(some) == 60
    assert set(order[moved]) == set(some)
