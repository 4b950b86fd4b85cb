"""``lops check``: questions in a terminal, answers on disk after each, and a new selection."""

import json
import shutil
import sys

import pytest

from lops_adapters.cli import check, select
from lops_adapters.core import LopsError

from ..noisy import noisy_rows, read_table, write_table

ROWS = noisy_rows(n=120, k=3, noise=0.3)
GOLD = {str(number): row[3] for number, row in enumerate(ROWS, start=1)}
pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a table and a finished run."""
    folder = tmp_path_factory.mktemp("check")
    write_table(folder / "news.csv", ROWS)
    options = ["--text", "text", "--label", "weak", "--encoder", "none", "--quiet"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        select.main(["news.csv", *options, "--output", "out"])
    return folder


@pytest.fixture
def run(here, finished):
    shutil.copytree(finished, here, dirs_exist_ok=True)
    return here / "out"


@pytest.fixture
def typed(monkeypatch, here, capsys):
    """A terminal in which the given lines are typed; notes the answers stored before each."""

    def type_lines(*lines):
        stored, left = [], iter(lines)

        def answer(_):
            path = here / "out-checked.csv"
            stored.append(len(read_table(path)) if path.is_file() else 0)
            return next(left)

        monkeypatch.setattr("builtins.input", answer)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        capsys.readouterr()
        assert check.main(["out"]) == 0
        return stored, capsys.readouterr().out

    return type_lines


def test_ten_answers_select_again(run, typed):
    asked = [row["row"] for row in read_table(run / "to_check.csv")][:10]
    before = json.loads((run / "summary.json").read_text())
    stored, said = typed(*(GOLD[row] for row in asked), "q")
    assert stored == list(range(11))
    answers = read_table(run.parent / "out-checked.csv")
    assert [(row["row"], row["checked"]) for row in answers] == [(row, GOLD[row]) for row in asked]
    after = json.loads((run / "summary.json").read_text())
    assert (before["n_checked"], after["n_checked"]) == (0, 10)
    rejected = f"{after['n_rows'] - after['n_kept']} now"
    assert rejected in said
    assert "10 more rows would narrow the range" in said
    assert "--checked" in json.loads((run / "config.json").read_text())["command"]


def test_after_ten_more_it_selects_once_more(run, typed):
    typed(*[""] * 20, "q")
    assert json.loads((run / "summary.json").read_text())["n_checked"] == 20


def test_answers_of_before_are_kept_and_their_rows_not_asked_again(run, typed):
    first = read_table(run / "to_check.csv")[0]["row"]
    typed("", "q")
    _, said = typed("n", "q")
    answers = {row["row"]: row["checked"] for row in read_table(run.parent / "out-checked.csv")}
    assert len(answers) == 2
    assert answers.pop(first) == ROWS[int(first) - 1][2]
    assert list(answers.values()) == ["-"]
    assert said.count("\n> ") == 0
    assert json.loads((run / "summary.json").read_text())["n_checked"] == 2


def test_numbers_names_skips_and_undo(run, typed):
    rows = [row["row"] for row in read_table(run / "to_check.csv")]
    typed("s", "2", "no such class", "class 0", "u", "class 2", "q")
    answers = [(row["row"], row["checked"]) for row in read_table(run.parent / "out-checked.csv")]
    assert answers == [(rows[1], "class 1"), (rows[2], "class 2")]


@pytest.mark.parametrize(("signal", "status"), [(KeyboardInterrupt, 130), (EOFError, 0)])
def test_answers_outlive_ctrl_c_and_ctrl_d(run, capsys, monkeypatch, signal, status):
    lines = iter(["", "class 1"])

    def answer(_):
        try:
            return next(lines)
        except StopIteration:
            raise signal from None

    monkeypatch.setattr("builtins.input", answer)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert check.main(["out"]) == status
    assert len(read_table(run.parent / "out-checked.csv")) == 2
    assert "2 checked rows" in capsys.readouterr().out
    summary = json.loads((run / "summary.json").read_text())
    assert summary["n_checked"] == (0 if status else 2)


def test_suggestions_are_hidden_until_the_answer(run, typed):
    suggested = read_table(run / "to_check.csv")[0]["suggested"]
    _, said = typed("", "q")
    assert said.index("Label: ") < said.index(f"Suggested: {suggested}")
    assert "Suggested" not in said[: said.index("Label: ")]


def test_control_characters_do_not_reach_the_terminal():
    assert check.shown("a\x1b[2Jb\nc") == "a [2Jb c"


def test_nothing_typed_changes_nothing(run, typed):
    before = (run / "summary.json").read_bytes()
    typed("q")
    assert (run / "summary.json").read_bytes() == before
    assert not (run.parent / "out-checked.csv").exists()


def test_without_a_terminal_the_other_ways_are_named(run):
    with pytest.raises(LopsError, match=r"to_check\.csv, or check rows in .*report\.html"):
        check.main([str(run)])


def test_a_table_that_cannot_be_read_again_is_refused(run, typed):
    config = json.loads((run / "config.json").read_text())
    config["command"] = config["command"].replace("news.csv", "-")
    (run / "config.json").write_text(json.dumps(config))
    with pytest.raises(LopsError, match=r"selects again, and the table was standard input; fill"):
        typed()


def test_a_folder_of_another_command_is_refused(here):
    (here / "out").mkdir()
    (here / "out" / "config.json").write_text('{"framework": "agree"}')
    with pytest.raises(LopsError, match=r"no to_check\.csv of lops select; give the folder"):
        check.main(["out"])
    with pytest.raises(LopsError, match="damaged or missing"):
        check.main(["nowhere"])
