"""Pages about tables: every command of their blocks runs on tables like theirs."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from lops_adapters.cli.main import main

from ..noisy import noisy_rows, write_table
from ..pages import command_lines

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("../README", "select", "your-file", "layouts", "vectors", "limits", "report", "check")
ROWS = noisy_rows(n=60)
GOLD = [int(row[3][-1]) for row in ROWS]
VECTORS = (np.random.default_rng(0).normal(size=(60, 4)) + 4 * np.eye(4)[GOLD]).round(3)


def commands(page):
    """The commands of a page's shell blocks, without those that ask in a terminal."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in command_lines(block)]
    return [line for line in lines if re.match("lops (?!check)", line)]


FOUND = list(dict.fromkeys(line for page in PAGES for line in commands(page)))


@pytest.fixture(autouse=True)
def tables(here):
    """The tables that the pages speak of, with rows of the tests."""
    texts, labels, gold = ([row[i] for row in ROWS] for i in (1, 2, 3))
    votes = [[3, 1] if label == "class 0" else [0, 2] for label in labels]

    def table(name, header, *columns):
        write_table(here / name, [list(row) for row in zip(*columns, strict=True)], header)

    table("tickets.csv", ["body", "category"], texts, labels)
    for name in ("agnews.csv", "demo.csv"):
        table(name, ["text", "weak", "true"], texts, labels, gold)
    table("rules.csv", ["body", "rule_a", "rule_b", "llm"], texts, gold, labels, labels)
    table("labels.csv", ["body", "gpt", "ann_a", "ann_b"], texts, labels, gold, gold)
    table("images.parquet", ["category", "vector"], labels, VECTORS.tolist())
    table("votes.csv", ["body", "billing", "refunds"], texts, *zip(*votes, strict=True))
    named = [{"billing": a, "refunds": b} for a, b in votes]
    table("votes.jsonl", ["body", "votes"], texts, named)
    np.save("vectors.npy", VECTORS)
    exported = [
        {"id": i, "data": {"text": text}, "annotations": [{"result": [
            {"from_name": "category", "value": {"choices": [label]}}]}]}
        for i, (text, label) in enumerate(zip(texts, labels, strict=True), 1)
    ]  # fmt: skip
    (here / "export.json").write_text(json.dumps(exported))
    (here / "shares.txt").write_text("class 0 40\n")
    (here / "corrections.csv").write_text("row,label\n1,class 1\n2,\n")
    return here


def test_the_pages_have_commands():
    assert len(FOUND) >= 8
    assert any(" --soft-labels " in line for line in FOUND)


@pytest.mark.parametrize("line", FOUND)
def test_it_runs(line, tables, capsys):
    words = shlex.split(line, comments=True)[1:]
    more, result = {
        "select": (["--encoder", "none", "--quiet"], ", report.html\n"),
        "apply": (["--quiet"], "Corrected table: "),
        "agree": (["--quiet"], "Krippendorff's alpha"),
    }[words[0]]
    if words[0] == "apply" and "--label" not in words:
        more = ["--label", "category", *more]
    if "--checked tickets-lops" in line:  # what a person has filled in
        (tables / "tickets-lops").mkdir()
        (tables / "tickets-lops" / "to_check.csv").write_text("row,checked\n1,class 1\n2,-\n")
    assert main([*words, *more]) == 0, capsys.readouterr().err
    assert result in capsys.readouterr().out
    for path in tables.glob("*/summary.json"):
        assert json.loads(path.read_text())["n_rows"] == 60


def test_the_first_example_runs(tables):
    """That of the readme; tests/test_docs_site.py runs the one of the site."""
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(compile(block, "README", "exec"), names)
    assert 0 < len(names["selection"].kept) < 60
    assert (tables / "report.html").exists()


def test_checked_rows_print_the_line_that_the_page_shows(tables, capsys):
    page = (DOCS / "check.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*)\n```", page, re.MULTILINE)
    pattern = re.sub(r"[A-Z]{3,}", "NUMBER", shown.partition(";")[0])
    pattern = re.escape(" ".join(pattern.split())).replace("NUMBER", r"[\d.]+")
    first, second, _ = (line for line in commands("check") if line.startswith("lops select"))
    for line in (first, second):
        assert main([*shlex.split(line, comments=True)[1:], "--quiet", "--encoder", "none"]) == 0
    assert re.search(pattern.replace("10", r"\d+"), " ".join(capsys.readouterr().out.split()))
