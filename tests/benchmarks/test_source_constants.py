"""The page of constants and ranges that are chosen on other families of tables."""

import pytest

from benchmarks.pages import common
from benchmarks.pages import source_constants as page
from benchmarks.source_constants import ABOVE, BELOW, CONSTANTS

from .stored import about, write_result

EVERY = [f"{name} {value:g}" for name, (_, values) in CONSTANTS.items() for value in values]


def stored(results, name, accuracies, ranges):
    """Write the result of a table: accuracies by setting, 0.5 elsewhere; ranges of one kind."""
    of_settings = {"": 0.6, **dict.fromkeys(EVERY, 0.5), **accuracies}
    result = {"accuracies": of_settings, "ranges": ranges}
    write_result(results / "source-constants" / f"{name}.json", result, about(name))


def ranges_of(kind, sources, inside):
    """Ranges as wide as their factors; ``inside`` tells how many sources a pair of these holds."""
    return [
        {"kind": kind, "below": below, "above": above, "sources": sources,
         "inside": inside(below, above), "width": below + above}
        for below in BELOW for above in ABOVE
    ]  # fmt: skip


def test_a_family_does_not_choose_its_own_constants(results):
    """Two tables of one family and two others: ANCHOR 1 is better in the family only.

    It is 0.9 there and 0.5 in the others, today's 0.6 everywhere. For each of the others, the mean
    of the family and the other one prefers it: (0.9 + 0.5) / 2 > 0.6. For the family, the others
    prefer today's. So left out it gives (0.6 + 0.5 + 0.5) / 3.
    """
    assert page.constants() is common.HOLE
    assert page.ranges() is common.HOLE
    for name in ("stance-llms", "emotion-llms"):
        stored(results, name, {"ANCHOR 1": 0.9}, [])
    for name in ("yelp-rules", "sms-rules"):
        stored(results, name, {}, [])
    shown = page.constants().text
    assert "| `ANCHOR` | 3 | 1, 10 | 2 of 3 | 60.00 | 53.33 |" in shown
    assert "| `POOLED` | 20 | 8, 50 | 0 of 3 | 60.00 | 60.00 |" in shown
    assert "| any |  | one of these | 2 of 3 | 60.00 | 53.33 |" in shown
    assert "commits" in shown.lower()


def test_a_family_does_not_choose_its_own_ranges(results):
    """Of 10 rules, one table holds 9 from 0.5 below, the other 9 from 0.8 below."""
    for name, least in (("yelp-rules", 0.5), ("sms-rules", 0.8)):
        rows = ranges_of("one class", 10, lambda below, above, at=least: 9 if below >= at else 3)
        rows += ranges_of("several classes", 4, lambda below, above: 4)
        stored(results, name, {}, rows)
    lines = page.ranges().text.splitlines()
    assert "| sms-rules | one class | 0.5 | 0.1 | 30 | 30 | 1.00 |" in lines
    assert "| yelp-rules | one class | 0.8 | 0.1 | 90 | 30 | 1.00 |" in lines
    assert "| mean of families, one class | one class | 0.4 | 0.6 | 60 | 30 | 1.00 |" in lines
    assert len(lines) == 5  # the other kind has too few sources


def test_families_count_the_same():
    values = {"stance-llms": 0.0, "emotion-llms": 0.2, "yelp-rules": 1.0}
    assert page.over_families(values, values.get) == pytest.approx((0.1 + 1.0) / 2)
    assert page.others(list(values), "llms") == ["yelp-rules"]
