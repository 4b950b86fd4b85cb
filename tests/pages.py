"""Runs a page of the docs as a reader would: its Python blocks and commands, from top to bottom."""

import contextlib
import importlib
import io
import re
import shlex
from pathlib import Path

from lops_adapters.cli.main import main

DOCS = Path(__file__).parents[1] / "docs"
NUMBER = re.compile(r"\d[\d,]*\.?\d*")


class Page:
    """What a page shows, and what it does when it is run in the current folder.

    Attributes:
        names: variables after the last Python block.
        values: code of a line with a comment -> its value.
        outputs: pairs of what a ``text`` block shows and what the block above it prints.
        printed: all that is printed.

    """

    def __init__(self, name):
        self.text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        self.names, self.values, self.outputs, self.printed = {}, {}, [], ""

    def run(self):
        """Run the page; returns itself."""
        printed = ""
        blocks = re.findall(r"^```(python|sh|text)\n(.*?)^```", self.text, re.DOTALL | re.MULTILINE)
        for kind, block in blocks:
            if kind == "text":
                self.outputs.append((block, printed))
                continue
            with contextlib.redirect_stdout(io.StringIO()) as out:
                self._python(block) if kind == "python" else self._commands(block)
            printed = out.getvalue()
            self.printed += printed
        return self

    def _python(self, block):
        exec(compile(block, "page", "exec"), self.names)
        for line in block.splitlines():
            code, _, comment = line.partition("  # ")
            if comment and line[0].isalpha() and " = " not in code:
                self.values[code.strip()] = eval(code, self.names)

    def _commands(self, block):
        for line in command_lines(block):
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if words[0] == "lops":
                assert main([*words[1:], "--quiet"]) == 0
            elif words[:2] == ["python", "-m"]:
                module = importlib.import_module(f"{words[2]}.__main__")
                assert module.main([*words[3:], "--quiet"]) == 0
            else:
                raise AssertionError(line)


def command_lines(block):
    """The lines of a shell block; a backslash at the end of a line goes on in the next one."""
    return re.sub(r" *\\\n *", " ", block).splitlines()


def differences(shown, printed):
    """Return the lines that are shown and not printed; numbers may differ by 2, or 5 %."""
    lines = printed.splitlines()
    return [line for line in shown.splitlines() if not any(_alike(line, other) for other in lines)]


def _alike(line, other):
    if NUMBER.sub("0", line).split() != NUMBER.sub("0", other).split():
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other), strict=True)
    values = [[float(one.replace(",", "")) for one in pair] for pair in pairs]
    return all(abs(a - b) <= max(2, abs(a) / 20) for a, b in values)
