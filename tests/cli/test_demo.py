"""``lops demo``, as a newcomer runs it."""

import csv
import json
import os
import shutil
import subprocess
import sys

import pytest

from benchmarks import pictures
from lops_adapters import storage
from lops_adapters.cli.demo import main

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the demo prints, and the folder it writes."""
    folder = tmp_path_factory.mktemp("demo")
    program = [sys.executable, "-m", "lops_adapters.cli.main", "demo"]
    before = os.times()
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    after = os.times()
    assert done.stderr == ""
    seconds = after.children_user + after.children_system
    return (
        done.stdout,
        folder / "lops-demo",
        seconds - before.children_user - before.children_system,
    )


def rows(text):
    """The table of classifiers -> name: (labels, wrong, macro-F1), numbers in percent."""
    lines = text[text.index("trained on  ") :].splitlines()[1:5]
    cells = [line.replace(" %", "").rsplit(maxsplit=3) for line in lines]
    return {name.strip(): tuple(map(float, numbers)) for name, *numbers in cells}


def test_it_takes_seconds(shown):
    assert shown[2] < 20


def test_the_labels_are_those_of_seed_words(shown):
    text, folder, _ = shown
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as handle:
        table = list(csv.DictReader(handle))
    wrong = sum(row["weak"] != row["gold"] for row in table) / len(table)
    assert f"Seed words label {len(table)} of them; {100 * wrong:.1f} %" in text
    assert rows(text)["all labels"][:2] == (len(table), round(100 * wrong, 1))


def test_the_table_says_what_the_selection_did(shown):
    text, folder, _ = shown
    with (folder / "selection" / "kept.csv").open(encoding="utf-8", newline="") as handle:
        kept = list(csv.DictReader(handle))
    wrong = sum(row["weak"] != row["gold"] for row in kept) / len(kept)
    found = rows(text)
    assert found["the kept labels"][:2] == (len(kept), round(100 * wrong, 1))
    assert found["a random part"][0] == len(kept)
    assert found["the right labels"][1] == 0


def test_the_selection_pays(shown):
    """On the demo corpus; elsewhere docs/findings.md says where it does."""
    found = rows(shown[0])
    f1 = {name: numbers[2] for name, numbers in found.items()}
    assert f1["a random part"] < f1["the kept labels"] < f1["the right labels"]
    assert f1["all labels"] + 3 < f1["the kept labels"]


@pytest.mark.usefixtures("full_training")
def test_again_replaces_only_its_own(shown, tmp_path, monkeypatch, capsys):
    text, folder, _ = shown
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, "lops-demo")
    (tmp_path / "lops-demo" / "thesis.tex").write_text("years of work")
    assert main([]) == 0
    assert capsys.readouterr().out == text
    assert (tmp_path / "lops-demo" / "thesis.tex").read_text() == "years of work"


def test_the_pictures_in_the_docs_are_of_this_report(shown):
    record = json.loads(pictures.RECORD.read_text(encoding="utf-8"))
    found = {"shows": pictures.shows(shown[1] / "selection"), **pictures.checksums()}
    assert found == record, "run python -m benchmarks.pictures"


def test_the_page_names_the_command_that_was_printed(shown):
    text, folder, _ = shown
    command = next(line for line in text.splitlines() if line.startswith("$ lops select"))[2:]
    page = (folder / "selection" / "report.html").read_text(encoding="utf-8")
    assert f"<code>{command} --output lops-demo/selection" in page


def test_a_full_disk_leaves_no_folder(tmp_path, monkeypatch):
    def full(path, *_):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(storage, "write_csv", full)
    with pytest.raises(OSError, match="No space left"):
        main(["--output", str(tmp_path / "new")])
    (tmp_path / "mine").mkdir()
    with pytest.raises(OSError, match="No space left"):
        main(["--output", str(tmp_path / "mine")])
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
