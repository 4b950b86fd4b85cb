"""``--escape-formulas``: no cell of any file that is written begins like a formula."""

import csv

import pytest

from lops_adapters.cli import select as command
from lops_adapters.formats.cells import cell_texts

from ..noisy import noisy_rows, write_table

pytestmark = pytest.mark.usefixtures("here")
NAMES = {"class 0": "=SUM(A1)", "class 1": "@b"}


def cells(folder):
    """Return every cell of every CSV file, headers included."""
    found = []
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            found += [cell for row in csv.reader(file) for cell in row]
    return found


def test_every_cell_of_every_file(here):
    rows = [[nr, f"={text}", NAMES[weak], NAMES[true]] for nr, text, weak, true in noisy_rows()]
    rows += rows[:2]  # near-duplicates
    header = ["+nr", "-text", "=rule", "@llm"]
    write_table(here / "a.csv", rows, header)
    options = ["--text=-text", "--labels==rule,@llm", "--encoder", "none", "--quiet"]
    assert command.main(["a.csv", *options, "--escape-formulas"]) == 0
    written = {path.name for path in (here / "a-lops").glob("*.csv")}
    assert {"kept.csv", "to_check.csv", "sources.csv", "duplicates.csv"} <= written
    found = cells(here / "a-lops")
    assert not [cell for cell in found if cell.startswith(("=", "+", "-", "@"))]
    assert {"'+nr", "'=rule", "'@llm", "'=SUM(A1)", "'@b"} <= set(found)
    assert command.main(["a.csv", *options, "--force"]) == 0
    assert {"+nr", "=rule", "@llm", "=SUM(A1)", "@b"} <= set(cells(here / "a-lops"))


def test_a_formula_inside_a_cell_stays():
    """As SECURITY.md says: only a spreadsheet with another list separator splits the cell."""
    assert cell_texts(["a;=1+1", "=a"], escape=True) == ["a;=1+1", "'=a"]
