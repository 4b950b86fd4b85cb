"""docs/sources.md, from rules to labels: all its code runs, and what it prints and says is so."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from lops_adapters.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^lops (.*)$", PAGE, re.MULTILINE)
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SOURCE = re.compile(r"^(\w+) +(\d+) votes, (\d+)% right \((\d+)% to (\d+)%\)$", re.MULTILINE)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The names of the page, what it prints, and the values of its last lines with a comment."""
    names, values, printed = {}, {}, io.StringIO()
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(printed):
        names["folder"] = tmp_path_factory.mktemp("page")
        patched.chdir(names["folder"])
        for block in BLOCKS:
            exec(compile(block, "sources.md", "exec"), names)
            for line in block.splitlines():
                code, _, comment = line.partition("  # ")
                if comment and line[0].isalpha() and " = " not in code:
                    values[code.strip()] = eval(code, names)
    return names, values, printed.getvalue()


def test_what_it_prints(ran):
    shown, printed = SOURCE.findall(PAGE), SOURCE.findall(ran[2])
    assert len(shown) == 5
    assert [row[:2] for row in shown] == [row[:2] for row in printed]
    for row, found in zip(shown, printed, strict=True):
        assert [int(one) for one in row[2:]] == pytest.approx(
            [int(one) for one in found[2:]], abs=2
        )


def test_what_it_says(ran):
    names, values, _ = ran
    assert values["selection.labels[1]"] == "sports"
    assert values["selection.sources[4].error[:2]"] == ("politics", "sports")
    assert names["good"] == [rule for name, rule in names["rules"].items() if name != "quoted"]
    assert None not in list(names["selection"].suggested)
    assert None in names["selection"].labels
    gold, labels = names["gold"], names["selection"].labels
    kept = names["kept"].tolist()
    assert sum(gold[i] == labels[i] for i in kept) / len(kept) > 0.8  # the votes: 0.70


def test_the_classifier_reads(ran):
    (said,) = [value for code, value in ran[1].items() if code.startswith("classifier.predict")]
    assert said.tolist() == ["sports"]


def test_the_commands_say_the_same(ran, capsys, monkeypatch):
    names, _, printed = ran
    monkeypatch.chdir(names["folder"])
    assert len(COMMANDS) == 2
    said = []
    for command in COMMANDS:
        assert main([*shlex.split(command), "--quiet", "--force"]) == 0
        said.append(capsys.readouterr().out)
    accuracy = int(SOURCE.findall(printed)[4][2])
    (shown,) = re.findall(r"^quoted +174 +[\d.]+ % +([\d.]+) %", said[0], re.MULTILINE)
    assert float(shown) == pytest.approx(accuracy, abs=1)
    assert not re.search("^quoted", said[1], re.MULTILINE)


def test_the_page_is_short():
    assert len(PAGE.splitlines()) <= 150
