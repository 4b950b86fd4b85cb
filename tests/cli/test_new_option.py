"""A new option of ``lops select`` is an entry of the parser and a field of a dataclass."""

from dataclasses import dataclass

import pytest

from lops_adapters.cli import select, select_options
from lops_adapters.labels.columns import Columns
from lops_adapters.selection import Choice
from lops_adapters.tables import engine

from ..noisy import HEADER, noisy_rows, write_table


@dataclass(frozen=True)
class Wider(Choice):
    """With one more field."""

    patience: int = 3


@dataclass(frozen=True)
class More(Columns):
    """With one more column."""

    language: str | None = None


@pytest.fixture
def asked(here, monkeypatch):
    """The job that the engine is given, after the toy options are added."""
    write_table(here / "news.csv", noisy_rows(n=60), HEADER)
    usual, jobs = select_options.parser, []

    def parser():
        options = usual()
        options.add_argument("--patience", type=int)
        options.add_argument("--language", metavar="COLUMN")
        return options

    def run(table, job, output):
        jobs.append(job)
        raise KeyboardInterrupt

    monkeypatch.setattr(select, "parser", parser)
    monkeypatch.setattr(select, "Choice", Wider)
    monkeypatch.setattr(select, "Columns", More)
    monkeypatch.setattr(engine, "run", run)

    def job(*options):
        with pytest.raises(KeyboardInterrupt):
            select.main(["news.csv", "--text", "text", "--label", "weak", "--quiet", *options])
        return jobs.pop()

    return job


def test_an_option_that_says_how_to_select(asked):
    job = asked("--patience", "7")
    assert job.choice.patience == 7
    assert asked().choice.patience == 3
    assert "patience" not in job.settings  # the choice records it


def test_an_option_that_names_a_column(asked):
    job = asked("--language", "nr")
    assert job.columns.language == "nr"
    assert job.settings["language"] == "nr"
    assert asked().columns.language is None
