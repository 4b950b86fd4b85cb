"""SECURITY.md names the test that holds each claim."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
_NAME = re.compile(r"`(?:([\w/]+\.py)::)?(test_\w+)`")


def test_the_tests_exist():
    """A name without a file is in the file before it."""
    path, tests, found = "", {}, 0
    for file, name in _NAME.findall(PAGE):
        path = file or path
        if path not in tests:
            text = (ROOT / "tests" / path).read_text(encoding="utf-8")
            tests[path] = set(re.findall(r"^def (\w+)", text, re.M))
        assert name in tests[path]
        found += 1
    assert found > 30


def test_every_claim_names_a_test():
    """But those about what the user has to trust, and the way to report a problem."""
    _, _, body = PAGE.partition("## What is trusted")
    parts = re.split(r"\n(?=[-|] ?)|\n\n", body)
    claims = [part for part in parts if re.match(r"[-|] (?!input)", part)]
    free = ("run folders and saved", "other tables and texts", "A cluster of your own")
    without = [one for one in claims if not _NAME.search(one) and not one[2:].startswith(free)]
    assert len(claims) > 20
    assert without == []
