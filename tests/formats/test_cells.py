"""Numbers as labels: every spelling is one, in a time that grows with the length alone."""

import re
import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lops_adapters.formats import cells
from lops_adapters.formats.jsonl import _BREAK
from lops_adapters.labels.about import about_several
from lops_adapters.labels.near_names import _folded

PLAIN = re.compile(r"([+-]?)0*([0-9]+)(?:\.([0-9]*?)0*)?")  # the rule; it looks at zeros again


@given(st.text("+-.0019x", max_size=9))
def test_zeros_of_a_number_do_not_count(text):
    number = PLAIN.fullmatch(text)
    expected = text
    if number is not None:
        sign, digits, rest = number.groups()
        expected = f"{sign.strip('+')}{digits}{f'.{rest}' if rest else ''}"
    assert cells.spelling(text) == expected


@pytest.mark.parametrize(
    "work", [cells.spelling, cells.whole, _folded, about_several, partial(_BREAK.sub, " ")]
)
@pytest.mark.parametrize("text", [f"{'0' * 16_000}x", f"1.{'0' * 16_000}x", f"{' ' * 16_000}x"])
def test_a_long_label_takes_no_time(work, text):
    """A pattern that looks at the rest again at each place takes seconds."""
    start = time.process_time()
    work({text: 1} if work is about_several else text)
    assert time.process_time() - start < 0.3
