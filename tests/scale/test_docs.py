"""docs/scale.md: its commands are understood, and its options exist."""

import re
import shlex
from pathlib import Path

from lops_adapters.cli.select_options import parser

TEXT = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")


def test_commands():
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    found = [shlex.split(line)[2:] for line in lines if line.startswith("lops select")]
    engines = [parser().parse_args(arguments).engine for arguments in found]
    assert engines == ["process", "ray", "ray", "process"]


def test_options():
    options = parser().format_help()
    for name in set(re.findall(r"`(--[a-z-]+)", TEXT)):
        assert name in options, name
