"""Threads by the processors that are free."""

import os

import pytest
from threadpoolctl import threadpool_info

from lops_adapters.cli import select as command
from lops_adapters.cli import threads

from ..noisy import noisy_rows, write_table


@pytest.fixture
def machine(monkeypatch):
    """A machine with a number of processors and a load."""

    def become(processors, load):
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        monkeypatch.setattr(threads, "processors", lambda: processors)
        monkeypatch.setattr(os, "getloadavg", lambda: (load, 0, 0), raising=False)

    return become


def used():
    return {library["num_threads"] for library in threadpool_info()}


def test_a_busy_machine(machine):
    import torch

    before, own = used(), torch.get_num_threads()
    machine(8, 7.4)
    with threads.limited() as said:
        assert used() == {1}
        assert torch.get_num_threads() == 1
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert said == [
        "Threads: 1 of 8, since the machine is busy (load 7.4); OMP_NUM_THREADS=N sets another "
        "number."
    ]
    assert used() == before
    assert torch.get_num_threads() == own
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_free_machine_and_a_number_of_ones_own(machine, monkeypatch):
    for load in (0.2, 0.49):
        machine(8, load)
        with threads.limited() as said:
            assert said == []
            assert "OMP_NUM_THREADS" not in os.environ
    machine(8, 20)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    with threads.limited() as said:
        assert said == []
        assert os.environ["OMP_NUM_THREADS"] == "5"
    machine(8, 20)
    monkeypatch.delattr(os, "getloadavg")  # a machine that does not tell
    with threads.limited() as said:
        assert said == []


def test_the_command_says_so(machine, here, capsys):
    write_table(here / "news.csv", noisy_rows(n=30))
    machine(4, 2.2)
    given = ["news.csv", "--text", "text", "--label", "weak", "--encoder", "none", "--verbose"]
    assert command.main(given) == 0
    assert "\nThreads: 2 of 4, since the machine is busy (load 2.2); " in capsys.readouterr().out
