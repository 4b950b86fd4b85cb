"""Calibrated probabilities on tables whose family the coefficients have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, markdown, results
from benchmarks.real_tables import FRESH

_HARM = 0.005  # of the labels: what counts as worse
_VARIANTS = (  # of benchmarks.calibration: what they are, and how their names end
    ("100 rows", ", 100 rows"),
    ("300 rows", ", 300 rows"),
    ("1,000 rows", ", 1000 rows"),
    ("no encoder", ", none"),
    ("MiniLM as encoder, at most 2,500 rows", ", minilm"),
    ("vectors of MiniLM in place of texts, at most 2,500 rows", ", vectors"),
)


def _left_out() -> dict[str, dict[str, Any]]:
    """Return the tables of the calibration by name; empty if there are none."""
    found = results("calibration/left-out.json")
    return found[0]["result"] if found else {}


def _tables(kind: str) -> dict[str, dict[str, Any]]:
    """Return the whole tables of a kind with the default encoder and seed."""
    every = _left_out()
    return {n: one for n, one in every.items() if "," not in n and one["kind"] == kind}


def _groups(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the tables in use before the calibration, and fresh ones."""
    return {
        "old": [one for name, one in found.items() if name not in FRESH],
        "fresh": [one for name, one in found.items() if name in FRESH],
    }


def summary() -> Block:
    """Return what the calibration changes, on left-out tables."""
    found, clean = _tables("noisy"), list(_tables("clean").values())
    if not found:
        return HOLE
    groups = _groups(found)
    both = [*groups["old"], *groups["fresh"]]
    rows = [["measure", "posterior", "calibrated"]]

    def row(name: str, measure: Callable[[str], str]) -> None:
        rows.append([name, measure("posterior"), measure("calibrated")])

    for name, some in groups.items():
        said = f"{name} ({len(some)} tables)"
        ways = ("posterior", "calibrated")
        losses = [f"{_mean(some, way, 'log_loss'):.3f}" for way in ways]
        gains = [f"{100 * _mean(some, way, 'corrected'):+.1f}" for way in ways]
        rows.append([f"log loss, {said}", *losses])
        rows.append([f"labels right after correction, {said}, points", *gains])
    row("worst table, points", lambda way: f"{100 * min(_of(both, way, 'corrected')):+.1f}")
    row(
        "tables whose labels get worse by more than 0.5 points",
        lambda way: f"{sum(one < -_HARM for one in _of(both, way, 'corrected'))} of {len(both)}",
    )
    row("estimate within a factor of two of the truth, % of tables", lambda way: _within(both, way))
    lost = f"right labels lost, {len(clean)} tables without wrong labels, mean / worst %"
    row(
        lost,
        lambda way: (
            f"{100 * _mean(clean, way, 'right_lost'):.1f} / "
            f"{100 * max(_of(clean, way, 'right_lost')):.1f}"
        ),
    )
    held = mean(one["low"] <= one["wrong"] <= one["high"] for one in both)
    rows.append(["truth within the range, % of tables", "", f"{100 * held:.0f}"])
    row(
        "AUROC of wrong labels, old / fresh",
        lambda way: " / ".join(f"{_mean(some, way, 'auroc'):.3f}" for some in groups.values()),
    )
    return Block(markdown(rows), [results("calibration/left-out.json")])


def _of(some: Sequence[dict[str, Any]], way: str, key: str) -> list[float]:
    return [one[way][key] for one in some]


def _mean(some: Sequence[dict[str, Any]], way: str, key: str) -> float:
    return mean(_of(some, way, key))


def _within(some: Sequence[dict[str, Any]], way: str) -> str:
    return f"{100 * mean(0.5 <= one[way]['estimate'] / one['wrong'] <= 2 for one in some):.0f}"


def per_table() -> Block:
    """Return one row per table with wrong labels, and per table without."""
    rows = [["table", "rows", "wrong %", "estimate (range) %", "AUROC", "labels, points",
             "right lost %", "wrong found %"]]  # fmt: skip
    for kind in ("noisy", "clean"):
        for name, one in _tables(kind).items():
            way, noisy = one["calibrated"], kind == "noisy"
            said = f"{100 * way['estimate']:.0f} ({100 * one['low']:.0f}-{100 * one['high']:.0f})"
            rows.append(
                [
                    name,
                    f"{one['rows']:,}",
                    f"{100 * one['wrong']:.1f}",
                    said,
                    f"{way['auroc']:.3f}" if noisy else "-",
                    f"{100 * way['corrected']:+.1f}",
                    f"{100 * way['right_lost']:.1f}",
                    f"{100 * way['wrong_found']:.0f}" if noisy else "-",
                ]
            )
    return Block(markdown(rows), [results("calibration/left-out.json")]) if rows[1:] else HOLE


def variants() -> Block:
    """Return what the calibration changes in smaller samples, and with other encoders."""
    every = _left_out()
    rows = [["tables", "with wrong labels", "labels, mean points", "worst",
             "worse by more than 0.5", "without", "right lost, mean / worst %"]]  # fmt: skip
    for said, ending in _VARIANTS:
        some = {name: one for name, one in every.items() if name.endswith(ending)}
        gains = [one["calibrated"]["corrected"] for one in some.values() if one["kind"] == "noisy"]
        clean = [one["calibrated"]["right_lost"] for one in some.values() if one["kind"] == "clean"]
        if gains and clean:
            rows.append(
                [
                    said,
                    str(len(gains)),
                    f"{100 * mean(gains):+.1f}",
                    f"{100 * min(gains):+.1f}",
                    str(sum(gain < -_HARM for gain in gains)),
                    str(len(clean)),
                    f"{100 * mean(clean):.1f} / {100 * max(clean):.1f}",
                ]
            )
    return Block(markdown(rows), [results("calibration/left-out.json")]) if rows[1:] else HOLE


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "calibration-summary": summary,
    "calibration-tables": per_table,
    "calibration-variants": variants,
}
