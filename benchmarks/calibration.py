"""Learn what a committee's score means, from tables with gold labels; see committee/calibration.py.

    python -m benchmarks.calibration measure --data-dir DIR --work FOLDER
    python -m benchmarks.calibration fit

``measure``: members score all tables of :mod:`benchmarks.calibration_tables`, into
``results/calibration/tables.json``.

``fit``: a logistic regression on these, every family of tables with the same weight. It writes the
coefficients into the package, and what each left-out family gets from the others, by the same
steps, into ``results/calibration/left-out.json``. Gold labels of a family never reach its own
left-out numbers.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration_tables import Item, measure
from benchmarks.record import RESULTS, command_line, write_result
from lops_adapters.datasets import Corpus
from lops_adapters.selection import committee as package
from lops_adapters.selection.committee.calibration import Diagnostics, line
from lops_adapters.selection.committee.member_table import TEXTS, VECTORS
from lops_adapters.selection.committee.shifts import Spreads, expit
from lops_adapters.storage import write_json

# Weights of a family's tables: with wrong labels, with gold labels, with corrupted gold labels. The
# weight of corrupted ones is small, since people and rules do not err like that.
WEIGHTS = {"noisy": 1.0, "clean": 0.25, "corrupted": 0.1}
STRENGTH = 2.0  # of the regression on standardised numbers, as C / number of families
SLOPE_BY = ("skill", "agreement", "repeats", "confirms")
FEW = 3  # tables of one origin that count as much as none: their mean is drawn to 0
COEFFICIENTS = Path(package.__file__).parent / "calibration.json"


def fitted(tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the coefficients of these tables of one kind of samples, without the range."""
    from sklearn.linear_model import LogisticRegression

    alike = Counter((table["family"], table["kind"]) for table in tables)
    of_tables = [
        WEIGHTS[one["kind"]] / np.sqrt(alike[one["family"], one["kind"]]) for one in tables
    ]
    noise = [table["wrong"] / table["rows"] for table in tables]
    numbers, wrong, weights = [], [], []
    for table, weight in zip(tables, of_tables, strict=True):
        for score, count, errors, _ in table["steps"]:
            for is_wrong, rows in ((True, errors), (False, count - errors)):
                if rows:
                    numbers.append(_numbers(table["diagnostics"], score))
                    wrong.append(is_wrong)
                    weights.append(weight * rows / table["rows"])
    x, each = np.array(numbers), np.array(weights)
    mean = np.average(x, axis=0, weights=each)
    spread = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=each))
    model = LogisticRegression(C=STRENGTH, max_iter=5000, tol=1e-8)
    model.fit((x - mean) / spread, wrong, sample_weight=each)
    by = model.coef_[0] / spread
    diagnostics = np.array([table["diagnostics"] for table in tables])
    m = diagnostics.shape[1]
    slope_by = np.zeros(m)
    slope_by[[Diagnostics._fields.index(name) for name in SLOPE_BY]] = by[m + 1 :]
    return {
        "offset": float(model.intercept_[0] - by @ mean),
        "offset_by": by[:m].tolist(),
        "slope": float(by[m]),
        "slope_by": slope_by.tolist(),
        "least": diagnostics.min(axis=0).tolist(),
        "most": diagnostics.max(axis=0).tolist(),
        "usual": float(_logit(np.average(noise, weights=of_tables))),
    }


def _numbers(diagnostics: Sequence[float], score: float) -> list[float]:
    """Return the numbers of the regression: diagnostics, score, and products with the score."""
    one = Diagnostics(*diagnostics)
    return [*diagnostics, score, *(score * getattr(one, name) for name in SLOPE_BY)]


def predicted(
    learnt: dict[str, Any], diagnostics: Sequence[float], score: np.ndarray, of_class: np.ndarray
) -> np.ndarray:
    """Return the probability that labels are wrong, by coefficients of :func:`fitted`."""
    offset, slope = line(learnt, diagnostics, of_class)
    return np.asarray(expit(offset + slope * score))


def of_kind(tables: dict[str, dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """Return the tables of texts, or those of vectors."""
    return {
        name: table
        for name, table in tables.items()
        if (kind == VECTORS) == name.endswith(f", {VECTORS}")
    }


def left_out(
    tables: dict[str, dict[str, Any]], families: Iterable[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Return, per family, the coefficients that the other families give.

    ``families``: default: of the tables, which are of one kind.
    """
    families = {table["family"] for table in tables.values()} if families is None else families
    return {
        family: fitted([table for table in tables.values() if table["family"] != family])
        for family in sorted(families)
    }


def weighted(values: dict[str, float]) -> float:
    """Return the mean of values of tables; each family counts as the root of its tables."""
    alike = Counter(Item(name).family for name in values)
    weights = [1 / np.sqrt(alike[Item(name).family]) for name in values]
    return float(np.average([*values.values()], weights=weights))


def shared(shifts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what is best for the tables of :mod:`benchmarks.shifts`."""
    found: dict[str, Any] = {}
    for name in ("evenness", "spreads"):
        values = next(iter(shifts.values()))[name]
        losses = {
            value: weighted(
                {n: one[name][value] for n, one in shifts.items() if one[name][value] is not None}
            )
            for value in values
        }
        found[name] = min(losses, key=lambda value: losses[value])
    spreads = map(float, found["spreads"].split())
    origins: dict[str, list[float]] = {}
    for one in shifts.values():
        origins.setdefault(one["origin"], []).append(one["residual"])
    return {
        "evenness": float(found["evenness"]),
        "spreads": Spreads(*spreads)._asdict(),
        "origins": {
            name: round(sum(some) / (len(some) + FEW), 3) for name, some in sorted(origins.items())
        },
    }


def _logit(share: Any) -> Any:
    share = np.clip(share, 1e-4, 1 - 1e-4)
    return np.log(share / (1 - share))


def evaluated(table: dict[str, Any], learnt: dict[str, Any]) -> dict[str, Any]:
    """Return what left-out coefficients are worth in a table, and the posterior alone."""
    from sklearn.metrics import log_loss, roc_auc_score

    score, count, errors, of_class = np.array(table["steps"], dtype=float).T
    calibrated = predicted(learnt, table["diagnostics"], score, of_class)
    ways = {"calibrated": calibrated, "posterior": expit(score)}
    n, all_wrong, right = table["rows"], table["wrong"], count - errors
    is_wrong, weights = np.repeat([1, 0], len(score)), np.concatenate([errors, right])
    found: dict[str, Any] = {"rows": n, "wrong": all_wrong / n}
    for name, probability in ways.items():
        rejected, both = probability > 0.5, np.clip(np.tile(probability, 2), 0.005, 0.995)
        lost, spotted = float(right[rejected].sum()), float(errors[rejected].sum())
        loss = log_loss(is_wrong, both, sample_weight=weights, labels=[0, 1])
        found[name] = {
            "estimate": float(count @ probability / n),
            "log_loss": float(loss),
            "gain": (spotted - lost) / n,
            "right_lost": lost / max(1, n - all_wrong),
            "wrong_found": spotted / max(1, all_wrong),
            "auroc": None,
        }
        if 0 < all_wrong < n:
            of_rows = np.tile(probability, 2)
            found[name]["auroc"] = float(roc_auc_score(is_wrong, of_rows, sample_weight=weights))
    return found


def committed(name: str) -> dict[str, Any]:
    """Return a committed result of the calibration."""
    path = RESULTS / f"calibration/{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))["result"])


def fit() -> None:
    """Fit, write the coefficients into the package, and evaluate on left-out families."""
    every, result = committed("tables"), {}
    for kind in (TEXTS, VECTORS):
        tables = of_kind(every, kind)
        learnt = left_out(tables)
        for name, table in tables.items():
            found = evaluated(table, learnt[table["family"]])
            result[name] = {"family": table["family"], "kind": table["kind"], **found}
    corpus = Corpus("calibration", tuple(result), tuple(result), ("right", "wrong"))
    write_result("calibration/left-out", result, corpus, command=command_line("calibration"))
    write_json(COEFFICIENTS, final(every, committed("shifts")))


def final(tables: dict[str, dict[str, Any]], shifts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the contents of ``calibration.json``, from tables and :mod:`benchmarks.shifts`."""
    families = {table["family"] for table in (*tables.values(), *shifts.values())}
    return {
        "about": "Written by python -m benchmarks.calibration fit; do not edit.",
        "families": sorted(families),
        "tables": len(tables),
        "numbers": list(Diagnostics._fields),
        **shared(shifts),
        **{kind: _final(of_kind(tables, kind)) for kind in (TEXTS, VECTORS)},
    }


def _final(tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {key: _rounded(value) for key, value in fitted(list(tables.values())).items()}


def _rounded(value: Any) -> Any:
    return [round(one, 5) for one in value] if isinstance(value, list) else round(value, 5)


def main() -> None:
    """Measure, or fit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("measure", "fit"))
    parser.add_argument("--data-dir", type=Path, help="wanted by measure")
    parser.add_argument("--work", type=Path, help="folder of measured rows, wanted by measure")
    options = parser.parse_args()
    if options.step == "measure":
        measure(options.data_dir, options.work)
    else:
        fit()


if __name__ == "__main__":
    main()
