"""Nothing but texts and the words of the classes: from a folder to a prediction for every text."""

import csv
import json
import re

import pytest

from lops_adapters.datasets import load_dataset as load

from ..framework_checks import assert_refused
from ..framework_tools import read_rows


@pytest.fixture
def folder(stand, tmp_path):
    """A folder with one table of one column."""
    path = tmp_path / "mine"
    path.mkdir()
    texts, _ = stand.case.toys.documents(stand.case.documents[1])
    with (path / "texts.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text"], *([text] for text in texts)])
    return path


@pytest.mark.parametrize("case", ["self_training", "xclass"], indirect=True)
def test_texts_and_words_are_enough(stand, folder, tmp_path):
    """With seed words, or with names; all others run without gold labels in test_gold.py."""
    toys, words = stand.case.toys, stand.framework.words
    names = {label: label.split("_") for label in toys.CLASSES}
    content = names if words == "names.json" else toys.SEEDS
    (folder / words).write_text(json.dumps(content), encoding="utf-8")
    status, _, err = stand.command(tmp_path / "run", "--arms", "standard", data=folder)
    assert status == 0, err
    rows = read_rows(tmp_path / "run" / "standard" / "predictions.csv")
    assert [row["id"] for row in rows] == [str(i) for i in range(stand.case.documents[1])]
    assert {row["predicted"] for row in rows} <= {*toys.CLASSES}


@pytest.mark.usefixtures("no_work")
def test_without_words_the_error_holds_the_file_to_write(stand, folder, tmp_path):
    outcome = stand.command(tmp_path / "run", "--arms", "standard", data=folder)
    words = stand.framework.words
    assert_refused(outcome, "mine has 0 classes; wanted at least two: write " + words)
    assert ("--names business,sports" in outcome.err) == (words == "names.json")
    content = json.loads(re.search(r"\{.*\}", outcome.err)[0])
    assert [*content] == ["business", "sports"]
    assert not (tmp_path / "run").exists()
    (folder / words).write_text(json.dumps(content), encoding="utf-8")
    assert load(folder).corpus.classes == ("business", "sports")
