"""Bad input through the command: one clear line on standard error, exit status 2, before any long
work; odd input that works.
"""

import json

import pytest

from lops_adapters.report.framework_page import arm_table

from ..framework_checks import assert_refused, metrics_of
from ..framework_tools import read_rows, write_folder
from .toys import ARMS, SEEDS, documents

TEXTS, LABELS = documents()


REFUSED = {
    "--max-tokens 65": ["--max-tokens is 65;", " 8 to 64"],
    "--match-threshold 6": "--match-threshold is 6; wanted 0 to 5",
    "--arms standard,lops-refresh --every 10": "every is 10, and the probe makes 6 updates on the "
    "24 documents of a refresh",
}


@pytest.mark.parametrize("more", REFUSED)
def test_options_that_cannot_work(refuse, good, more):
    refuse(good, more, REFUSED[more])


def test_what_the_rows_show_leaves_no_run_folder(run, data, tmp_path):
    assert_refused(
        run(data, "--every", "1000"),
        "every is 1000, and the probe makes ",
        " rows; wanted a smaller number, or epoch",
    )
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", 'these are no class names; wanted {"class": "name", ...} or {"class": ["'),
        ('{"law": ["--"]}', "class 'law' has no name with a word in it (found ['--'])"),
    ],
)
def test_names_files_that_cannot_work(refuse, data, tmp_path, content, words):
    path = tmp_path / "names.json"
    path.write_text(content, encoding="utf-8")
    refuse(data, ["--supervision", "names", "--names", path], words)


def test_a_class_name_that_is_nowhere(refuse, tmp_path):
    labels = [*LABELS[:-1], "opera"]
    refuse(write_folder(tmp_path / "data", TEXTS, labels, None), "", "(opera: opera)")


def test_stages_in_the_printed_table(finished):
    out = arm_table(finished.metrics)
    rows = [line.split("  ")[0] for line in out.splitlines() if " %" in line]
    assert rows == [arm for arm in ARMS for _ in range(2)]
    assert out.count("masked category prediction") == out.count("self-training") == 3


@pytest.mark.slow
def test_names_from_a_file_and_odd_data(run, tmp_path):
    """Documents that are empty, of marks, in other scripts, hostile; names of several words, in
    parts, that need quotes.
    """
    odd = [
        "", "...", "zyzzyva quux", "\u65e5\u672c\u8a9e \u2603", "word " * 300,
        "<script>alert(1)</script>", "[MASK] [CLS] \x00 law",
    ]  # fmt: skip
    classes = {"arts": "fine_arts", "law": "<law>", "sport": 'sport, "games"'}
    labels = [*(classes[label] for label in LABELS), *["<law>"] * 7]
    (tmp_path / "names.json").write_text(json.dumps({'sport, "games"': ["sport", "match"]}))
    texts = [
        text.replace("arts", "fine-arts") if number % 2 else text
        for number, text in enumerate(TEXTS)
    ]
    data = write_folder(tmp_path / "data", [*texts, *odd], labels)
    options = "--min-rows 1 --match-threshold 1 --arms standard"
    status, out, err = run(data, "--names", tmp_path / "names.json", options)
    assert status == 0, err
    assert "97 documents" in out
    metrics = metrics_of(tmp_path / "run")
    assert metrics["classes"] == sorted(classes.values())
    assert set(metrics["name_sources"].values()) == {"corpus"}
    assert len(read_rows(tmp_path / "run" / "standard" / "predictions.csv")) == 97


def test_no_gold_labels_and_keywords(run, tmp_path):
    folder = write_folder(tmp_path / "data", TEXTS, None, SEEDS)
    status, out, err = run(folder, "--arms standard --supervision keywords --min-rows 1")
    assert status == 0, err
    line = next(line for line in out.splitlines() if line.startswith("standard"))
    assert "-" not in line.split()  # no columns of what only gold labels tell
    assert "noise" not in out
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "rows (a document and one class that it indicates)" in page
