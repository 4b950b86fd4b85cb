"""What a user reads where the library of an integration is not installed."""

import sys

import numpy as np
import pytest

from lops_adapters import LopsError
from lops_adapters.integrations import argilla, cleanlab, small_text, snorkel

CALLS = {
    "argilla": lambda: argilla.add_suggestions(None),
    "cleanlab": lambda: cleanlab.add_issues(None, None),
    "small_text": lambda: small_text.select_dataset(None),
    "snorkel": lambda: snorkel.label_model(np.zeros((9, 3), dtype=int), ["a", "b"]),
}


@pytest.mark.parametrize("library", CALLS)
def test_the_extra_is_named(library, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    extra = library.replace("_", "-")
    with pytest.raises(
        LopsError, match=rf"not installed; run: pip install .lops_adapters\[{extra}\]"
    ):
        CALLS[library]()
