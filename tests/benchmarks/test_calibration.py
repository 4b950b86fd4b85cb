"""The coefficients of the package are those of the committed measurements."""

import json

import numpy as np
import pytest

from benchmarks import calibration
from benchmarks.record import RESULTS
from lops_adapters.selection.committee.calibration import Diagnostics, coefficients


def committed(name):
    return json.loads((RESULTS / "calibration" / f"{name}.json").read_text("utf-8"))["result"]


def test_the_package_holds_what_the_measurements_give():
    found, kept = calibration.final(committed("tables")), dict(coefficients())
    assert found.keys() == kept.keys()
    for kind in ("texts", "vectors"):
        learnt, known = found.pop(kind), kept.pop(kind)
        assert learnt.keys() == known.keys()
        for key, value in learnt.items():
            np.testing.assert_allclose(value, known[key], atol=2e-3)
    assert found == kept


def test_measurements_and_left_out_results_are_of_the_same_tables():
    tables, left_out = committed("tables"), committed("left-out")
    assert tables.keys() == left_out.keys()
    for name, table in tables.items():
        assert table["rows"] == left_out[name]["rows"] == sum(n for _, n, _, _ in table["steps"])
        assert table["wrong"] / table["rows"] == pytest.approx(left_out[name]["wrong"])


def test_a_family_is_left_out_of_its_own_coefficients():
    measured = committed("tables")
    some = {"yelp-rules", *sorted({table["family"] for table in measured.values()})[:2]}
    tables = {name: table for name, table in measured.items() if table["family"] in some}
    learnt = calibration.left_out(tables)["yelp-rules"]
    for name in [name for name in tables if tables[name]["family"] == "yelp-rules"]:
        tables[name] = {
            **tables[name],
            "steps": [[s, n, n - w, r] for s, n, w, r in tables[name]["steps"]],
        }
    np.testing.assert_allclose(
        calibration.left_out(tables)["yelp-rules"]["offset"], learnt["offset"]
    )


def made(offset, slope, n=4000, seed=0):
    """Steps of a table whose labels are wrong with log-odds offset + slope * score."""
    score = np.arange(-9, 10, dtype=float)
    wrong = n / (1 + np.exp(-(offset + slope * score)))
    numbers = np.random.default_rng(seed).uniform(0.2, 0.8, len(Diagnostics._fields))
    numbers[Diagnostics._fields.index("rows")] += 6  # with few rows, a table counts less
    steps = [[s, n, round(w), n] for s, w in zip(score.tolist(), wrong.tolist(), strict=True)]
    return {
        "family": str(seed), "kind": "noisy", "rows": n * len(steps),
        "wrong": sum(w for *_, w, _ in steps), "diagnostics": numbers.tolist(), "steps": steps,
    }  # fmt: skip


def test_a_known_calibration_is_found(monkeypatch):
    monkeypatch.setattr(calibration, "STRENGTH", 1e4)
    tables = [made(-1, 0.4, seed=seed) for seed in range(12)]
    learnt = calibration.fitted(tables)
    score = np.array([-5.0, 0.0, 5.0])
    found = calibration.predicted(learnt, tables[3]["diagnostics"], score, np.full(3, 4000))
    np.testing.assert_allclose(found, 1 / (1 + np.exp(1 - 0.4 * score)), atol=0.02)


def test_the_range_holds_the_middle_of_the_residuals():
    low, high = calibration.limits([(value, 1.0) for value in np.linspace(-1, 1, 101)])
    assert (low, high) == pytest.approx((-0.8, 0.8), abs=0.03)
