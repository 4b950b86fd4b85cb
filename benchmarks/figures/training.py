"""Figures 5 and 6: macro-F1 of self-training over tau and iterations, one line per classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.figures.model import Figure, Panel, Series, measured, series
from benchmarks.pages.common import Files, results
from benchmarks.pages.self_training import (
    CLASSIFIERS,
    DATASETS,
    files_of,
    only_arm,
    rule_and_keep,
    values,
)

_LOOKS = ("first", "second", "third", "fourth")
ByTau = dict[float, list[dict[str, Any]]]


def over_tau(protocol: str) -> Figure | None:
    """Figure 5: macro-F1 over tau, one panel per data set and rule."""
    groups: dict[tuple[str, str], dict[str, ByTau]] = {}
    for item in results(f"{protocol}/tau-*.json"):
        settings = item["about"]["settings"]
        rule, keep = rule_and_keep(item)
        classifiers = groups.setdefault((item["about"]["dataset"]["name"], rule), {})
        by_tau = classifiers.setdefault(settings["classifier"], {})
        by_tau.setdefault(keep, []).append(item)
    panels: list[Panel] = []
    sources: list[Files] = []
    said: list[str] = []
    for (data, rule), classifiers in sorted(groups.items()):
        lines: list[Series] = []
        for classifier, by_tau in classifiers.items():
            name = _name(classifier, by_tau.values())
            line = _tau_line(name, _look(protocol, classifier), by_tau)
            if not line:
                continue
            usual = files_of(protocol, classifier).get(data, [])
            lines += measured(line, _standard(line, usual))
            sources += [
                files for files in (by_tau[min(by_tau)], usual) if files and files not in sources
            ]
            score, at = max(zip(line.y, line.x, strict=True))
            said.append(
                f"{line.label} on {data}, {rule}: between {min(line.y):.1f} and {score:.1f}, "
                f"best at {at:g}"
            )
        if lines:
            panels.append(Panel(f"{data}, {rule}", "tau", "macro-F1, %", lines))
    if not panels:
        return None
    return Figure(
        5,
        "macro-F1 against tau",
        "Self-training with LOPS, after the last iteration. Bars span the seeds; dashed: no "
        "selection, if measured.",
        "macro-F1 rises at first, drops gradually at higher tau, and is robust from 50 to 70 % "
        "(BERT and GPT-2).",
        "; ".join(said) + ".",
        panels,
        sources,
        [],
    )


def _tau_line(label: str, look: str, by_tau: ByTau) -> Series | None:
    """Return one point per tau; the number of seeds may differ."""
    scores = {at: values(by_tau[at], only_arm(by_tau[at]), "macro_f1") for at in sorted(by_tau)}
    points = measured(
        *(
            series(label, look, [at], [[_percent(value)] for value in runs])
            for at, runs in scores.items()
        )
    )
    if not points:
        return None
    x, y, low, high = (
        [getattr(point, part)[0] for point in points] for part in ("x", "y", "low", "high")
    )
    return Series(label, look, x, y, low, high)


def _standard(line: Series, files: Files) -> Series | None:
    """Return the classifier without selection, as a flat line."""
    runs = [[_percent(value)] * 2 for value in values(files, "standard", "macro_f1")]
    return series(
        f"{line.label}, no selection", f"{line.look}-plain", [line.x[0], line.x[-1]], runs
    )


def over_iterations(protocol: str) -> Figure | None:
    """Figure 6: macro-F1 after each iteration, one panel per data set."""
    by_classifier = {
        classifier: files_of(protocol, classifier) for classifier in CLASSIFIERS[protocol]
    }
    panels: list[Panel] = []
    drawn: list[Series] = []
    missing: list[str] = []
    for data in DATASETS[protocol]:
        lines: list[Series] = []
        for classifier, groups in by_classifier.items():
            files = groups[data]
            name = _name(classifier, [files])
            line = _iterations(name, _look(protocol, classifier), files, "lops")
            if not line:
                missing.append(f"{classifier} on {data}")
                continue
            lines += measured(
                line, _iterations(f"{name}, no selection", f"{line.look}-plain", files, "standard")
            )
            drawn.append(line)
        if lines:
            panels.append(Panel(data, "iteration", "macro-F1, %", lines))
    if not panels:
        return None
    return Figure(
        6,
        "macro-F1 against the iteration of self-training",
        "Self-training with LOPS; dashed: without selection. Bars span the seeds.",
        "macro-F1 with LOPS rises at first and converges gradually (BERT, XLNet and GPT-2).",
        _course(drawn),
        panels,
        [files for groups in by_classifier.values() for files in groups.values() if files],
        missing,
    )


def _course(lines: Sequence[Series]) -> str:
    """Say whether macro-F1 rises."""
    longer = [line for line in lines if len(line.y) > 1]
    rises = sum(line.y[-1] > line.y[0] for line in longer)
    last = sum(line.y[-1] == max(line.y) for line in longer)
    more = len(lines) - len(longer)
    return (
        f"of {len(longer)} lines, {rises} end higher than they begin, and {last} are highest at "
        "the end." + (f" {more} more have one iteration only." if more else "")
    )


def _iterations(label: str, look: str, files: Files, arm: str) -> Series | None:
    """Return one point per iteration that all seeds have."""
    runs = [item["result"]["arms"].get(arm, {}).get("iterations", []) for item in files]
    size = min((len(run) for run in runs), default=0)
    scores = [[_percent(row["macro_f1"]) for row in run[:size]] for run in runs]
    return series(label, look, range(size), scores)


def _name(classifier: str, groups: Any) -> str:
    """Return the classifier, with the number of documents if they are a sample."""
    sample = next(
        (item["about"]["settings"].get("max_docs") for files in groups for item in files), None
    )
    return f"{classifier}, {sample} documents" if sample else classifier


def _look(protocol: str, classifier: str) -> str:
    known = CLASSIFIERS[protocol]
    return _LOOKS[known.index(classifier)] if classifier in known else _LOOKS[-1]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
