"""The coefficients of the package are those of the committed measurements."""

import numpy as np

from benchmarks import calibration
from benchmarks.calibration import committed
from lops_adapters.selection.committee.calibration import Diagnostics, coefficients


def test_the_package_holds_what_the_measurements_give():
    found = calibration.final(committed("tables"), committed("shifts"))
    kept = dict(coefficients())
    assert found.keys() == kept.keys()
    for kind in ("texts", "vectors"):
        learnt, known = found.pop(kind), kept.pop(kind)
        assert learnt.keys() == known.keys()
        for key, value in learnt.items():
            np.testing.assert_allclose(value, known[key], atol=2e-3)
    assert found == kept


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


def test_shared_numbers_are_best_for_most_families():
    """Two tables of one family count as 1.4 of another one; an origin's mean is drawn to 0."""
    lower, upper = "1.0 1.0 1.0 1.0", "2.0 1.0 1.0 1.0"

    def table(first, second, **others):
        losses = {
            "spreads": {lower: first, upper: second},
            "evenness": {"0.5": first, "1.0": second},
        }
        return {"origin": "rules", "residual": 0.8, **losses, **others}

    shifts = {"agnews-seeds": table(1, 2), "crowd-news": table(1, 2), "yelp-rules": table(9, 7)}
    found = calibration.shared(shifts)
    assert found["spreads"]["table"] == 2
    assert found["evenness"] == 1.0
    assert found["origins"] == {"rules": 0.4}
    del shifts["yelp-rules"]
    assert calibration.shared(shifts)["spreads"]["table"] == 1


def test_a_table_without_a_choice_of_classes_says_nothing_of_them():
    one = {"origin": "people", "residual": 0.0, "spreads": {"1.0 1.0 1.0 1.0": 1.0}}
    shifts = {
        "yelp-rules": {**one, "evenness": {"0.5": None, "1.0": None}},
        "relations-llm": {**one, "evenness": {"0.5": 0.1, "1.0": 0.2}},
    }
    assert calibration.shared(shifts)["evenness"] == 0.5
