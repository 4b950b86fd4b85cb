"""Checkouts to patch: generated ones, and copies of real ones in LOPS_UPSTREAM_DIR."""

import ast
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from lops_adapters.vendoring import upstreams
from lops_adapters.vendoring.patching import blob_id

NAMES = upstreams.names()
SCRIPTS = {"conwea": "", "xclass": "scripts/", "westclass": "", "lotclass": "src/"}


class Hunk(NamedTuple):
    """An insertion of a patch: the original's line before it, and the lines without their ends."""

    line: int
    lines: tuple[bytes, ...]


def hunks_of(upstream):
    """Insertions of an upstream's patch, in the order of the file."""
    header, *blocks = upstream.patch.decode().split("\n@@ -")
    assert header.split("\n+++ b/")[1] == upstream.file
    assert header.count("diff --git ") == 1
    return [
        Hunk(int(block.split(",")[0]), tuple(line[1:].encode() for line in block.splitlines()[1:]))
        for block in blocks
    ]


def skeleton(root, name, line_end="\n"):
    """Write a generated checkout, and return its upstream.

    It has the right paths and line counts, but our own lines and their ids.
    """
    real = upstreams.load(name)
    text = "\n".join(filler(hunks_of(real))) + "\n"
    (root / real.file).parent.mkdir(parents=True, exist_ok=True)
    (root / real.file).write_bytes(text.replace("\n", line_end).encode())
    return replace(real, blob=blob_id(text.encode()))


def filler(hunks):
    """Lines of Python such that each hunk's lines stand in a block of their depth."""
    lines = [f"pass  # {number}" for number in range(1, hunks[-1].line + 40)]
    for hunk in hunks:
        depth = (len(hunk.lines[0]) - len(hunk.lines[0].lstrip())) // 4
        for level in range(depth):
            lines[hunk.line - 1 - depth + level] = "    " * level + f"if {hunk.line}:"
        for number in (hunk.line - 1, hunk.line):
            lines[number] = "    " * depth + lines[number]
    ast.parse("\n".join(lines))
    return lines


def real_checkout(name, tmp_path):
    """Copy the files of a real checkout that are code; skip where there is none."""
    folder = os.environ.get("LOPS_UPSTREAM_DIR")
    if not folder:
        pytest.skip("LOPS_UPSTREAM_DIR names no folder with checkouts, see third_party/README.md")
    source, root = Path(folder) / name, tmp_path / name
    if not source.is_dir():
        pytest.skip(f"{folder} holds no {name}, see third_party/README.md")
    for path in source.rglob("*.py"):
        copy = root / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return root


def contents(root):
    """Path -> bytes of all files of a folder."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def lops(*arguments):
    """Run the command in a process of its own."""
    program = [sys.executable, "-m", "lops_adapters.cli.main", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
