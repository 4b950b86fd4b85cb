"""What the benchmark of shifts measures."""

import numpy as np
import pytest

from benchmarks import shifts
from benchmarks.real_tables import GIVEN, origin
from lops_adapters.selection.committee.calibration import coefficients
from lops_adapters.selection.committee.shifts import Spreads, expit

from .stored import noisy_table


@pytest.fixture(scope="module")
def case():
    return shifts.case_of(noisy_table(n=240, k=3, noise=0.3), coefficients()["texts"])


def test_the_residual_is_what_the_estimate_lacks(case):
    odds = case.calibration.odds(case.true, case.codes)
    found = expit(odds + shifts.residual(case)).mean()
    assert found == pytest.approx(case.wrong.mean(), abs=1e-6)


def test_checked_rows_cost_less_with_spreads_than_without(case):
    without = shifts.loss_of_labels(case, Spreads(1e-6, 1e-6, 1e-6, 1e-6))
    assert shifts.loss_of_labels(case, Spreads(1.0, 1.0, 0.5, 1.0)) < without


def test_classes_have_a_loss_where_there_is_a_choice(case):
    assert shifts.loss_of_classes(case, 0.5) < np.log(2)
    two = case._replace(true=case.true[:, :2] / case.true[:, :2].sum(axis=1, keepdims=True))
    assert shifts.loss_of_classes(two, 0.5) is None


def test_the_search_keeps_what_it_visits(case, monkeypatch):
    losses = {1.0: 0.3, 1.5: 0.2}
    monkeypatch.setattr(
        shifts, "loss_of_labels", lambda case, spreads: losses.get(spreads.table, 0.5)
    )
    found = shifts.searched({"yelp-rules": case})["yelp-rules"]
    assert found["1.0 1.0 0.5 1.0"] == 0.3
    assert min(found, key=found.get).startswith("1.5 ")


def test_all_tables_have_an_origin():
    assert {origin(name) for name in GIVEN} == {"rules", "model", "people"}
    assert [origin(name) for name in ("crowd-news", "yoruba-news", "stance-llms")] == [
        "people",
        "rules",
        "model",
    ]
