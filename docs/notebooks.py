"""Turns tutorials into Jupyter notebooks: ``python docs/notebooks.py [FOLDER]``.

Text becomes Markdown cells, Python blocks and commands become code cells. Links to other pages
become plain text.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TUTORIALS = ("clean-table", "sources", "llm-labels", "own-texts")
_LINK = re.compile(r"\[([^\]]+)\]\((?!http)[^)]+\)")
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def notebook(text: str) -> dict[str, Any]:
    """Return a page as a notebook, in nbformat 4.5 without outputs.

    >>> cells = notebook("Look:\\n```sh\\nlops demo\\n```\\n")["cells"]
    >>> [cell["source"] for cell in cells]
    ['Look:', '!lops demo']
    """
    cells = []
    parts = _BLOCK.split(text)
    for number, part in enumerate(parts):
        kind = ("markdown", "language", "code")[number % 3]
        if kind == "language" or not part.strip():
            continue
        source = part.strip()
        if kind == "markdown":
            source = _LINK.sub(r"\1", source)
        elif parts[number - 1] == "sh":
            source = re.sub(r"^(?=\w)", "!", source, flags=re.MULTILINE)
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        cells.append({**cell, "source": source})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def write(folder: Path) -> None:
    """Write the notebook of each tutorial into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TUTORIALS:
        page = notebook((HERE / f"{name}.md").read_text(encoding="utf-8"))
        (folder / f"{name}.ipynb").write_text(json.dumps(page, indent=1), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
