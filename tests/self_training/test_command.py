"""Bad input through the command: one clear line on standard error, exit status 2, before any long
work; odd input that works.
"""

import json
from functools import partial

import pytest

from lops_adapters.self_training.__main__ import main

from ..framework_checks import assert_not_resumed, metrics_of
from ..framework_tools import outcome, write_folder
from .toys import SEEDS, documents

TEXTS, LABELS = documents(30)


def test_options_that_cannot_work(refuse, good):
    words = "every is 5, and the probe makes 4 updates on 14 pseudo-labelled documents;"
    refuse(good, "--every 5 --probe linear", words)


ONE = {"arts": ["paint"], "law": [], "sport": []}


@pytest.mark.parametrize(
    ("labels", "seeds", "more", "words"),
    [
        (LABELS, None, "", ["no seed words, which string-match", "--pseudo-labels FILE.csv"]),
        (
            LABELS,
            ONE,
            "",
            ["string-match gives ", "pseudo-labels of 1 classes; wanted at least two"],
        ),
        (None, SEEDS, "--arms optimal", "optimal needs gold labels, and data has none"),
    ],
)
def test_data_that_cannot_work(refuse, tmp_path, labels, seeds, more, words):
    refuse(write_folder(tmp_path / "data", TEXTS, labels, seeds), more, words)


def test_a_file_of_pseudo_labels_that_cannot_work(refuse, good, tmp_path):
    mine = tmp_path / "mine.csv"
    for text, words in {
        "id,label\nd1,law\nx1,arts\n": "line 3: the id 'x1' is of no document of good",
        "id,label\nd1,law\nd2,law\n": "mine.csv gives 2 pseudo-labels of 1 classes",
    }.items():
        mine.write_text(text, encoding="utf-8")
        refuse(good, ["--pseudo-labels", mine], words)


def test_the_usual_methods_and_no_gold_labels_or_seed_words(run, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text(
        "id,pseudo_label\n" + "".join(f"d{i},{label}\n" for i, label in enumerate(LABELS)),
        encoding="utf-8",
    )
    seeds = {label: [] for label in SEEDS}
    folder = write_folder(tmp_path / "data", TEXTS, None, seeds)
    status, out, err = run(folder, "--pseudo-labels", mine, "--iterations", "1")
    assert status == 0, err
    assert list(metrics_of(tmp_path / "run")["arms"]) == ["standard", "lops"]
    # No columns of what only gold labels tell.
    assert out.splitlines()[4].split()[:4] == ["standard", "0", "30", "30"]
    assert "noise" not in out
    assert "macro" not in out


@pytest.mark.parametrize(
    ("keep", "share"),
    [(["--keep", "auto"], "the share that a held-out linear probe agrees with"), ([], "0.5")],
)
@pytest.mark.usefixtures("small")
def test_what_random_keeps_is_in_the_log(good, tmp_path, capsys, keep, share):
    options = ["--preset", "quick", "--device", "cpu", "--iterations", "1", "--arms", "random"]
    places = ["--dataset", good, "--output", tmp_path / "run"]
    status, _, err = outcome(main, capsys, *places, *options, *keep)
    assert status == 0
    assert err.count(f"random keeps {share} of the pseudo-labels\n") == 1
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["settings"]["n_from"] == "keep"


@pytest.mark.slow
def test_another_file_of_pseudo_labels_is_refused(run, data, tmp_path):
    mine = tmp_path / "mine.csv"
    rows = [f"d{i},{('arts', 'law', 'sport')[i % 3]}\n" for i in range(30)]
    mine.write_text("id,label\n" + "".join(rows), encoding="utf-8")
    command = partial(run, data, "--arms standard --pseudo-labels", mine)
    assert command()[0] == 0
    assert command("--resume")[0] == 0
    mine.write_text("id,label\n" + "".join(rows[:-1]), encoding="utf-8")
    status, _, err = command("--resume")
    assert_not_resumed(status, err, "was started with settings.pseudo_labels_sha256")
