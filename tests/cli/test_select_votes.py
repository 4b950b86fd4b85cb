"""``lops select`` with the labels of several sources."""

import json
import re

import numpy as np
import pytest

from lops_adapters.cli.main import main

from ..noisy import noisy_texts, read_table, write_table

TEXTS, _, GOLD = noisy_texts(n=300, k=3, noise=0.0)
CLASSES = sorted(set(GOLD))
ACCURACIES = {"rule one": 0.9, "rule two": 0.7, "rule three": 0.4, "llm": 0.8}


def cast(gold, accuracy, rng):
    return gold if rng.random() < accuracy else CLASSES[(CLASSES.index(gold) + 1) % 3]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of votes; rows 4 and 10 have none; llm answers in sentences."""
    rng, rows = np.random.default_rng(0), []
    for row, (text, gold) in enumerate(zip(TEXTS, GOLD, strict=True)):
        votes = [
            cast(gold, accuracy, rng) if rng.random() < 0.6 and row not in (3, 9) else ""
            for accuracy in ACCURACIES.values()
        ]
        who = "good" if rng.random() < 0.6 else "bad"
        answer = cast(gold, 0.95 if who == "good" else 0.4, rng)
        answer = f"It is {answer.upper()}." if row % 2 else answer
        rows.append([text, *votes, answer, who, gold])
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    return write_table(path, rows, ["body", *ACCURACIES, "answer", "who", "gold"])


def select(table, folder, *arguments):
    status = main(["select", str(table), "--text", "body", "--encoder", "none", "--quiet",
                   "--output", str(folder), *arguments])  # fmt: skip
    assert status == 0
    return folder


def rows_of(folder, name):
    return read_table(folder / f"{name}.csv")


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    place = tmp_path_factory.mktemp("out") / "out"
    return select(table, place, "--labels", "rule*,llm", "--gold", "gold")


def test_rows_get_the_label_of_members_and_votes(folder):
    kept, rejected = rows_of(folder, "kept"), rows_of(folder, "rejected")
    unvoted = rows_of(folder, "abstained")
    assert len(kept) + len(rejected) + len(unvoted) == len(TEXTS)
    right = [row["lops_label"] == row["gold"] for row in [*kept, *rejected]]
    assert np.mean(right) > 0.93
    assert all(0 <= float(row["lops_confidence"]) <= 1 for row in kept)
    assert {row["body"] for row in unvoted} >= {TEXTS[3], TEXTS[9]}
    suggested = [row["lops_suggested"] == row["gold"] for row in unvoted]
    assert np.mean(suggested) > 0.6
    assert "lops_label" not in unvoted[0]


def test_a_table_of_the_sources(folder, capsys):
    sources = rows_of(folder, "sources")
    assert sources[0]["source"] == "rule three"
    assert {row["source"] for row in sources} == set(ACCURACIES)
    accuracies = [float(row["accuracy"]) for row in sources]
    assert accuracies == sorted(accuracies)
    worst = sources[0]
    assert float(worst["low"]) < float(worst["accuracy"]) < float(worst["high"])
    errors = [int(number) for number in worst["errs_in"].split()]
    assert len(errors) == 5
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Label sources" in page
    assert "rule three" in page


def test_one_row_where_a_source_errs(folder, table):
    rows = read_table(table)
    worst = rows_of(folder, "sources")[0]
    for number in worst["errs_in"].split():
        row = rows[int(number) - 1]
        assert row[worst["source"]] not in ("", row["gold"])


def test_a_source_left_out(table, tmp_path, capsys):
    place = select(table, tmp_path / "out", "--labels", "rule one,rule two,llm")
    assert {row["source"] for row in rows_of(place, "sources")} == set(ACCURACIES) - {"rule three"}
    printed = capsys.readouterr().out
    assert "right (estimate)" in printed
    assert "Sources: 3." in printed
    settings = json.loads((place / "config.json").read_text(encoding="utf-8"))["settings"]
    assert settings["labels"] == ["rule one,rule two,llm"]


def test_answers_become_classes(table, tmp_path, capsys):
    place = select(table, tmp_path / "out", "--label", "answer", "--classes", ",".join(CLASSES))
    assert {row["answer"] for row in rows_of(place, "kept")} <= set(CLASSES)
    assert "Read as classes: 'It is CLASS" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--labels", "rule*", "--label", "llm"], "found --label and --labels; give one"),
        (["--labels", "llm"], "--labels names 1 column; wanted at least two"),
        (["--labels", "rule*,lmm"], "has no column 'lmm'.*Did you mean --labels 'llm'"),
        (["--source", "who", "--soft-labels", "llm"], "line 3: found 'class 1'; wanted a list"),
        (["--label", "llm", "--source", "whom"], "has no column 'whom'"),
        (["--label", "answer", "--classes", "class 0,class 1"], "CLASS 2.. .lines 7.*add --abst"),
        (["--labels", "rule*", "--method", "automatic"], "--labels needs the committee"),
    ],
)  # fmt: skip
def test_bad_sources(table, tmp_path, capsys, arguments, message):
    output = str(tmp_path / "out")
    assert main(["select", str(table), "--text", "body", "--output", output, *arguments]) != 0
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_rows_to_check_show_the_joined_label(folder):
    labels = {
        row["body"]: row["lops_label"]
        for name in ("kept", "rejected")
        for row in rows_of(folder, name)
    }
    to_check = rows_of(folder, "to_check")
    assert len(to_check) == 50
    assert [row["label"] for row in to_check] == [labels[row["text"]] for row in to_check]
