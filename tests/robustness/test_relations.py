"""Metamorphic relations of :mod:`tests.robustness.relations`: all hold, on every kind of case."""

import pytest

from lops_adapters.core import LopsWarning

from .relations import CLOSE, RELATIONS, applies, cases, difference

QUICK = ("groups", "votes", "vectors")


@pytest.mark.filterwarnings(f"ignore::{LopsWarning.__module__}.{LopsWarning.__name__}")
@pytest.mark.parametrize(
    "kind", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
             for name in cases(0)],
)  # fmt: skip
def test_what_must_not_matter(kind):
    case = cases(0)[kind]
    before, broken = case.select(), []
    for relation in RELATIONS:
        if applies(relation, kind):
            decisions, change = difference(case, relation, before)
            if decisions or change > CLOSE:
                broken.append((relation, decisions, change))
    assert not broken
