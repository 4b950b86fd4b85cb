"""Calibrated probabilities on tables whose family the coefficients have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from benchmarks.pages.common import HOLE, Block, markdown, results
from benchmarks.short_texts import TABLES as SHORT
from benchmarks.short_texts import WHOLE

_HARM = 0.01  # of the labels: what counts as worse
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


def summary() -> Block:
    """Return what the calibration changes, on left-out tables."""
    found, clean = [*_tables("noisy").values()], [*_tables("clean").values()]
    if not found:
        return HOLE
    ways = ("posterior", "calibrated")
    rows = [["measure", *ways]]

    def row(name: str, measure: Callable[[str], str]) -> None:
        rows.append([name, *map(measure, ways)])

    row(f"log loss, {len(found)} tables", lambda way: f"{mean(_of(found, way, 'log_loss')):.3f}")
    row(
        "wrong minus right labels rejected, points, mean / worst",
        lambda way: (
            f"{100 * mean(_of(found, way, 'gain')):+.1f} / "
            f"{100 * min(_of(found, way, 'gain')):+.1f}"
        ),
    )
    row(
        "tables harmed by more than a point",
        lambda way: str(sum(one < -_HARM for one in _of(found, way, "gain"))),
    )
    row("estimate within a factor of two of the truth, %", lambda way: _within(found, way))
    row("AUROC of wrong labels", lambda way: f"{mean(_of(found, way, 'auroc')):.3f}")
    row(
        f"right labels lost, {len(clean)} tables without wrong labels, mean / worst %",
        lambda way: _lost(_of(clean, way, "right_lost")),
    )
    return Block(markdown(rows), [results("calibration/left-out.json")])


def _of(some: Sequence[dict[str, Any]], way: str, key: str) -> list[float]:
    return [one[way][key] for one in some]


def _within(some: Sequence[dict[str, Any]], way: str) -> str:
    return f"{100 * mean(0.5 <= one[way]['estimate'] / one['wrong'] <= 2 for one in some):.0f}"


def _lost(lost: Sequence[float]) -> str:
    return f"{100 * mean(lost):.1f} / {100 * max(lost):.1f}"


def per_table() -> Block:
    """Return one row per table with wrong labels, and per table without."""
    heads = ["wrong %", "estimate %", "AUROC", "rejected, points", "right lost %", "found %"]
    rows = [["table", "rows", *heads]]
    for kind in ("noisy", "clean"):
        for name, one in _tables(kind).items():
            way, noisy = one["calibrated"], kind == "noisy"
            rows.append(
                [
                    name,
                    f"{one['rows']:,}",
                    f"{100 * one['wrong']:.1f}",
                    f"{100 * way['estimate']:.0f}",
                    f"{way['auroc']:.3f}" if noisy else "-",
                    f"{100 * way['gain']:+.1f}",
                    f"{100 * way['right_lost']:.1f}",
                    f"{100 * way['wrong_found']:.0f}" if noisy else "-",
                ]
            )
    return Block(markdown(rows), [results("calibration/left-out.json")]) if rows[1:] else HOLE


def variants() -> Block:
    """Return what the calibration is worth in smaller samples, and with other encoders."""
    every = _left_out()
    rows = [["tables", "with wrong labels", "wrong minus right rejected, mean points", "worst",
             "harmed", "without", "right lost, mean / worst %"]]  # fmt: skip
    for said, ending in _VARIANTS:
        some = {name: one for name, one in every.items() if name.endswith(ending)}
        noisy = [one for one in some.values() if one["kind"] == "noisy"]
        clean = [one for one in some.values() if one["kind"] == "clean"]
        if noisy and clean:
            gains = _of(noisy, "calibrated", "gain")
            numbers = [f"{100 * mean(gains):+.1f}", f"{100 * min(gains):+.1f}"]
            numbers.append(str(sum(gain < -_HARM for gain in gains)))
            lost = _lost(_of(clean, "calibrated", "right_lost"))
            rows.append([said, str(len(noisy)), *numbers, str(len(clean)), lost])
    return Block(markdown(rows), [results("calibration/left-out.json")]) if rows[1:] else HOLE


def short_texts() -> Block:
    """Return what is kept of short texts of many classes, and what it is worth."""
    stored = {item["about"]["dataset"]["name"]: item for item in results("short-texts/*.json")}
    files = [stored[name] for name in SHORT if name in stored]
    ways = ("all", "probable", "default", "random")
    head = ["table", "words", "classes", "wrong, %", "more probably wrong, %", "rejected, %"]
    rows = [[*head, *(f"macro-F1: {way}" for way in ways)]]
    for item in files:
        for run in item["result"]["runs"]:
            shares = (run["wrong"], run["rejected"]["probable"], run["rejected"]["default"])
            cells = [*(f"{100 * x:.1f}" for x in (*shares, *map(run["macro_f1"].get, ways)))]
            words = f"{run['words']}" if run["words"] < WHOLE else "all"
            name = item["about"]["dataset"]["name"]
            rows.append([name, words, f"{run['classes']}", *cells])
    return Block(markdown(rows), [files]) if files else HOLE


def doubted() -> Block:
    """Return in how many tables with known errors how many labels are more probably wrong."""
    files = results("short-texts/given.json")
    if not files:
        return HOLE
    shares = sorted(files[0]["result"]["doubted"].items(), key=lambda item: -item[1])
    most = ", ".join(f"{100 * share:.1f} % ({name})" for name, share in shares[:3])
    return Block(f"Of {len(shares)} tables with known errors, the most have {most}.", [files])


TABLES_OF_PAGE: dict[str, Callable[[], Block]] = {
    "calibration-summary": summary,
    "calibration-tables": per_table,
    "calibration-variants": variants,
    "short-texts": short_texts,
    "short-texts-given": doubted,
}
