"""What encoders cost: in processes of their own, of which the fastest counts."""

import pytest

from benchmarks import encoder_costs


def test_the_best_repeat_counts_and_the_table_uses_one_thread(monkeypatch):
    runs = iter([(4.0, 10), (2.0, 30), (5.0, 20), (8.0, 20)])
    monkeypatch.setattr(encoder_costs, "_run", lambda encoder, texts, threads: next(runs))
    found = encoder_costs.measured("minilm", ["text"] * 100)
    rates = {"1": 50.0, "2": pytest.approx(40.0)}
    assert found == {"texts": 100, "texts_per_second": rates, "peak_bytes": 30}
    runs = iter([(4.0, 10), (2.0, 30)])
    assert encoder_costs.measured("static", ["text"] * 100)["texts_per_second"] == {"1": 50.0}


def test_a_process_of_the_table_says_seconds_and_bytes():
    seconds, peak = encoder_costs._run("static", ["a bank by the river"] * 10, 1)
    assert seconds > 0
    assert peak > encoder_costs.size_on_disk("static") > 10**6
