"""Exclusive String-Match, rule by rule."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters.core import LopsError
from lops_adapters.pseudo_labels import exclusive_string_match


def labelled(texts, seeds, **options):
    result = exclusive_string_match(texts, seeds, **options)
    return dict(zip(result.positions.tolist(), result.labels.tolist(), strict=True))


def test_a_seed_of_two_classes_labels_nothing():
    result = exclusive_string_match(["gun", "war"], {"talk": ["gun", "war"], "other": ["gun"]})
    assert result.labels.tolist() == ["talk"]
    assert result.unmatched_seeds == {}
    assert result.empty_classes == ("other",)


def test_score_counts_the_places_of_every_seed():
    result = exclusive_string_match(["car cars bike"], {"rec": ["car", "cars", "bike", "boat"]})
    assert result.scores.tolist() == [4.0]
    assert result.unmatched_seeds == {"rec": ("boat",)}


def test_a_seed_named_twice_counts_once():
    assert exclusive_string_match(["car"], {"rec": ["car", "car"]}).scores.tolist() == [1.0]


def test_a_broken_expression_is_named():
    with pytest.raises(
        LopsError, match=r"seed word '\(car' is no regular expression .*regex=False"
    ):
        exclusive_string_match(["car"], {"rec": ["(car"]}, regex=True)
    assert labelled(["a (car"], {"rec": ["(car"]}) == {0: "rec"}


def test_an_expression_that_matches_everything_is_refused():
    with pytest.raises(LopsError, match=r"seed word 'x\*' matches the empty string"):
        exclusive_string_match(["car"], {"rec": ["x*"]}, regex=True)


def test_inputs_are_checked():
    with pytest.raises(LopsError, match="document 0 is 1"):
        exclusive_string_match([1], {"rec": ["car"]})
    with pytest.raises(LopsError, match="seeds holds no seed word"):
        exclusive_string_match(["car"], {"rec": []})


SEEDS = {"a": ["x.", "y"], "b": ["xy", "Z"]}


@pytest.mark.parametrize("regex", [False, True])
@given(texts=st.lists(st.text("xyzXYZ. "), min_size=1, max_size=5))
def test_it_is_the_alternation_of_each_class_without_the_others(regex, texts):
    alternations = {
        name: "|".join(w if regex else re.escape(w) for w in words) for name, words in SEEDS.items()
    }
    expected = {}
    for row, text in enumerate(texts):
        found = [name for name, expression in alternations.items() if re.search(expression, text)]
        if len(found) == 1:
            expected[row] = found[0]
    assert labelled(iter(texts), SEEDS, regex=regex) == expected
