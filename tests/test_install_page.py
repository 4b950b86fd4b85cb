"""The installation page names every extra, and no other."""

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not (ROOT / "setup.cfg").exists(), reason="this is not a checkout")
def test_every_extra_has_its_row():
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    section = page.partition("\n| extra |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = re.findall(r"`([\w-]+)`", " ".join(rows))
    assert sorted(named) == sorted(settings["options.extras_require"])
